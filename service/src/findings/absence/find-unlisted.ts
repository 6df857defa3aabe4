import { sql } from 'kysely';
import { retireUnlistedAssets } from '../../assets/recognize/retire-unlisted.ts';
import type { TenantTx } from '../../db/database.ts';
import { isAmong } from '../../db/rows.ts';
import { coverageOfSql, lastSeenSql } from '../merge/group-records.ts';
import type { Resolution } from '../merge/resolution.ts';
import type { Absence } from './absence.ts';

/** A report file is compared with an earlier one if it has at least this share of its assets. */
const SIMILAR = 0.5;

/** How long reports are compared with each other. */
const COMPARED_DAYS = 90;

type Listing = Pick<Absence, 'lists'>;

/** The tracks that the source has covered before this run, and that the run does not list. `at` is the time of the run. */
function unlistedSql({ orgId, importId, sourceId }: Resolution, { lists }: Listing) {
  const listsAsset = sql`select from run_assets own where own.org_id = ${orgId} and own.source_id = ${sourceId} and own.import_id = ${importId} and own.asset_id = c.asset_id`;
  // Found once for the run, and not for each asset.
  const comparable = sql`
    alike as materialized (
      select earlier.import_id from run_assets earlier
      where earlier.org_id = ${orgId} and earlier.source_id = ${sourceId} and earlier.import_id <> ${importId}
        and earlier.started_at > (select at from run) - make_interval(days => ${COMPARED_DAYS}) and (select assets from run) > 1
      group by 1 having count(distinct earlier.asset_id) > 1
        and count(distinct earlier.asset_id) filter (where earlier.asset_id in (select asset_id from listed)) >= ${SIMILAR}::float8 * count(distinct earlier.asset_id)
    ), comparable as materialized (
      select distinct own.asset_id from alike join run_assets own on own.org_id = ${orgId} and own.source_id = ${sourceId} and own.import_id = alike.import_id
    ),`;
  return sql`
    listed as materialized (
      select asset_id, started_at from run_assets where org_id = ${orgId} and import_id = ${importId}
    ), run as materialized (
      select min(started_at) as at, count(distinct asset_id) as assets from listed
    ), ${lists === 'all_assets' ? sql`` : comparable} unlisted as materialized (
      select c.asset_id, c.track, run.at, exists (${listsAsset} offset 0) as has_others, c.unlisted_at is not null and c.unlisted_at <> run.at as is_second
      from source_coverage c cross join run
      where c.org_id = ${orgId} and c.source_id = ${sourceId} and c.seen_at < run.at and c.gone_at is null
        and not exists (${listsAsset} and own.track = c.track offset 0)
        and ${lists === 'all_assets' ? sql`true` : isAmong(sql`c.asset_id`, sql`select asset_id from comparable`)}
    )`;
}

/**
 * Collects the findings on assets and tracks that two complete runs in a row do not list. This proves no fix: the source may have lost access. A run
 * that lists nothing at all says nothing.
 */
export async function findUnlisted(tx: TenantTx, resolution: Resolution, absence: Listing): Promise<void> {
  if (absence.lists === 'own_assets') return;
  const { orgId, importId, sourceId } = resolution;
  await sql`
    with ${unlistedSql(resolution, absence)}
    insert into import_closures (org_id, import_id, finding_id, track, absence, absent_at)
    select ${orgId}, ${importId}, s.finding_id, s.track, case when unlisted.has_others then 'track_ended' else 'asset_gone' end, unlisted.at
    from unlisted
    cross join lateral (select own.id from findings own where own.org_id = ${orgId} and own.asset_id = unlisted.asset_id offset 0) f
    cross join lateral (
      select own.* from sightings own where own.org_id = ${orgId} and own.finding_id = f.id and own.source_id = ${sourceId} and own.track = unlisted.track and own.state = 'present' offset 0) s
    cross join lateral ${coverageOfSql(resolution, { asset: sql`unlisted.asset_id`, track: sql`unlisted.track` })} c
    where unlisted.is_second and ${lastSeenSql} < unlisted.at
    on conflict do nothing`.execute(tx);
}

/** Records which tracks the run does not list, and retires the assets of which no source has anything any more. Call it once the closures are applied. */
export async function recordUnlisted(tx: TenantTx, resolution: Resolution, absence: Listing): Promise<void> {
  if (absence.lists === 'own_assets') return;
  const { orgId, importId, sourceId } = resolution;
  const { rows } = await sql<{ asset_id: string; gone_at: Date | null }>`
    with ${unlistedSql(resolution, absence)}
    update source_coverage c set unlisted_at = coalesce(c.unlisted_at, run.at), gone_at = case when c.unlisted_at <> run.at then run.at end
    from run where c.org_id = ${orgId} and c.source_id = ${sourceId} and ${isAmong(sql`(c.asset_id, c.track)`, sql`select asset_id, track from unlisted`)}
    returning c.asset_id, c.gone_at`.execute(tx);
  const ids = [...new Set(rows.flatMap(({ asset_id, gone_at }) => (gone_at === null ? [] : [asset_id])))];
  if (ids.length === 0) return;
  const { rows: unused } = await sql<{ id: string }>`
    select unused.id from unnest(${ids}::uuid[]) as unused (id)
    where not exists (
      select from source_coverage other join sources o on o.org_id = ${orgId} and o.id = other.source_id and o.retired_at is null
      where other.org_id = ${orgId} and other.asset_id = unused.id and other.gone_at is null)
    and not exists (
      select from findings f join sightings s on s.org_id = ${orgId} and s.finding_id = f.id and s.state = 'present' where f.org_id = ${orgId} and f.asset_id = unused.id)`.execute(
    tx,
  );
  const at = rows.reduce<Date | null>((latest, { gone_at }) => gone_at ?? latest, null);
  if (at)
    await retireUnlistedAssets(
      tx,
      { orgId, importId, at },
      unused.map(({ id }) => id),
    );
}
