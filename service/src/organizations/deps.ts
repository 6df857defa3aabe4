import type { Database, TenantTx } from '../db/database.ts';
import type { OrganizationUsage } from './schemas-usage.ts';

export interface OrganizationDeps {
  db: Database;
  /** Signs cursors and encrypts the responses that are stored for idempotency keys. */
  secret: Buffer;
  sessionHours: number;
  publicUrl: () => string;
  /** Asks all features what they store for the organization. */
  readUsage: (tx: TenantTx, orgId: string) => Promise<OrganizationUsage>;
}
