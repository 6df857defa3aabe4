import { sql } from 'kysely';
import type { TenantTx } from '../db/database.ts';
import { createQueues } from '../shared/one-at-a-time.ts';

/**
 * One import of an organization at a time, so that parallel imports give the same result as consecutive ones. Held until the transaction ends.
 * Events of other organizations do not wait for a transaction that has asked for it (docs/adr/0015).
 */
export async function takeImportLock(tx: TenantTx, orgId: string): Promise<void> {
  await sql`select take_import_lock(${orgId})`.execute(tx);
}

/** Imports of one process queue here, and only the first of them waits in the database, where waiting occupies a connection. */
export const queueImport = createQueues();
