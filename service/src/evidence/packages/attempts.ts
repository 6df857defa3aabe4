import type { TenantTx } from '../../db/database.ts';

/** Another worker took this one for dead: it has the package now, or has finished it. */
export class Superseded extends Error {}

/**
 * Until the end of the transaction no other attempt begins, so that whatever is written in it is there when the next one looks.
 * Threat: a worker that slept too long adds a leaf to the log that the package, sealed by another, does not explain.
 */
export async function holdAttempt(tx: TenantTx, { org_id, id, attempts }: { org_id: string; id: string; attempts: number }): Promise<void> {
  const held = await tx
    .selectFrom('evidence_packages')
    .select('id')
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('status', '=', 'generating')
    .where('attempts', '=', attempts)
    .forUpdate()
    .executeTakeFirst();
  if (!held) throw new Superseded();
}
