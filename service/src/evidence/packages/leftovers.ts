import type { BlobStore } from '../../blobs/blobs.ts';
import { eraseBytes } from '../../blobs/erase.ts';
import type { Database } from '../../db/database.ts';
import { enqueue } from '../../jobs/jobs.ts';

/** Longer than any attempt takes. */
const ERASE_AFTER_MS = 24 * 60 * 60 * 1000;

/**
 * A blob store for sealing. Every write first schedules the erasure of the written bytes, so that an attempt that crashes leaves nothing behind.
 * The job skips bytes that something refers to by then, such as a published package. Writing the same bytes again postpones the job.
 */
export function eraseUnlessPublished(blobs: BlobStore, db: Database, orgId: string): BlobStore {
  const scheduleErasure = ({ sha256 }: { sha256: string }): Promise<void> =>
    db.withTenant({ orgId }, (tx) => enqueue(tx, eraseBytes, { sha256 }, { runAt: new Date(Date.now() + ERASE_AFTER_MS), key: `leftover ${sha256}` }));
  return { ...blobs, put: (content, options) => blobs.put(content, { ...options, onNamed: scheduleErasure }) };
}
