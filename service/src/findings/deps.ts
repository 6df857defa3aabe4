import type { BlobStore } from '../blobs/blobs.ts';
import type { Database } from '../db/database.ts';
import type { FindingFollower } from './follower.ts';

export interface FindingDeps {
  db: Database;
  /** Signs cursors and seals kept answers. */
  secret: Buffer;
  blobs: BlobStore;
  follower: FindingFollower;
  /** Bytes of a report at the most. */
  reportLimit: number;
}
