import { declareJob } from '../jobs/jobs.ts';

/** Bytes that nothing needs any more, as far as who asked for it knows. */
export const eraseBytes = declareJob<{ sha256: string }>('erase_bytes', { maxAttempts: 10 });

export const sealPackage = declareJob<{ org_id: string; package_id: string }>('seal_package', { maxAttempts: 6 });
