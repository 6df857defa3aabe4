import { declareJob } from '../jobs/jobs.ts';

/** Captures the content behind a link through a ticketing connection. */
export const captureLink = declareJob<{ org_id: string; artifact_id: string }>('capture_link', { maxAttempts: 6, kind: 'io' });

export const sealPackageJob = declareJob<{ org_id: string; package_id: string }>('seal_package', { maxAttempts: 6 });

/** Records in the transparency log which packages are superseded. */
export const logSupersededJob = declareJob<{ org_id: string }>('log_superseded');

/** Erases stored bytes that nothing refers to. */
export const sweepJob = declareJob('sweep_orphans', { maxAttempts: 3 });
