import { type RawBuilder, sql } from 'kysely';
import { importedAssets } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { foldedColumns } from '../fields/derive.ts';
import { dueSql, movedDueSql } from '../sla.ts';
import { changedOutcomes, type Groups, lastSeenSql } from './group-records.ts';
import { rankSql, saidByFindingSql, saidByRecord } from './merged-values.ts';
import type { Resolution } from './resolution.ts';
import { isInShorterListSql, isWholeStated, kindsSql, listsComponentSql, sameBuildAtSql, wasShownAtSql } from './run-lists.ts';

const changed = sql`${changedOutcomes as readonly string[]}`;

/**
 * The times at which complete scans did not show what the sighting `s` is about, after a report has shown it. None did between the report, if it is the first
 * one, and the scan that was the first before. Neither did those between the scan that no longer showed the finding, and the report that shows it again. When
 * a report that comes later shows it in between, the scan of that time did.
 */
function withUnseen({ first, again }: Record<'first' | 'again', RawBuilder<unknown>>): RawBuilder<unknown> {
  const earlier = sql`case when ${first} < s.first_seen then tstzmultirange(tstzrange(${first}, s.first_seen, '()')) end`;
  const between = sql`case when s.state = 'absent' and s.absent_at < ${again} then tstzmultirange(tstzrange(s.absent_at, ${again})) end`;
  return sql`nullif(coalesce(s.unseen, '{}') + coalesce(${earlier}, '{}') + coalesce(${between}, '{}') - tstzmultirange(tstzrange(${again}, ${again}, '[]')), '{}')`;
}

const isSameAbsence = sql`s.absent_at = excluded.absent_at`;

/** For sightings that are known. Without it, PostgreSQL writes new ones faster. */
const overKnown = sql`
    on conflict (org_id, finding_id, source_id, track) do update set
      external_id = excluded.external_id, state = excluded.state, absent_at = excluded.absent_at,
      absence = case when ${isSameAbsence} then s.absence else excluded.absence end,
      gaps = case when ${isSameAbsence} then s.gaps end,
      severity = excluded.severity, peak_severity = greatest(s.peak_severity, excluded.severity), tool_severity = excluded.tool_severity, suppressed = excluded.suppressed, content = excluded.content, said = excluded.said,
      first_seen = least(s.first_seen, excluded.first_seen), last_seen = greatest(s.last_seen, excluded.last_seen),
      unseen = ${withUnseen({ first: sql`excluded.first_seen`, again: sql`excluded.last_seen` })},
      bar_credentialed = case when s.state = 'present' then s.bar_credentialed and excluded.bar_credentialed else excluded.bar_credentialed end,
      bar_knowledge_at = case when s.state = 'present' then least(s.bar_knowledge_at, excluded.bar_knowledge_at) else excluded.bar_knowledge_at end,
      place = case when s.place = excluded.place then excluded.place end, missed_at = excluded.missed_at, missed_because = null, missed_import_id = excluded.missed_import_id, last_import_id = case when ${isSameAbsence} then s.last_import_id else excluded.last_import_id end, seen_import_id = excluded.seen_import_id,
      records = case s.state when 'present' then greatest(s.records, excluded.records) else excluded.records end`;

/** Writes what the source says about the findings of this import. Call it before the columns of known findings change. */
export async function writeSightings(tx: TenantTx, resolution: Resolution, { joined, updated }: Groups): Promise<void> {
  if (joined) await keepSaid(tx, resolution);
  const { orgId, importId, sourceId } = resolution;
  await sql`
    with run as materialized (select * from ${runsSql(resolution)} runs)
    insert into sightings as s (org_id, finding_id, source_id, track, external_id, state, absence, absent_at, severity, peak_severity, tool_severity, suppressed, content, said,
      first_seen, last_seen, bar_credentialed, bar_knowledge_at, place, missed_at, missed_import_id, last_import_id, seen_import_id, records)
    select ${orgId}, g.finding_id, ${sourceId}, g.track, g.external_id, case when g.absent_at is null then 'present' else 'absent' end,
      case when g.absent_at is not null then 'gone' end, g.absent_at, r.severity, r.severity, r.tool_severity, r.suppressed, g.content,
      case when g.is_shared or r.named is not null then ${saidByRecord} end, least(coalesce(r.first_seen, g.seen_at), g.seen_at), g.seen_at, run.credentialed, run.knowledge_at, g.place,
      later.complete_at, later.complete_import_id, coalesce(newer.import_id, ${importId}), ${importId}, least(g.rows, 32767)
    from tenant_import_groups g
    join tenant_import_rows r on r.org_id = ${orgId} and r.import_id = ${importId} and r.n = g.n
    join run on run.asset_id = g.asset_id and run.track = g.track
    -- A newer complete scan did not show the finding, although it could not have proven anything.
    left join source_coverage later on later.org_id = ${orgId} and later.source_id = ${sourceId} and later.asset_id = g.asset_id and later.track = g.track
      and later.complete_at > g.seen_at and g.absent_at is null
    -- A newer scan shows that the finding is gone.
    left join lateral (
      select run.import_id from run_assets run
      where g.absent_at is not null and run.org_id = ${orgId} and run.source_id = ${sourceId} and run.asset_id = g.asset_id and run.track = g.track
        and run.started_at = g.absent_at and run.complete and run.accepted order by run.import_id limit 1
    ) newer on true
    where g.org_id = ${orgId} and g.import_id = ${importId} and g.outcome = any(${changed})
    ${updated ? overKnown : sql``}`.execute(tx);
}

/** What the run `later` of the import `i` does not state about the finding `f`. See `gapsOf` for runs that come in order. */
const lateGaps = (resolution: Resolution) => sql`array_remove(array[
  case when later.identity_weak then 'identity_weak' end,
  case when (i.run->'unstated'->>'time')::boolean then 'time_unstated' end,
  case when later.credentialed is null and f.asset_type = 'host' then 'credentials_unstated' end,
  case when later.knowledge_at is null and cardinality(f.vulnerability_ids) > 0 then 'knowledge_unstated' end,
  case when (i.run->'unstated'->>'checks')::boolean and f.rule is not null and cardinality(f.vulnerability_ids) = 0 then 'checks_unstated' end,
  case when ${kindsSql('f', sql`f.source_severity`)} && array(select jsonb_array_elements_text(i.run->'unstated'->'search')) or (r.suppressed and i.run->'unstated'->'search' ? 'suppressed') then 'search_unstated' end,
  case when ${isWholeStated} and f.asset_type = 'repository' and (${isInShorterListSql(resolution, sql`later.import_id`)} or (f.component is not null and not exists (
    select from jsonb_array_elements_text(i.run->'unstated'->'whole') as file
    where file = f.location->>'path' or right(file, length(f.location->>'path') + 1) = '/' || (f.location->>'path')))) then 'part_unstated' end], null)`;

/**
 * A report that arrives late shows what a newer scan did not. That scan proves a fix only if it would have done so had the reports come in order: not if it
 * scanned the same build, or reports the component in the same version as the last scan that showed it. What that scan does not state is kept as well.
 */
export async function judgeLate(tx: TenantTx, resolution: Resolution): Promise<void> {
  const { orgId, importId, sourceId } = resolution;
  await sql`
    with late as materialized (
      select g.finding_id, g.track, g.outcome, g.seen_at, f.asset_id, lower(f.component) as component, coalesce(r.location->>'version', f.location->>'version') as version, later.ended_at, later.import_id, ${lateGaps(resolution)} as gaps,
        later.build_ids && (select array_agg(id) from ${importedAssets} own cross join lateral unnest(own.build_ids) as id
          where own.org_id = ${orgId} and own.import_id = ${importId} and own.asset_id = g.asset_id and own.track = g.track) as is_same_build,
        ${sameBuildAtSql({ orgId, sourceId }, 'later')} as same_build_at
      from tenant_import_groups g
      join findings f on f.org_id = ${orgId} and f.id = g.finding_id
      join tenant_import_rows r on r.org_id = ${orgId} and r.import_id = ${importId} and r.n = g.n
      join sightings s on s.org_id = ${orgId} and s.finding_id = g.finding_id and s.source_id = ${sourceId} and s.track = g.track
      -- The first scan that did not show the finding, which can have arrived after the one that closed it.
      cross join lateral (
        select run.* from run_assets run
        where run.org_id = ${orgId} and run.source_id = ${sourceId} and run.asset_id = g.asset_id and run.track = g.track and run.complete and run.accepted
          and (run.started_at = g.absent_at or (run.started_at < g.absent_at and s.unseen @> run.ended_at and run.started_at > greatest(s.last_seen, g.seen_at)))
        order by run.started_at, run.import_id limit 1 offset 0) later
      -- After the other joins, whatever the statistics say.
      cross join lateral (select run from imports where org_id = ${orgId} and id = later.import_id offset 0) i
      where g.org_id = ${orgId} and g.import_id = ${importId} and g.absent_at is not null and (g.outcome = any(${changed}) or g.outcome = 'unchanged')
    ), reported as materialized (
      select f.asset_id, s.track, lower(f.component) as component, coalesce(s.said->'location'->>'version', f.location->>'version') as version, s.first_seen, ${lastSeenSql} as last_seen
      from findings f
      join sightings s on s.org_id = ${orgId} and s.finding_id = f.id and s.source_id = ${sourceId}
      left join source_coverage c on c.org_id = ${orgId} and c.source_id = ${sourceId} and c.asset_id = f.asset_id and c.track = s.track
      where f.org_id = ${orgId} and f.asset_id in (select asset_id from late) and f.component is not null and f.location ? 'version'
    )
    update sightings s set gaps = coalesce(s.gaps, late.gaps), absence = case when late.is_same_build or ${wasShownAtSql(sql`late.same_build_at`, sql`s.last_seen`)} or ((late.outcome <> 'unchanged' or s.last_seen < late.seen_at)
      and (${listsComponentSql(orgId, sql`late.import_id`, { component: sql`late.component`, version: sql`late.version` })} or exists (
        select from reported where reported.asset_id = late.asset_id and reported.track = late.track and reported.component = late.component and reported.version = late.version
          and reported.first_seen <= late.ended_at and reported.last_seen >= s.absent_at))) then 'retracted' else s.absence end
    from late where s.org_id = ${orgId} and s.finding_id = late.finding_id and s.source_id = ${sourceId} and s.track = late.track and s.absence = 'gone'`.execute(
    tx,
  );
}

const ability = sql`max(ended_at) as ended_at, bool_and(credentialed) as credentialed, min(knowledge_at) as knowledge_at`;

/** How able the run was on each track that it covered. */
export function runsSql({ orgId, importId }: Resolution): RawBuilder<unknown> {
  return sql`(select asset_id, track, ${ability} from ${importedAssets} named where org_id = ${orgId} and import_id = ${importId} group by asset_id, track)`;
}

/** The same for one track, by its index. No row if the run did not cover it. */
export function runOfSql({ orgId, importId }: Resolution, { asset, track }: Record<'asset' | 'track', RawBuilder<unknown>>): RawBuilder<unknown> {
  return sql`(
    select ${ability} from ${importedAssets} named
    where named.org_id = ${orgId} and named.import_id = ${importId} and named.asset_id = ${asset} and named.track = ${track} having count(*) > 0)`;
}

/** While a finding has one sighting, its columns are what that source says. Before a second one joins, this is kept with the first. */
async function keepSaid(tx: TenantTx, { orgId, importId }: Resolution): Promise<void> {
  await sql`
    update sightings s set said = ${saidByFindingSql}
    from findings f
    where s.org_id = ${orgId} and s.said is null and f.org_id = ${orgId} and f.id = s.finding_id
      and f.id in (select g.finding_id from tenant_import_groups g where g.org_id = ${orgId} and g.import_id = ${importId} and g.outcome = 'joined')`.execute(
    tx,
  );
}

/** Whether the run was less able than every run that saw the sighting `s` before. */
export const isLessAble = sql`((s.bar_credentialed and run.credentialed is not true) or s.bar_knowledge_at > run.knowledge_at)`;

/** The severity that the finding had when the record `r` of the group `g` was new: of what it says, and of what other sources had said by then. */
function severityThen({ orgId, sourceId, ranking }: Resolution): RawBuilder<unknown> {
  return sql`case when not g.is_shared then r.severity else (
    select ${sql.raw(foldedColumns.severity ?? '')} from (
      select s.severity, s.severity_source, ${rankSql(orgId, ranking)} as ranked from (
        select ${sourceId}::uuid as source_id, r.severity, r.severity_source
        union all
        select other.source_id, other.severity, other.said->>'severity_source' from sightings other
        where other.org_id = ${orgId} and other.finding_id = g.finding_id and (other.source_id, other.track) <> (${sourceId}, g.track) and other.first_seen <= g.seen_at
      ) s
    ) x) end`;
}

/** Records of known content take no part in grouping. Otherwise equal ones, also of older reports, only move the times at which a finding was seen and lower its bar. */
export async function refreshTimes(tx: TenantTx, resolution: Resolution): Promise<void> {
  const { orgId, importId, sourceId, sla } = resolution;
  const seen = sql`
    from tenant_import_groups g join tenant_import_rows r on r.org_id = ${orgId} and r.import_id = ${importId} and r.n = g.n join run on run.asset_id = g.asset_id and run.track = g.track
    where g.org_id = ${orgId} and g.import_id = ${importId} and g.outcome = 'unchanged' and g.present`;
  const runs = sql`with run as materialized (select * from ${runsSql(resolution)} runs)`;
  const first = sql`least(r.first_seen, g.seen_at)`;
  const clock = sql<Date>`case when f.reopen_count = 0 then least(f.clock_from, ${first}) else f.clock_from end`;
  // What was said before the clock started, or before a person rated the finding, does not count.
  const isOfClock = sql`g.seen_at >= ${clock} and f.severity_override is null`;
  const due = dueSql(
    sla,
    clock,
    sql`case when ${isOfClock} then greatest(f.severity, ${severityThen(resolution)}) else f.severity end`,
    sql`(f.kev or (g.seen_at >= ${clock} and r.reported_kev))`,
  );
  const isTicking = sql`(f.closed_at is null or g.seen_at < f.closed_at)`;
  const isDueEarlier = sql`((r.severity > f.source_severity or (r.reported_kev and not f.kev)) and ${isTicking} and ${due} < f.due_at)`;
  await sql`${runs} update sightings s set peak_severity = greatest(s.peak_severity, r.severity), last_seen = greatest(s.last_seen, g.seen_at), first_seen = least(s.first_seen, ${first}),
      unseen = ${withUnseen({ first, again: sql`g.seen_at` })},
      last_import_id = case when s.state = 'absent' then s.last_import_id else ${importId}::uuid end,
      seen_import_id = case when s.last_seen <= g.seen_at then ${importId}::uuid else s.seen_import_id end,
      bar_credentialed = s.bar_credentialed and run.credentialed, bar_knowledge_at = least(s.bar_knowledge_at, run.knowledge_at) ${seen}
    and s.org_id = ${orgId} and s.finding_id = g.finding_id and s.source_id = ${sourceId} and s.track = g.track
    and (s.last_seen < date_trunc('day', g.seen_at, 'UTC') or s.first_seen > ${first} or s.peak_severity < r.severity or s.unseen @> g.seen_at or (s.state = 'present' and ${isLessAble}))`.execute(
    tx,
  );
  await sql`${runs} update findings f set last_seen = greatest(f.last_seen, g.seen_at), first_seen = least(f.first_seen, ${first}),
      clock_from = ${clock}, due_at = case when ${isTicking} then least(${movedDueSql(clock)}, ${due}) else f.due_at end ${seen}
    and f.org_id = ${orgId} and f.id = g.finding_id and (f.last_seen < date_trunc('day', g.seen_at, 'UTC') or f.first_seen > ${first} or ${isDueEarlier})`.execute(
    tx,
  );
  await sql`update occurrences o set last_seen = greatest(o.last_seen, g.seen_at), first_seen = least(o.first_seen, ${first})
    from tenant_import_groups g join sightings s on s.org_id = ${orgId} and s.finding_id = g.finding_id and s.source_id = ${sourceId} and s.track = g.track and s.place is null
    join tenant_import_rows r on r.org_id = ${orgId} and r.import_id = ${importId} and r.n = any(g.members) and r.present
    where g.org_id = ${orgId} and g.import_id = ${importId} and g.outcome = 'unchanged' and g.present
      and o.org_id = ${orgId} and o.finding_id = g.finding_id and o.source_id = ${sourceId} and o.track = g.track and o.label = r.place_label
      and (o.last_seen < date_trunc('day', g.seen_at, 'UTC') or o.first_seen > ${first})`.execute(tx);
}
