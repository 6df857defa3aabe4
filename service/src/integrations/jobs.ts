import { declareJob } from '../jobs/jobs.ts';

/** One run of a connection. A vendor may keep it waiting for long, so it takes no place from other jobs. */
export const runSync = declareJob<{ org_id: string; run_id: string }>('run_sync', { maxAttempts: 10, kind: 'io' });
export const startDueSyncs = declareJob<Record<string, never>>('start_due_syncs', { maxAttempts: 1 });
