import { type RawBuilder, sql } from 'kysely';
import type { Resolution } from '../merge/resolution.ts';
import type { Absence } from './absence.ts';

/** A report file is compared with an earlier one if it has at least this share of its assets. */
const SIMILAR = 0.5;

/** How long reports are compared with each other. */
const COMPARED_DAYS = 90;

/** Rows of `listed_at` and `earlier_id`: when each run of `later` was, with the runs before it that have mostly the same assets. */
function alikeSql({ orgId, sourceId }: Resolution, later: RawBuilder<unknown>): RawBuilder<unknown> {
  const assetsOf = (id: RawBuilder<unknown>) => sql`select distinct run.asset_id from run_assets run where run.org_id = ${orgId} and run.import_id = ${id}`;
  const count = (assets: RawBuilder<unknown>) => sql`(select count(*) from (${assets}) counted)`;
  return sql`
    select later.listed_at, earlier.id as earlier_id
    from (${later}) later
    join imports earlier on earlier.org_id = ${orgId} and earlier.source_id = ${sourceId} and earlier.id <> later.id
      and earlier.listed_at > later.listed_at - make_interval(days => ${COMPARED_DAYS}) and earlier.listed_at <= later.listed_at
    where ${count(sql`${assetsOf(sql`later.id`)} intersect ${assetsOf(sql`earlier.id`)}`)} >= ${SIMILAR}::float8 * ${count(assetsOf(sql`earlier.id`))} offset 0`;
}

/** The assets of earlier reports that have mostly the same assets as this one. */
export function isLikeSql(resolution: Resolution): RawBuilder<unknown> {
  const { orgId, importId } = resolution;
  const own = sql`select i.id, i.listed_at from imports i where i.org_id = ${orgId} and i.id = ${importId} and i.listed_at is not null`;
  return sql`select run.asset_id from (${alikeSql(resolution, own)}) alike join run_assets run on run.org_id = ${orgId} and run.import_id = alike.earlier_id`;
}

/**
 * The rows of `tracks`, a relation with the columns `asset_id`, `track` and `seen_at`, each with the `times` of the first two runs that list the assets of the
 * source, and took place after the track was seen last: so they leave it out.
 */
export function leftOutSql(resolution: Resolution, lists: Absence['lists'], tracks: RawBuilder<unknown>): RawBuilder<unknown> {
  const { orgId, importId, sourceId } = resolution;
  const listing = sql`i.org_id = ${orgId} and i.source_id = ${sourceId} and (i.status = 'succeeded' or i.id = ${importId})`;
  if (lists === 'all_assets')
    return sql`
      select t.*, array(select distinct i.listed_at from imports i where ${listing} and i.listed_at > t.seen_at order by 1 limit 2) as times from ${tracks} t`;
  const later = sql`select i.id, i.listed_at from imports i where ${listing} and i.listed_at > (select min(seen_at) from ${tracks})`;
  return sql`
    with alike as materialized (${alikeSql(resolution, later)})
    select t.*, array(
      select distinct alike.listed_at from alike
      join run_assets run on run.org_id = ${orgId} and run.source_id = ${sourceId} and run.import_id = alike.earlier_id and run.asset_id = t.asset_id
      where alike.listed_at > t.seen_at order by 1 limit 2) as times
    from ${tracks} t`;
}
