import { declareJob } from '../jobs/jobs.ts';

export const runImport = declareJob<{ org_id: string; import_id: string }>('run_import', { maxAttempts: 5 });
export const expireAcceptances = declareJob<Record<string, never>>('expire_acceptances', { maxAttempts: 3 });

export const endIdleTracks = declareJob<Record<string, never>>('end_idle_tracks', { maxAttempts: 3 });

/** Queued when shared knowledge about vulnerabilities changes. */
export const rescoreFindings = declareJob<{ org_id: string }>('rescore_findings');
