import { sql } from 'kysely';
import { reactivateListed } from '../../assets/reactivate.ts';
import { assetFacts, importedAssets } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { updateShared } from '../merge/merged-values.ts';
import type { Resolution } from '../merge/resolution.ts';
import { countPlaces } from '../merge/write-places.ts';
import type { Absence } from './absence.ts';
import { leftOutSql } from './listings.ts';

/**
 * A run lists assets that two runs of its source in a row had not, or, if it is late, not after it. What these were the last to leave out is as if it had
 * been listed all the time: whether it is still there follows from what the run shows. Returns the findings.
 */
export async function listAgain(tx: TenantTx, resolution: Resolution, { lists }: Pick<Absence, 'lists'>): Promise<string[]> {
  const { orgId, importId, sourceId, listedAt } = resolution;
  if (listedAt === null) return [];
  const { rows: tracks } = await sql<{ asset_id: string; track: number; gone_at: Date; is_retired: boolean }>`
    with named as materialized (
      select c.asset_id, c.track, c.gone_at, min(a.started_at) as seen_at
      from source_coverage c join ${importedAssets} a on a.org_id = ${orgId} and a.import_id = ${importId} and a.asset_id = c.asset_id and a.track = c.track
      where c.org_id = ${orgId} and c.source_id = ${sourceId} and c.gone_at is not null
      group by 1, 2, 3, c.seen_at having min(a.started_at) > c.seen_at
    ), left_out as materialized (${leftOutSql(resolution, lists, sql`named`)}), listed as materialized (
      select t.*, t.times[2] is null and exists (
        select from ${assetFacts} asset join source_coverage every on every.org_id = ${orgId} and every.asset_id = asset.id and every.gone_at = asset.retired_at
        where asset.org_id = ${orgId} and asset.id = t.asset_id) as is_retired
      from left_out t where t.times[2] is distinct from t.gone_at
    )
    update source_coverage c set unlisted_at = null, gone_at = null from listed
    where c.org_id = ${orgId} and c.source_id = ${sourceId} and c.asset_id = listed.asset_id and c.track = listed.track
    returning c.asset_id, c.track, listed.gone_at, listed.is_retired`.execute(tx);
  if (tracks.length === 0) return [];
  await reactivateListed(tx, resolution, [...new Set(tracks.flatMap(({ asset_id, is_retired }) => (is_retired ? [asset_id] : [])))]);
  const { rows } = await sql<{ finding_id: string }>`
    update sightings s set state = 'present', absence = null, absent_at = null, gaps = null
    from unnest(${tracks.map(({ asset_id }) => asset_id)}::uuid[], ${tracks.map(({ track }) => track)}::smallint[], ${tracks.map(({ gone_at }) => gone_at)}::timestamptz[]) as listed (asset_id, track, gone_at)
    join findings f on f.org_id = ${orgId} and f.asset_id = listed.asset_id
    where s.org_id = ${orgId} and s.finding_id = f.id and s.source_id = ${sourceId} and s.track = listed.track and s.absence in ('asset_gone', 'track_ended') and s.absent_at = listed.gone_at
    returning s.finding_id`.execute(tx);
  const ids = [...new Set(rows.map(({ finding_id }) => finding_id))];
  if (ids.length === 0) return [];
  const shared = sql`select s.finding_id from sightings s where s.org_id = ${orgId} and s.finding_id = any(${ids}::uuid[]) group by 1 having count(*) > 1`;
  await updateShared(tx, resolution, shared);
  await countPlaces(tx, orgId, shared);
  return ids;
}

/** Puts assets of the run back in use that were retired because their sources left them out, if another source has them, also if it last looked earlier. */
export async function keepInUse(tx: TenantTx, { orgId, importId }: Resolution): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select asset.id from ${assetFacts} asset
    where asset.org_id = ${orgId} and asset.retired_at is not null
      and asset.id in (select a.asset_id from ${importedAssets} a where a.org_id = ${orgId} and a.import_id = ${importId})
      and exists (select from source_coverage gone where gone.org_id = ${orgId} and gone.asset_id = asset.id and gone.gone_at = asset.retired_at)
      and exists (
        select from source_coverage c join sources o on o.org_id = ${orgId} and o.id = c.source_id and o.retired_at is null
        where c.org_id = ${orgId} and c.asset_id = asset.id and c.gone_at is null)`.execute(tx);
  if (rows.length > 0)
    await reactivateListed(
      tx,
      { orgId, importId },
      rows.map(({ id }) => id),
    );
}
