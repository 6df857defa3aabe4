import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { isAmong } from '../../db/rows.ts';
import { placesSql } from '../decisions/places.ts';
import { idsSql } from '../follower.ts';
import { changedOutcomes } from './group-records.ts';
import type { Resolution } from './resolution.ts';
import { isLessAble } from './write-sightings.ts';

const changed = sql`${changedOutcomes as readonly string[]}`;
export const placeKey = (label: RawBuilder<unknown>) => sql`substring(sha256(convert_to(${label}, 'UTF8')) for 16)`;

/** Before a sighting gets another place than its only one, the old place is kept as an occurrence. */
export async function keepPlaces(tx: TenantTx, { orgId, importId, sourceId }: Resolution): Promise<void> {
  await sql`
    insert into occurrences (org_id, finding_id, source_id, track, place, label, location, state, first_seen, last_seen)
    select ${orgId}, s.finding_id, s.source_id, s.track, ${placeKey(sql`s.place`)}, s.place, coalesce(s.said->'location', f.location), 'present', s.first_seen, s.last_seen
    from tenant_import_groups g
    join sightings s on s.org_id = ${orgId} and s.finding_id = g.finding_id and s.source_id = ${sourceId} and s.track = g.track
    join findings f on f.org_id = ${orgId} and f.id = g.finding_id
    where g.org_id = ${orgId} and g.import_id = ${importId} and g.outcome in ('updated', 'returned') and s.place is not null and s.place is distinct from g.place
    on conflict do nothing`.execute(tx);
}

/** Writes the places of sightings that have or had several. A source that reports the finding again after it was gone no longer reports the others. */
export async function writePlaces(tx: TenantTx, { orgId, importId, sourceId }: Resolution): Promise<void> {
  const groups = sql`
    tenant_import_groups g join sightings s on s.org_id = ${orgId} and s.finding_id = g.finding_id and s.source_id = ${sourceId} and s.track = g.track
    where g.org_id = ${orgId} and g.import_id = ${importId} and g.present and g.outcome = any(${changed}) and s.place is null`;
  await sql`
    with several as (select g.finding_id, g.track, g.members, g.seen_at, g.outcome from ${groups}), named as (
      select several.finding_id, several.track, r.place_label as label, (array_agg(r.location order by r.severity desc, r.content))[1] as location,
        min(least(coalesce(r.first_seen, several.seen_at), several.seen_at)) as first_seen, max(several.seen_at) as seen_at
      from several
      join tenant_import_rows r on r.org_id = ${orgId} and r.import_id = ${importId} and r.n = any(several.members) and r.present
      group by 1, 2, 3
    ), gone as (
      update occurrences o set state = 'absent'
      where o.org_id = ${orgId} and o.finding_id = any(array(select finding_id from several)) and o.source_id = ${sourceId} and o.state = 'present'
        and ${isAmong(sql`(o.finding_id, o.track)`, sql`select finding_id, track from several where outcome = 'returned'`)}
        and not ${isAmong(sql`(o.finding_id, o.track, o.label)`, sql`select finding_id, track, label from named where label is not null`)}
    )
    insert into occurrences as o (org_id, finding_id, source_id, track, place, label, location, state, first_seen, last_seen)
    select ${orgId}, finding_id, ${sourceId}, track, ${placeKey(sql`label`)}, label, location, 'present', first_seen, seen_at from named
    on conflict (org_id, finding_id, source_id, track, place) do update set location = excluded.location, state = 'present',
      first_seen = least(o.first_seen, excluded.first_seen), last_seen = greatest(o.last_seen, excluded.last_seen)`.execute(tx);
}

/** Whether the tool may not have looked at the location of a finding `f`, for its sighting `s` and the run `run`. */
type IsUnlooked = (location: RawBuilder<unknown>) => RawBuilder<unknown>;

/**
 * Ends the places that a complete run does not show, unless it may not have looked there. If its report arrives late, these are the places that were last seen
 * before it, also of findings that only newer scans show. What another scan shows at the same time is there. When a place was last seen is written once a day. Call it after the run was recorded.
 * Returns the findings that have lost places.
 */
export async function endMissingPlaces(tx: TenantTx, { orgId, importId, sourceId }: Resolution, isUnlooked: IsUnlooked): Promise<string[]> {
  const ofFinding = (table: string) => sql`${sql.table(table)} own where own.org_id = ${orgId} and own.import_id = ${importId} and own.finding_id = f.id`;
  const isShown = sql`(exists (select from ${ofFinding('tenant_import_groups')} and own.track = run.track and own.present offset 0)
    or exists (select from ${ofFinding('tenant_import_seen')} and own.content = s.content offset 0))`;
  const showsPlace = sql`(exists (
      select from tenant_import_groups g join tenant_import_rows r on r.org_id = ${orgId} and r.import_id = ${importId} and r.n = any(g.members) and r.present
      where g.org_id = ${orgId} and g.import_id = ${importId} and g.finding_id = f.id and g.track = run.track and r.place_label = known.label offset 0)
    or (known.location = coalesce(s.said->'location', f.location) and exists (select from ${ofFinding('tenant_import_seen')} and own.content = s.content offset 0)))`;
  const { rows } = await sql<{ finding_id: string }>`
    with run as materialized (
      select run.*, coalesce(newest.seen_at > run.started_at, false) as is_late from run_assets run
      left join source_coverage newest on newest.org_id = ${orgId} and newest.source_id = ${sourceId} and newest.asset_id = run.asset_id and newest.track = run.track
      where run.org_id = ${orgId} and run.import_id = ${importId} and run.complete and run.accepted
    )
    update occurrences o set state = 'absent'
    from run
    cross join lateral (select own.id, own.location, own.rule from findings own where own.org_id = ${orgId} and own.asset_id = run.asset_id offset 0) f
    cross join lateral (
      select own.* from sightings own where own.org_id = ${orgId} and own.finding_id = f.id and own.source_id = ${sourceId} and own.track = run.track
        and own.state = 'present' and own.place is null offset 0) s
    cross join lateral (
      select known.place from occurrences known
      where known.org_id = ${orgId} and known.finding_id = f.id and known.source_id = ${sourceId} and known.track = run.track and known.state = 'present'
        and known.last_seen < case when run.is_late then date_trunc('day', run.started_at, 'UTC') else run.started_at end
        and (${isShown} or (run.is_late and not run.selective and ${isLessAble} is not true))
        and ${isUnlooked(sql`known.location`)} is not true and not ${showsPlace} offset 0) missing
    where o.org_id = ${orgId} and o.finding_id = f.id and o.source_id = ${sourceId} and o.track = run.track and o.place = missing.place
    returning o.finding_id`.execute(tx);
  const ids = [...new Set(rows.map(({ finding_id }) => finding_id))];
  if (ids.length > 0) await countPlaces(tx, orgId, idsSql(ids));
  return ids;
}

/** Counts the places of the findings that `ids` selects. */
export async function countPlaces(tx: TenantTx, orgId: string, ids: RawBuilder<unknown>): Promise<void> {
  await sql`
    with counted as materialized (
      select p.finding_id, greatest(1, count(distinct p.label) filter (where p.present))::int as count from ${placesSql(orgId)} p where p.finding_id = any(array(${ids})) group by 1
    )
    update findings f set place_count = counted.count from counted
    where f.org_id = ${orgId} and f.id = counted.finding_id and f.place_count <> counted.count`.execute(tx);
}
