import type { BlobStore } from '../blobs/blobs.ts';
import { reportIsStored } from '../findings/import/manage-imports.ts';
import { handle, type JobHandler } from '../jobs/jobs.ts';
import { bytesAreNeeded, lockBytes } from './artifacts/bytes.ts';
import { eraseBytes } from './jobs.ts';

/**
 * The store is one for all organizations: equal bytes are kept once, so they go only when nobody anywhere needs them.
 * It is the one place that waits for the store inside of a transaction: the lock must hold until the bytes are gone.
 */
export const eraseHandler = (blobs: BlobStore): JobHandler =>
  handle(eraseBytes, async ({ sha256 }, { db, log }) => {
    const erased = await db.withSystem(async (tx) => {
      await lockBytes(tx, sha256);
      if ((await bytesAreNeeded(tx, sha256)) || (await reportIsStored(tx, sha256))) return false;
      await blobs.delete(sha256);
      return true;
    });
    log.info({ sha256, erased }, 'bytes that were removed');
  });
