import { declareJob } from '../jobs/jobs.ts';

/** One run of a connection. It mostly waits for the vendor, so it is an `io` job and takes no worker slot from `cpu` jobs. */
export const runSync = declareJob<{ org_id: string; run_id: string }>('run_sync', { maxAttempts: 10, kind: 'io' });
export const startDueSyncs = declareJob<Record<string, never>>('start_due_syncs', { maxAttempts: 1 });
