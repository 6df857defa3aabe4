import type { BlobStore } from '../blobs/blobs.ts';
import type { Database } from '../db/database.ts';

export interface FindingDeps {
  db: Database;
  /** Signs cursors and seals kept answers. */
  secret: Buffer;
  blobs: BlobStore;
  /** Bytes of a report at the most. */
  reportLimit: number;
}
