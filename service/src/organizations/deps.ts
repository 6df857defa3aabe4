import type { Database } from '../db/database.ts';

export interface OrganizationDeps {
  db: Database;
  /** Signs cursors and seals kept answers. */
  secret: Buffer;
  sessionHours: number;
  publicUrl: () => string;
}
