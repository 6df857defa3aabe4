import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { idsSql } from '../follower.ts';
import { dueSql } from '../sla.ts';
import { closeUnseen } from './change-status.ts';
import { updateShared } from './merged-values.ts';
import type { Resolution } from './resolution.ts';
import { countPlaces } from './write-places.ts';

/**
 * Lists findings that so far only pull requests or development branches had, and that a track that counts has now. Their time begins with it, and what the
 * other tracks say no longer matters, as if they had been scanned later, so severity, sources and deadline follow from what is left.
 */
export async function listFindings(tx: TenantTx, resolution: Resolution): Promise<void> {
  const { orgId, importId, sla } = resolution;
  const unlisted = sql`g.org_id = ${orgId} and g.import_id = ${importId} and g.counts and g.present and f.org_id = ${orgId} and f.id = g.finding_id and not f.listed and f.merged_into is null`;
  const { rows } = await sql<{ id: string }>`select distinct f.id from tenant_import_groups g, findings f where ${unlisted}`.execute(tx);
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  for (const table of ['occurrences', 'sightings'])
    await sql`
      delete from ${sql.table(table)} own where own.org_id = ${orgId} and own.finding_id = any(${ids}::uuid[])
        and own.track <> all(select counted.track from tenant_import_groups counted where counted.org_id = ${orgId} and counted.import_id = ${importId} and counted.finding_id = own.finding_id and counted.counts)`.execute(
      tx,
    );
  const listed = sql`f.org_id = ${orgId} and f.id = any(${ids}::uuid[])`;
  await sql`
    with counted as materialized (
      select s.finding_id, min(s.first_seen) as first_seen, max(s.last_seen) as last_seen from sightings s where s.org_id = ${orgId} and s.finding_id = any(${ids}::uuid[]) group by 1
    )
    update findings f set listed = true, first_seen = counted.first_seen, last_seen = counted.last_seen, clock_from = counted.first_seen
    from counted where ${listed} and counted.finding_id = f.id`.execute(tx);
  await updateShared(tx, resolution, idsSql(ids));
  await countPlaces(tx, orgId, idsSql(ids));
  await sql`update findings f set due_at = ${dueSql(sla, sql`f.clock_from`, sql`f.severity`, sql`f.kev`)} where ${listed}`.execute(tx);
  await closeUnseen(tx, resolution, idsSql(ids));
  await sql`update tenant_import_groups set outcome = 'created' where org_id = ${orgId} and import_id = ${importId} and finding_id = any(${ids}::uuid[])`.execute(
    tx,
  );
}
