import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';

/**
 * Who changes findings and who links them must not miss each other: each would take the item for what it was before the other.
 * Taken in this order and after every lock on findings, so that nobody waits in a circle:
 * - the gate: shared by those who changed findings, alone by those who link or unlink
 * - the roll-up: one at a time, by whoever changes the status of items; those whose findings are on no item do not come that far
 */
export async function shareGate(tx: TenantTx, orgId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(hashtextextended(${`work item links ${orgId}`}, 0))`.execute(tx);
}

export async function lockLinks(tx: TenantTx, orgId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`work item links ${orgId}`}, 0))`.execute(tx);
  await lockItems(tx, orgId);
}

export async function lockItems(tx: TenantTx, orgId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`work items ${orgId}`}, 0))`.execute(tx);
}
