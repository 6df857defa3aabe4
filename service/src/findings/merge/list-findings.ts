import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { dueSql } from '../sla.ts';
import { countsSql, updateShared } from './merged-values.ts';
import type { Resolution } from './resolution.ts';

/**
 * Lists findings that so far only pull requests or development branches had, and that a track that counts has now. Their time begins with it, and what the
 * other tracks say no longer matters, so severity, sources and deadline follow from what is left.
 */
export async function listFindings(tx: TenantTx, resolution: Resolution): Promise<void> {
  const { orgId, importId, sla } = resolution;
  const unlisted = sql`g.org_id = ${orgId} and g.import_id = ${importId} and g.counts and g.present and f.org_id = ${orgId} and f.id = g.finding_id and not f.listed and f.merged_into is null`;
  const { rows } = await sql<{ id: string }>`select distinct f.id from tenant_import_groups g, findings f where ${unlisted}`.execute(tx);
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  await sql`
    update sightings s set state = 'unknown', absence = null, absent_at = null from tenant_import_groups g
    where g.org_id = ${orgId} and g.import_id = ${importId} and g.counts and g.finding_id = any(${ids}::uuid[]) and s.org_id = ${orgId} and s.finding_id = g.finding_id
      and s.track <> all(select counted.track from tenant_import_groups counted where counted.org_id = ${orgId} and counted.import_id = ${importId} and counted.finding_id = g.finding_id and counted.counts)`.execute(
    tx,
  );
  const listed = sql`f.org_id = ${orgId} and f.id = any(${ids}::uuid[])`;
  await sql`
    with counted as materialized (
      select f.id, min(s.first_seen) as first_seen, max(s.last_seen) as last_seen
      from (select own.org_id, own.id, own.asset_id, true as listed from findings own) f
      join sightings s on s.org_id = ${orgId} and s.finding_id = f.id and ${countsSql(orgId)} where ${listed} group by f.id
    )
    update findings f set listed = true, first_seen = counted.first_seen, last_seen = counted.last_seen, clock_from = counted.first_seen
    from counted where ${listed} and counted.id = f.id`.execute(tx);
  await updateShared(tx, resolution, sql`select unnest(${ids}::uuid[])`);
  await sql`update findings f set due_at = ${dueSql(sla, sql`f.clock_from`, sql`f.severity`, sql`f.kev`)} where ${listed}`.execute(tx);
  await sql`update tenant_import_groups set outcome = 'created' where org_id = ${orgId} and import_id = ${importId} and finding_id = any(${ids}::uuid[])`.execute(
    tx,
  );
}
