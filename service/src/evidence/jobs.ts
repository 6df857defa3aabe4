import { declareJob } from '../jobs/jobs.ts';

/** Bytes that nothing needs any more, as far as who asked for it knows. */
export const eraseBytes = declareJob<{ sha256: string }>('erase_bytes', { maxAttempts: 10 });

/** What a link leads to, from whoever can read it. The vendor may keep it waiting. */
export const captureLink = declareJob<{ org_id: string; artifact_id: string }>('capture_link', { maxAttempts: 6, kind: 'io' });

export const sealPackage = declareJob<{ org_id: string; package_id: string }>('seal_package', { maxAttempts: 6 });
