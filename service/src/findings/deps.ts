import type { BlobStore } from '../blobs/blobs.ts';
import type { Database } from '../db/database.ts';
import type { Exports } from './export/exports.ts';
import type { FindingFollower } from './follower.ts';

export interface FindingDeps {
  db: Database;
  /** Signs cursors and encrypts the stored responses of idempotent requests. */
  secret: Buffer;
  blobs: BlobStore;
  exports: Exports;
  follower: FindingFollower;
  /** Maximum size of an uploaded report in bytes. */
  reportLimit: number;
}
