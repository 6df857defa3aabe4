import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';

/**
 * A transaction that changes findings and one that links them must see each other's work. Otherwise each computes the status of the work
 * item from old data. To avoid deadlocks, take these locks in this order and after all locks on findings:
 * 1. The link lock: shared for transactions that changed findings, exclusive for those that link or unlink.
 * 2. The item lock: exclusive, for transactions that change the status of work items. Findings without a work item do not need it.
 */
export async function lockLinksShared(tx: TenantTx, orgId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(hashtextextended(${`work item links ${orgId}`}, 0))`.execute(tx);
}

export async function lockLinks(tx: TenantTx, orgId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`work item links ${orgId}`}, 0))`.execute(tx);
  await lockItems(tx, orgId);
}

export async function lockItems(tx: TenantTx, orgId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`work items ${orgId}`}, 0))`.execute(tx);
}
