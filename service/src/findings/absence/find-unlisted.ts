import { type RawBuilder, sql } from 'kysely';
import { moveRetirement, retireUnlistedAssets, type Unlisted } from '../../assets/recognize/retire-unlisted.ts';
import type { TenantTx } from '../../db/database.ts';
import { anyRows, isAmong } from '../../db/rows.ts';
import { coverageOfSql, lastSeenSql } from '../merge/group-records.ts';
import type { Resolution } from '../merge/resolution.ts';
import type { Absence } from './absence.ts';
import { isLikeSql, leftOutSql } from './listings.ts';

type Listing = Pick<Absence, 'complete' | 'lists'>;

/**
 * Records when the run took place, if it lists the assets of its source: a report file about one asset does not, and neither does a run without any. Returns
 * whether the run, or a later one that arrived before it, can leave out tracks.
 */
export async function recordListing(tx: TenantTx, { orgId, importId, sourceId, listedAt }: Resolution, { complete, lists }: Listing): Promise<boolean> {
  const own = sql`run_assets own where own.org_id = ${orgId} and own.import_id = ${importId}`;
  if (complete && lists !== 'own_assets') {
    const { numAffectedRows = 0n } = await sql`
      update imports i set source_id = ${sourceId}, listed_at = run.at
      from (select min(own.started_at) as at from ${own} having count(distinct own.asset_id) > ${lists === 'all_assets' ? 0 : 1}) run
      where i.org_id = ${orgId} and i.id = ${importId}`.execute(tx);
    if (numAffectedRows > 0n) return true;
  }
  return listedAt !== null && (await anyRows(tx, sql`select from ${own} and own.started_at < ${listedAt}`));
}

/**
 * `unlisted`: the tracks for which it changes when two runs in a row left them out, and when those were, each with what was known before. They are those that
 * the run leaves out, and, if the run is late, those that it lists and later ones do not.
 */
function unlistedSql(resolution: Resolution, { lists }: Pick<Absence, 'lists'>): RawBuilder<unknown> {
  const { orgId, importId, sourceId, listedAt } = resolution;
  return sql`
    run as materialized (
      select listed_at as at from imports where org_id = ${orgId} and id = ${importId}
    ), left_out as materialized (
      select c.asset_id, c.track, c.unlisted_at, c.gone_at, run.at from source_coverage c cross join run
      where c.org_id = ${orgId} and c.source_id = ${sourceId} and c.seen_at < run.at and (c.gone_at is null or c.gone_at > run.at) and c.unlisted_at is distinct from run.at
        and not exists (
          select from run_assets own
          where own.org_id = ${orgId} and own.source_id = ${sourceId} and own.asset_id = c.asset_id and own.track = c.track and own.import_id = ${importId} offset 0)
        and ${lists === 'all_assets' ? sql`true` : isAmong(sql`c.asset_id`, isLikeSql(resolution))}
    ), late as materialized (
      select named.asset_id, named.track, greatest(named.started_at, c.seen_at) as seen_at, c.gone_at
      from run_assets named left join lateral ${coverageOfSql(resolution, { asset: sql`named.asset_id`, track: sql`named.track` })} c on true
      where named.org_id = ${orgId} and named.import_id = ${importId} and named.started_at < ${listedAt}::timestamptz
    ), left_out_later as materialized (
      ${leftOutSql(resolution, lists, sql`late`)}
    ), unlisted as materialized (
      select asset_id, track, gone_at as known_gone_at, least(unlisted_at, at) as unlisted_at,
        case when unlisted_at is not null then least(greatest(unlisted_at, at), gone_at) end as gone_at from left_out
      union all
      select asset_id, track, gone_at, times[1], times[2] from left_out_later
    )`;
}

/**
 * Collects the findings on assets and tracks that two runs in a row do not list, also those that the source only called fixed. This proves no fix: the source
 * may have lost access. A run that lists nothing at all says nothing.
 */
export async function findUnlisted(tx: TenantTx, resolution: Resolution, absence: Pick<Absence, 'lists'>): Promise<void> {
  const { orgId, importId, sourceId } = resolution;
  const listsAnother = sql`select from imports i join run_assets other on other.org_id = ${orgId} and other.source_id = ${sourceId} and other.asset_id = t.asset_id and other.import_id = i.id
    where i.org_id = ${orgId} and i.source_id = ${sourceId} and i.listed_at = t.gone_at`;
  await sql`
    with ${unlistedSql(resolution, absence)}
    insert into import_closures (org_id, import_id, finding_id, track, absence, absent_at)
    select ${orgId}, ${importId}, s.finding_id, s.track, case when t.has_others then 'track_ended' else 'asset_gone' end, t.gone_at
    from (select t.*, exists (${listsAnother} offset 0) as has_others from unlisted t where t.gone_at is not null) t
    cross join lateral (select own.id from findings own where own.org_id = ${orgId} and own.asset_id = t.asset_id offset 0) f
    cross join lateral (
      select own.* from sightings own where own.org_id = ${orgId} and own.finding_id = f.id and own.source_id = ${sourceId} and own.track = t.track
        and (own.state = 'present' or own.absence = 'declared' or (own.absence in ('asset_gone', 'track_ended') and own.absent_at = t.known_gone_at and t.gone_at < t.known_gone_at)) offset 0) s
    left join lateral ${coverageOfSql(resolution, { asset: sql`t.asset_id`, track: sql`t.track` })} c on true
    where ${lastSeenSql} < t.gone_at
    on conflict do nothing`.execute(tx);
}

/**
 * Records which tracks runs do not list, and retires the assets of which no source has anything any more. If they were not listed earlier than known, they
 * are retired as of then, unless a person has put them back in use. Call it once the closures are applied.
 */
export async function recordUnlisted(tx: TenantTx, resolution: Resolution, absence: Pick<Absence, 'lists'>): Promise<void> {
  const { orgId, importId, sourceId } = resolution;
  const { rows } = await sql<{ asset_id: string; gone_at: Date | null; known_gone_at: Date | null }>`
    with ${unlistedSql(resolution, absence)}
    update source_coverage c set unlisted_at = t.unlisted_at, gone_at = t.gone_at from unlisted t
    where c.org_id = ${orgId} and c.source_id = ${sourceId} and c.asset_id = t.asset_id and c.track = t.track and (c.unlisted_at, c.gone_at) is distinct from (t.unlisted_at, t.gone_at)
    returning c.asset_id, c.gone_at, t.known_gone_at`.execute(tx);
  const gone = rows.filter(({ gone_at }) => gone_at !== null);
  if (gone.length === 0) return;
  const { rows: unused } = await sql<Unlisted>`
    select c.asset_id as id, max(c.gone_at) as gone_at from source_coverage c
    left join sources o on o.org_id = ${orgId} and o.id = c.source_id
    where c.org_id = ${orgId} and ${isAmong(sql`c.asset_id`, sql`select unnest(${[...new Set(gone.map(({ asset_id }) => asset_id))]}::uuid[])`)}
      and not exists (
        select from findings f join sightings s on s.org_id = ${orgId} and s.finding_id = f.id and s.state = 'present' where f.org_id = ${orgId} and f.asset_id = c.asset_id)
    group by 1 having not bool_or(c.gone_at is null and o.retired_at is null)`.execute(tx);
  const knownOf = new Map(gone.map(({ asset_id, known_gone_at }) => [asset_id, known_gone_at]));
  const [moved, ended] = [unused.filter(({ id }) => knownOf.get(id)), unused.filter(({ id }) => !knownOf.get(id))];
  await moveRetirement(
    tx,
    orgId,
    moved.map(({ id, gone_at }) => ({ id, from: knownOf.get(id) ?? gone_at, to: gone_at })),
  );
  await retireUnlistedAssets(tx, { orgId, importId }, ended);
}
