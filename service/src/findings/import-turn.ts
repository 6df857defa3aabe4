import { sql } from 'kysely';
import type { TenantTx } from '../db/database.ts';

/** What is imported into one organization goes in one after the other: two imports at once give the same as one after the other. */
export async function takeTurn(tx: TenantTx, orgId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`import ${orgId}`}, 0))`.execute(tx);
}
