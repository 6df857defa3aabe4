import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { PackageRow } from './packages.ts';

/** Another worker has taken over the package or finished it. */
export class LeaseLost extends Error {}

/** Starts an attempt to seal the package. Its number identifies the lease. Returns `null` if the package is already finished. */
export async function acquireLease(tx: TenantTx, orgId: string, id: string): Promise<PackageRow | null> {
  const row = await tx
    .updateTable('evidence_packages')
    .set({ attempts: sql<number>`attempts + 1` })
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .where('status', '=', 'generating')
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

/**
 * Fails if the lease was lost, and otherwise keeps other workers from acquiring it until the end of the transaction.
 * Threat: a worker that was suspended too long could append a log entry that the package, sealed by another worker, does not list.
 */
export async function confirmLease(tx: TenantTx, { org_id, id, attempts }: Pick<PackageRow, 'org_id' | 'id' | 'attempts'>): Promise<void> {
  const row = await tx
    .selectFrom('evidence_packages')
    .select('id')
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('status', '=', 'generating')
    .where('attempts', '=', attempts)
    .forUpdate()
    .executeTakeFirst();
  if (!row) throw new LeaseLost();
}
