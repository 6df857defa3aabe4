import type { BlobStore } from '../blobs/blobs.ts';
import type { Database } from '../db/database.ts';
import type { Previews } from './preview/previews.ts';

export interface EvidenceDeps {
  db: Database;
  /** Signs cursors and encrypts the stored responses of idempotent requests. */
  secret: Buffer;
  blobs: BlobStore;
  /** Maximum size of an artifact in bytes. */
  artifactLimit: number;
  /** Maximum size in bytes of a package that is uploaded for verification. */
  reportLimit: number;
  /** Base URL under which clients reach the service. */
  publicUrl: () => string;
  previews: Pick<Previews, 'preview'>;
  /** Certificates of the time-stamping authorities in PEM. Null if none is configured. */
  timestampCertificates: string | null;
  /** Whether packages are time-stamped. */
  timestamped: boolean;
  /** Folder of the keys that sign evidence. */
  keysDir: string;
}
