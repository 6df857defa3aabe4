import type { Database } from '../db/database.ts';

export interface OrganizationDeps {
  db: Database;
  /** Signs cursors and encrypts the responses that are stored for idempotency keys. */
  secret: Buffer;
  sessionHours: number;
  publicUrl: () => string;
}
