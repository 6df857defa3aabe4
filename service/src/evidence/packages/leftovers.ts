import type { BlobStore } from '../../blobs/blobs.ts';
import type { Database } from '../../db/database.ts';
import { enqueue } from '../../jobs/jobs.ts';
import { eraseBytes } from '../jobs.ts';

/** No attempt takes as long. */
const A_DAY = 24 * 60 * 60 * 1000;

/**
 * The store as an attempt to seal writes to it. Its bytes are due to be erased before anybody can see them, so that also an attempt that dies leaves
 * none behind for ever. The job spares what anything has by then, a published package above all. Whoever writes the same bytes again puts it off.
 */
export function erasedUnlessPublished(blobs: BlobStore, db: Database, orgId: string): BlobStore {
  const dueLater = ({ sha256 }: { sha256: string }): Promise<void> =>
    db.withTenant({ orgId }, (tx) => enqueue(tx, eraseBytes, { sha256 }, { runAt: new Date(Date.now() + A_DAY), key: `leftover ${sha256}` }));
  return { ...blobs, put: (content, options) => blobs.put(content, { ...options, onNamed: dueLater }) };
}
