import type { Database, TenantTx } from '../db/database.ts';
import type { OrganizationUsage } from './schemas-usage.ts';
import type { CodeFlow } from './sign-in/code-flow.ts';

/** What the service tells everybody about itself. */
export interface PublicFacts {
  version: string;
  limits: { body_bytes: number; report_bytes: number; artifact_bytes: number };
  /** Host name of the identity provider at which people can sign in. */
  identityProvider: string | null;
}

export interface OrganizationDeps {
  db: Database;
  /** Signs cursors and encrypts the responses that are stored for idempotency keys. */
  secret: Buffer;
  sessionHours: number;
  publicUrl: () => string;
  facts: PublicFacts;
  /** Null if people cannot sign in at an identity provider. */
  codeFlow: CodeFlow | null;
  /** Asks all features what they store for the organization. */
  readUsage: (tx: TenantTx, orgId: string) => Promise<OrganizationUsage>;
}
