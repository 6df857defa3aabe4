import type { LookedFor } from '@rrs/scan-reports';
import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { idsSql } from '../follower.ts';
import { lastSeenSql } from './group-records.ts';
import type { Resolution } from './resolution.ts';
import { kindsSql, looksAtPlaceSql } from './run-lists.ts';
import { countPlaces, placeKey } from './write-places.ts';

/** A group of at least this size that is empty in a run with other findings was probably left out by an option of the tool. */
export const NARROW = 10;

/** Kinds of findings that such a group is of. Others are left out by options that a report shows, or are smaller groups of these. */
export const SEPARATE: readonly LookedFor[] = ['system_packages', 'libraries', 'files', 'without_fix'];

/** The lowest severity that a run reports. Tools that know no severities leave out none above medium. */
export function lowestSql(severity: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`coalesce(min(nullif(${severity}, 0)), 4)`;
}

/**
 * A report that arrives late can show findings that a newer scan does not. In the order of the scans, it would have been noticed if that one had left out
 * all findings of one kind, or all below a severity. They stay open, and so do many that a scan without any finding did not show.
 */
export async function leaveNarrowerOpen(tx: TenantTx, { orgId, importId, sourceId }: Resolution): Promise<void> {
  const ofRun = sql`using (asset_id, track, absent_at)`;
  await sql`
    with late as materialized (
      select g.n, g.asset_id, g.track, g.absent_at, g.weakness, r.severity, ${kindsSql('r', sql`r.severity`)} as kinds
      from tenant_import_groups g join tenant_import_rows r on r.org_id = ${orgId} and r.import_id = ${importId} and r.n = g.n
      where g.org_id = ${orgId} and g.import_id = ${importId} and g.absent_at is not null and g.outcome in ('created', 'joined')
    ), later as materialized (
      select run.asset_id, run.track, run.absent_at, max(scan.ended_at) as ended_at, (array_agg(scan.import_id order by scan.import_id))[1] as import_id,
        coalesce(array_agg(looked) filter (where looked is not null), '{}') as looked_for
      from (select asset_id, track, absent_at from late group by 1, 2, 3) run
      join run_assets scan on scan.org_id = ${orgId} and scan.source_id = ${sourceId} and scan.asset_id = run.asset_id and scan.track = run.track and scan.complete and scan.accepted
        and scan.started_at = run.absent_at
      join imports i on i.org_id = ${orgId} and i.id = scan.import_id left join lateral jsonb_array_elements_text(i.run->'looked_for') as looked on true
      group by 1, 2, 3
    ), reported as materialized (
      select later.asset_id, later.track, later.absent_at, array_agg(distinct kind) as kinds, ${lowestSql(sql`f.source_severity`)} as lowest
      from later join findings f on f.org_id = ${orgId} and f.asset_id = later.asset_id
      join sightings s on s.org_id = ${orgId} and s.finding_id = f.id and s.source_id = ${sourceId} and s.track = later.track
      left join source_coverage c on c.org_id = ${orgId} and c.source_id = ${sourceId} and c.asset_id = later.asset_id and c.track = later.track
      cross join lateral unnest(${kindsSql('f', sql`f.source_severity`)}) as kind
      where s.first_seen <= later.ended_at and ${lastSeenSql} >= later.absent_at group by 1, 2, 3
    ), empty as materialized (
      select late.asset_id, late.track, late.absent_at, kind, later.looked_for, min(reported.lowest) as lowest
      from late join reported ${ofRun} join later ${ofRun} cross join lateral unnest(late.kinds) as kind
      where kind = any(${SEPARATE as string[]}) and array_position(reported.kinds, kind) is null group by 1, 2, 3, 4, 5 having count(*) >= ${NARROW}
    ), below as materialized (
      select late.asset_id, late.track, late.absent_at, min(reported.lowest) as lowest from late join reported ${ofRun} join later ${ofRun}
      where late.severity between 1 and reported.lowest - 1 and 'up_to_medium' <> all(later.looked_for) group by 1, 2, 3 having count(*) >= ${NARROW}
    ), other_run as materialized (
      select later.import_id from late join later ${ofRun} where 'up_to_medium' <> all(later.looked_for) group by 1 having count(distinct late.weakness) >= ${NARROW}
    ), lowest_of_run as materialized (
      select scan.import_id, ${lowestSql(sql`f.source_severity`)} as lowest
      from other_run join run_assets scan on scan.org_id = ${orgId} and scan.source_id = ${sourceId} and scan.import_id = other_run.import_id
      join findings f on f.org_id = ${orgId} and f.asset_id = scan.asset_id
      join sightings s on s.org_id = ${orgId} and s.finding_id = f.id and s.source_id = ${sourceId} and s.track = scan.track
      left join source_coverage c on c.org_id = ${orgId} and c.source_id = ${sourceId} and c.asset_id = scan.asset_id and c.track = scan.track
      where s.first_seen <= scan.ended_at and ${lastSeenSql} >= scan.started_at group by 1
    ), below_all as materialized (
      select later.import_id, lowest_of_run.lowest from late join later ${ofRun} join lowest_of_run using (import_id)
      where late.severity between 1 and lowest_of_run.lowest - 1 group by 1, 2 having count(distinct late.weakness) >= ${NARROW}
    ), left_open as materialized (
      select late.n from late join empty ${ofRun} where empty.kind = any(late.kinds)
        and (empty.kind <> all(empty.looked_for) or ('up_to_medium' <> all(empty.looked_for) and late.severity < empty.lowest))
      union
      select late.n from late join below ${ofRun} where late.severity between 1 and below.lowest - 1
      union
      select late.n from late join later ${ofRun} join below_all using (import_id) where late.severity between 1 and below_all.lowest - 1
      union
      select unnest(array_agg(late.n)) from late left join reported ${ofRun} where reported.asset_id is null group by late.asset_id, late.track, late.absent_at having count(*) >= ${NARROW}
    )
    update tenant_import_groups g set absent_at = null from left_open where g.org_id = ${orgId} and g.import_id = ${importId} and g.n = left_open.n`.execute(
    tx,
  );
}

/** Keeps places that only an older report shows. They are gone if a complete scan that looked there has been made since. Returns the findings. */
export async function keepLatePlaces(tx: TenantTx, resolution: Resolution): Promise<string[]> {
  const { orgId, importId, sourceId } = resolution;
  const { rows } = await sql<{ finding_id: string }>`
    with late as materialized (
      select g.finding_id, g.track, g.members, g.seen_at, s.place, s.first_seen, s.last_seen, coalesce(s.said->'location', f.location) as location,
        g.asset_id, s.state, c.complete_at > g.seen_at as has_later
      from tenant_import_groups g
      join sightings s on s.org_id = ${orgId} and s.finding_id = g.finding_id and s.source_id = ${sourceId} and s.track = g.track
      join findings f on f.org_id = ${orgId} and f.id = g.finding_id
      left join source_coverage c on c.org_id = ${orgId} and c.source_id = ${sourceId} and c.asset_id = g.asset_id and c.track = g.track
      where g.org_id = ${orgId} and g.import_id = ${importId} and g.outcome = 'unchanged' and g.present and (g.place is null or g.place is distinct from s.place)
    ), named as materialized (
      select late.finding_id, late.track, r.place_label as label, case when late.state = 'absent' or bool_and(late.has_later and exists (
          select from run_assets later
          where later.org_id = ${orgId} and later.source_id = ${sourceId} and later.asset_id = late.asset_id and later.track = late.track and later.complete and later.accepted
            and later.started_at > late.seen_at and ${looksAtPlaceSql(resolution, sql`later.import_id`)})) then 'absent' else 'present' end as state, (array_agg(r.location order by r.severity desc, r.content))[1] as location,
        min(least(coalesce(r.first_seen, late.seen_at), late.seen_at)) as first_seen, max(late.seen_at) as last_seen
      from late join tenant_import_rows r on r.org_id = ${orgId} and r.import_id = ${importId} and r.n = any(late.members) and r.present and r.place_label is distinct from late.place
      group by 1, 2, 3, late.state
    ), single as materialized (
      select late.* from late where late.place is not null and exists (select from named where named.finding_id = late.finding_id and named.track = late.track)
    ), several as (
      update sightings s set place = null from single where s.org_id = ${orgId} and s.finding_id = single.finding_id and s.source_id = ${sourceId} and s.track = single.track
    )
    insert into occurrences as o (org_id, finding_id, source_id, track, place, label, location, state, first_seen, last_seen)
    select ${orgId}::uuid, finding_id, ${sourceId}::uuid, track, ${placeKey(sql`label`)}, label, location, state, first_seen, last_seen from named
    union all
    select ${orgId}::uuid, finding_id, ${sourceId}::uuid, track, ${placeKey(sql`place`)}, place, location, 'present', first_seen, last_seen from single
    on conflict (org_id, finding_id, source_id, track, place) do update set first_seen = least(o.first_seen, excluded.first_seen), last_seen = greatest(o.last_seen, excluded.last_seen),
      state = case when o.state = 'absent' and excluded.last_seen > o.last_seen then excluded.state else o.state end
    where excluded.last_seen > o.last_seen or excluded.first_seen < o.first_seen
    returning finding_id`.execute(tx);
  const ids = [...new Set(rows.map(({ finding_id }) => finding_id))];
  if (ids.length > 0) await countPlaces(tx, orgId, idsSql(ids));
  return ids;
}
