import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { Resolution } from './resolution.ts';

/** Moves findings that the tool's own id found elsewhere. In two steps, because one finding may take the identity key that another leaves. */
export async function moveKnown(tx: TenantTx, { orgId, importId }: Resolution): Promise<void> {
  const inGroup = sql`tenant_import_groups g where g.org_id = ${orgId} and g.import_id = ${importId} and f.org_id = ${orgId} and f.id = g.finding_id and g.outcome in ('joined', 'returned', 'updated')
    and not exists (select from findings merged where merged.org_id = ${orgId} and merged.asset_id = f.asset_id and merged.weakness = g.weakness
      and merged.identity_key = g.identity_key and merged.merged_into = f.id)`;
  const { numAffectedRows = 0n } =
    await sql`update findings f set identity_key = uuid_send(f.id) from ${inGroup} and (f.weakness <> g.weakness or f.identity_key <> g.identity_key)`.execute(
      tx,
    );
  if (numAffectedRows === 0n) return;
  await sql`
    update findings f set weakness = g.weakness,
      component_key = (select r.component_key from tenant_import_rows r where r.org_id = ${orgId} and r.import_id = ${importId} and r.n = g.n), identity_key = case
      when exists (select from findings other where other.org_id = ${orgId} and other.asset_id = f.asset_id and other.weakness = g.weakness and other.identity_key = g.identity_key)
      then substring(sha256(convert_to(g.external_id, 'UTF8')) for 16) else g.identity_key end
    from ${inGroup} and f.identity_key = uuid_send(f.id)`.execute(tx);
}
