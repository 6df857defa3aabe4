import { type RawBuilder, sql } from 'kysely';
import { compareVersions } from '../../assets/names/version-name.ts';
import { assetVersions, importedAssets, mergedAssets } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { isCountedSql, shownApartSql } from '../scan-of.ts';
import type { Resolution } from './resolution.ts';
import { hasOtherSizeSql, isSameVariantSql, leavesOutSuppressedSql, listsFilesSql, wouldShowSql } from './run-lists.ts';

/**
 * What a group of records does to the sighting of its source and track:
 * `created`, `joined` (the finding was known, this sighting was not), `returned` (it was absent), `updated` (the source says something else),
 * `elsewhere` (a track that counts has or had the finding, so one that does not adds no sighting), `reintroduced` (the same, if it is the first to show the finding
 * again that no track that counts has any more), `unchanged` (also when a newer scan is known), `gone` and `declared` (reported as fixed, with and without proof), `ignored` (an unknown finding
 * that is reported as fixed).
 */
export const changedOutcomes = ['created', 'joined', 'returned', 'updated'] as const;

/**
 * When the sighting `s` was last seen. Sightings are not written on every scan: those that are present and were not missed by the last complete scan `c`
 * were seen by it.
 */
export const lastSeenSql = sql<Date>`greatest(s.last_seen, case when s.state = 'present' and (s.missed_at is null or s.missed_at < c.complete_at) then c.complete_at end)`;

/** Until when the source has scanned a track, looked up by its index. */
export function coverageOfSql({ orgId, sourceId }: Resolution, { asset, track }: Record<'asset' | 'track', RawBuilder<unknown>>): RawBuilder<unknown> {
  return sql`(
    select own.* from source_coverage own where own.org_id = ${orgId} and own.source_id = ${sourceId} and own.asset_id = ${asset} and own.track = ${track} offset 0)`;
}

/** The import that last saw the sighting `s`. */
export const seenImportSql = sql<string>`case when s.state = 'present' and c.complete_at >= s.last_seen and (s.missed_at is null or s.missed_at < c.complete_at) then c.complete_import_id else s.seen_import_id end`;

/**
 * Until when the source of the sighting `s` can have seen the finding on the asset. When it was last seen is written once a day. Later scans of that day
 * have shown it as well, unless one is known not to have.
 */
export function seenUntilSql(orgId: string, asset: RawBuilder<unknown>): RawBuilder<Date> {
  return sql`greatest(s.last_seen, (
    select max(run.ended_at) from run_assets run
    where run.org_id = ${orgId} and run.source_id = s.source_id and run.asset_id = ${asset} and run.track = s.track and date_trunc('day', run.ended_at, 'UTC') <= s.last_seen
      and (s.missed_at is null or s.missed_at < s.last_seen or run.started_at < s.missed_at)))`;
}

/** What the groups of an import have among them. Most statements of the import concern only some kinds of groups, and are left out if there are none. */
export interface Groups {
  /** How many groups create a finding. */
  created: number;
  /** A known finding gets its first sighting of this source and track. */
  joined: boolean;
  /** A sighting returns or says something else. */
  updated: boolean;
  /** A changed finding has several sightings. */
  shared: boolean;
  /** A sighting that is present says nothing new. */
  unchanged: boolean;
  /** A group belongs to a finding that was known before. */
  known: boolean;
  /** The report calls a known finding fixed. */
  fixed: boolean;
  /** A changed group has several records. */
  several: boolean;
  /** A changed group has several places. */
  places: boolean;
  /** A newer scan did not show what the report shows. */
  late: boolean;
}

export const noGroups: Groups = {
  created: 0,
  joined: false,
  updated: false,
  shared: false,
  unchanged: false,
  known: false,
  fixed: false,
  several: false,
  places: false,
  late: false,
};

/**
 * Whether what the group `k` says counts and not what the sighting `s` says, if both are from the same time. The less favourable one does, whichever is
 * imported first: what the tool does not suppress, and then what is more severe. The digest decides between others.
 */
function outweighsSql({ orgId, importId }: Resolution): RawBuilder<boolean> {
  return sql`(select (not r.suppressed, r.severity, k.content) > (not s.suppressed, s.severity, s.content) from tenant_import_rows r
    where r.org_id = ${orgId} and r.import_id = ${importId} and r.n = k.n)`;
}

/** Whether the tool was told to ignore what the group `k` says, and the report of the import `later` may have left it out. */
function isHiddenSql({ orgId, importId }: Resolution, later: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`((select r.suppressed from tenant_import_rows r where r.org_id = ${orgId} and r.import_id = ${importId} and r.n = k.n) and ${leavesOutSuppressedSql(orgId, later)})`;
}

const changed = sql`outcome = any(${changedOutcomes as readonly string[]})`;

/**
 * Runs that took place later, of lower versions of the release line, of another platform, of another machine with the same name, or of another lock file. Had the reports come in order, they would not have been believed
 * about what this build has.
 */
async function laterRunsOfOtherBuilds(tx: TenantTx, { orgId, importId, sourceId, size }: Resolution): Promise<string[]> {
  const isMerged = sql`exists (select from ${mergedAssets} merged where merged.org_id = ${orgId} and merged.asset_id = a.asset_id)`;
  const isOther = sql`((not ${isSameVariantSql(sql`a.variant`, sql`later.variant`)} and not (a.type = 'host' and ${isMerged})) or (a.type = 'container_image' and a.variant is not null and later.variant is null))`;
  const isOtherLockFile =
    !size?.dependencies && !size?.components && !size?.clean_lock_files
      ? sql`false`
      : sql`exists (select from imports i where i.org_id = ${orgId} and i.id = later.import_id and not i.scan_scope ? 'path' and ${hasOtherSizeSql(sql`${JSON.stringify(size)}::jsonb`, sql`i.run`)})`;
  const { rows } = await sql<{ import_id: string; version: string | null; own: string | null; is_other: boolean | null }>`
    select distinct later.import_id, build.name as version, own.name as own, (${isOther} or ${isOtherLockFile}) as is_other
    from ${importedAssets} a
    join run_assets later on later.org_id = ${orgId} and later.source_id = ${sourceId} and later.asset_id = a.asset_id and later.track = a.track and later.started_at > a.started_at
    left join ${assetVersions} own on own.org_id = ${orgId} and own.asset_id = a.asset_id and own.n = a.version_n and a.own_track is not null
    left join ${assetVersions} build on build.org_id = ${orgId} and build.asset_id = a.asset_id and build.n = later.version_n
    where a.org_id = ${orgId} and a.import_id = ${importId} and (build.name <> own.name or ${isOther} or ${isOtherLockFile})`.execute(tx);
  const isLower = (one: string | null, other: string | null): boolean => one !== null && other !== null && (compareVersions(one, other) ?? 0) < 0;
  return rows.filter(({ version, own, is_other }) => is_other || isLower(version, own)).map(({ import_id }) => import_id);
}

/**
 * Groups the records of a report by finding and track. What is known about each group is looked up by an index ("lateral … offset 0"): with the statistics
 * of an average organization, the planner would compare all records of a large one with all its findings.
 * A group belongs to the finding with its weakness and identity key, unless the tool's own id leads
 * to another finding of the asset. That one has moved, and what is now at its old location is something else.
 */
export async function groupRecords(tx: TenantTx, resolution: Resolution, isComplete: boolean): Promise<Groups> {
  const { orgId, importId, sourceId, provesFixed, files } = resolution;
  const others = sql`${await laterRunsOfOtherBuilds(tx, resolution)}::uuid[]`;
  const apart = shownApartSql(orgId, sql`(track.asset_id, track.n) in (select named.asset_id, named.track from named)`);
  const { rows } = await sql<Groups>`
    with named as (
      select distinct asset_key, asset_id, track, track_counts, version_n, ended_at, credentialed, knowledge_at, case when ${isComplete} and doubt is null then started_at end as complete_at
      from ${importedAssets} named where org_id = ${orgId} and import_id = ${importId}
    ), grouped as (
      select named.asset_id, named.track, max(named.version_n) as version_n, r.weakness, r.identity_key, count(*) as rows,
        (array_agg(r.n order by r.present desc, r.severity desc, r.content, r.n))[1] as n, max(r.severity) filter (where r.present) as severity,
        (array_agg(r.new_id order by r.n))[1] as new_id, array_agg(r.n) as members,
        coalesce(max(r.external_id) filter (where r.present), max(r.external_id)) as external_id, array_agg(r.external_id) as external_ids, bool_or(r.present) as present,
        array_agg(distinct r.content order by r.content) as contents,
        least(coalesce(max(r.last_seen), max(named.ended_at)), now()) as seen_at, max(named.complete_at) as complete_at,
        case when count(distinct r.place_label) filter (where r.present) <= 1 then min(r.place_label) end as place,
        bool_or(named.track_counts) as counts, bool_or(named.credentialed) as credentialed, max(named.knowledge_at) as knowledge_at
      from tenant_import_rows r
      join named using (asset_key)
      where r.org_id = ${orgId} and r.import_id = ${importId}
      group by 1, 2, 4, 5
    ), known as (
      -- A complete run shows what it lists, even if the source states that it last looked earlier.
      select g.*, greatest(g.seen_at, g.complete_at) as shown_at, case when cardinality(g.contents) = 1 then g.contents[1] else (select sha256(string_agg(one, ''::bytea)) from unnest(g.contents) one) end as content,
        first_value(g.new_id) over (partition by g.asset_id, g.weakness, g.identity_key order by g.n) as shared_id,
        coalesce(by_id.finding_id, f.merged_into, f.id) as finding_id, case when by_id.finding_id = coalesce(f.merged_into, f.id) then 0 when by_id.finding_id is not null then 1 else 2 end as how
      from grouped g
      left join lateral (
        select own.id, own.merged_into from findings own
        where own.org_id = ${orgId} and own.asset_id = g.asset_id and own.weakness = g.weakness and own.identity_key = g.identity_key offset 0) f on true
      left join lateral (
        select s.finding_id from sightings s
        where g.external_id is not null and s.org_id = ${orgId} and s.source_id = ${sourceId} and s.external_id = g.external_id
          -- Some reports only number their rows. A number that now stands for another vulnerability, or for another check elsewhere, says nothing.
          and (select own.asset_id = g.asset_id and (own.weakness = g.weakness or (own.identity_key = g.identity_key and not (own.weakness like 'CVE-%' and g.weakness like 'CVE-%')))
            from findings own where own.org_id = ${orgId} and own.id = s.finding_id)
        order by s.finding_id is distinct from f.id, s.finding_id limit 1
      ) by_id on true
    ), ranked as (
      select k.*, coalesce(k.finding_id, k.shared_id) as id, row_number() over same as nth, min(how) over same as best, count(*) over same as alike
      from known k window same as (partition by coalesce(k.finding_id, k.shared_id), k.track order by k.how, k.present desc, k.content rows between unbounded preceding and unbounded following)
    ), joined as (
      -- Several groups are about one finding, because findings were merged or the tool uses an id twice. All their records count.
      select id, track, (array_agg(n order by present desc, severity desc nulls last, content, n))[1] as n, sum(rows) as rows, all_elements(members) as members,
        coalesce(max(external_id) filter (where present), max(external_id)) as external_id, all_elements(external_ids) as external_ids, bool_or(present) as present,
        (select case when count(*) = 1 then string_agg(one, ''::bytea) else sha256(string_agg(one, ''::bytea order by one)) end from (select distinct unnest(all_elements(contents)) as one) every) as content,
        max(seen_at) as seen_at, max(shown_at) as shown_at
      from ranked where alike > 1 and (nth = 1 or not (best = 1 and how = 2)) group by id, track having count(*) > 1
    ), decided as (
      select r.asset_id, r.track, r.version_n, r.weakness, r.identity_key, r.shared_id, r.counts, r.credentialed, r.knowledge_at, case when r.nth = 1 then r.finding_id end as old_id,
        coalesce(j.n, r.n) as n, coalesce(j.rows, r.rows) as rows, coalesce(j.members, r.members) as members, coalesce(j.external_id, r.external_id) as external_id,
        coalesce(j.external_ids, r.external_ids) as external_ids, coalesce(j.present, r.present) as present, coalesce(j.content, r.content) as content,
        coalesce(j.seen_at, r.seen_at) as seen_at, coalesce(j.shown_at, r.shown_at) as shown_at, case when j.id is null then r.place end as place
      from ranked r left join joined j on r.nth = 1 and j.id = r.id and j.track = r.track
      where r.nth = 1 or (r.best = 1 and r.how = 2)
    ), written as (
    insert into tenant_import_groups (org_id, import_id, n, members, rows, asset_id, track, counts, version_n, weakness, identity_key, external_id, present, content, seen_at, absent_at,
      finding_id, is_shared, place, was_gone, outcome)
    select ${orgId}, ${importId}, k.n, k.members, k.rows, k.asset_id, k.track, k.counts, k.version_n, k.weakness, k.identity_key, k.external_id, k.present, k.content, k.seen_at,
      late.absent_at,
      coalesce(k.old_id, k.shared_id),
      count(*) over (partition by coalesce(k.old_id, k.shared_id)) > 1
        or exists (select from sightings other where other.org_id = ${orgId} and other.finding_id = k.old_id and (other.source_id, other.track) <> (${sourceId}, k.track)),
      k.place,
      -- Matters only to accepted risks.
      f.status is not distinct from 'risk_accepted' and coalesce((
        select bool_and(other.state <> 'present') and coalesce(bool_or(other.absence = 'gone' and other.absent_at <= k.shown_at), false)
        from sightings other where other.org_id = ${orgId} and other.finding_id = k.old_id and other.track = k.track), false),
      case
        when k.old_id is null then case when k.present then 'created' else 'ignored' end
        when not k.counts and f.listed then case when k.present and not ${isCountedSql(orgId, { id: sql`k.old_id`, asset: sql`k.asset_id` })}
          and (k.asset_id, k.track, k.old_id) not in (select apart.asset_id, apart.track, apart.finding_id from ${apart} apart) then 'reintroduced' else 'elsewhere' end
        when not k.present then case
          when s.state = 'present' and k.shown_at >= ${lastSeenSql} and k.rows >= s.records and (s.external_id is null or s.external_id = any(k.external_ids))
          then case when ${provesFixed} then 'gone' else 'declared' end else 'unchanged' end
        when s.state is null then 'joined'
        when s.state = 'unknown' or (s.state = 'absent' and late.absent_at is null) then 'returned'
        when s.state = 'absent' and k.shown_at > s.absent_at then 'updated'
        when s.state = 'absent' and s.content <> k.content and (k.shown_at > s.last_seen or (k.shown_at = s.last_seen and ${outweighsSql(resolution)})) then 'updated'
        when s.state = 'absent' or k.shown_at < ${lastSeenSql} then 'unchanged'
        when s.content <> k.content and (k.shown_at > ${lastSeenSql} or ${outweighsSql(resolution)}) then 'updated'
        else 'unchanged'
      end
    from decided k
    left join lateral (select own.* from findings own where own.org_id = ${orgId} and own.id = k.old_id offset 0) f on true
    left join lateral (
      select own.* from sightings own where own.org_id = ${orgId} and own.finding_id = k.old_id and own.source_id = ${sourceId} and own.track = k.track offset 0) s on true
    left join lateral ${coverageOfSql(resolution, { asset: sql`k.asset_id`, track: sql`k.track` })} c on true
    cross join lateral (
      select case when not k.present then null when s.state = 'absent' and k.shown_at < s.absent_at and not exists (
        select from run_assets run where run.org_id = ${orgId} and run.source_id = ${sourceId} and run.asset_id = k.asset_id and run.track = k.track and run.started_at = s.absent_at
          and (run.import_id = any(${others}) or ${isHiddenSql(resolution, sql`run.import_id`)})) then s.absent_at when k.shown_at < c.complete_at then (
        select min(later.started_at) from run_assets later
        where later.org_id = ${orgId} and later.source_id = ${sourceId} and later.asset_id = k.asset_id and later.track = k.track and later.complete and later.accepted and later.started_at > k.shown_at
          and later.import_id <> all(${others}) and not ${isHiddenSql(resolution, sql`later.import_id`)}
          and (${files ? sql`false` : sql`not later.selective`} or (
            select ${listsFilesSql(resolution, sql`later.import_id`)} and (not later.selective or ${wouldShowSql(resolution, sql`later.import_id`)})
            from tenant_import_rows r where r.org_id = ${orgId} and r.import_id = ${importId} and r.n = k.n))
          and (k.credentialed is not true or later.credentialed) and (k.knowledge_at is null or later.knowledge_at >= k.knowledge_at)
      ) end as absent_at
    ) late
    returning outcome, present, is_shared, rows, place, absent_at
    )
    select count(*) filter (where outcome = 'created')::int as created, coalesce(bool_or(outcome = 'joined'), false) as joined,
      coalesce(bool_or(outcome in ('returned', 'updated')), false) as updated, coalesce(bool_or(${changed} and is_shared), false) as shared,
      coalesce(bool_or(outcome = 'unchanged' and present), false) as unchanged, coalesce(bool_or(outcome not in ('created', 'ignored')), false) as known,
      coalesce(bool_or(outcome in ('gone', 'declared')), false) as fixed, coalesce(bool_or(${changed} and rows > 1), false) as several,
      coalesce(bool_or(${changed} and place is null), false) as places, coalesce(bool_or(absent_at is not null), false) as late
    from written`.execute(tx);
  return rows[0] ?? noGroups;
}
