import type { BlobStore } from '../blobs/blobs.ts';
import type { Database } from '../db/database.ts';

export interface EvidenceDeps {
  db: Database;
  /** Signs cursors and seals kept answers. */
  secret: Buffer;
  blobs: BlobStore;
  /** Bytes of an artifact at the most. */
  artifactLimit: number;
  /** Bytes of a package that is sent here to be verified, at the most. */
  reportLimit: number;
  /** Where callers reach us. */
  publicUrl: () => string;
  /** PEM: certificates of the time-stamping authorities; null: none is configured. */
  timestampCertificates: string | null;
}
