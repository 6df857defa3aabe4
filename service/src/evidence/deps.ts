import type { BlobStore } from '../blobs/blobs.ts';
import type { Database } from '../db/database.ts';

export interface EvidenceDeps {
  db: Database;
  /** Signs cursors and seals kept answers. */
  secret: Buffer;
  blobs: BlobStore;
  /** Bytes of an artifact at the most. */
  artifactLimit: number;
  /** PEM: certificates of the time-stamping authorities; null: none is configured. */
  timestampCertificates: string | null;
}
