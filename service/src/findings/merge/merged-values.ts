import { type RawBuilder, sql } from 'kysely';
import { assetFacts, assetTracks } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { assignments, columnsOf, insertLists, type NamedValues, selection } from '../../db/named-values.ts';
import { anyRows } from '../../db/rows.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import { joinKnown } from '../../vulnerabilities/relations.ts';
import { riskSql } from '../../vulnerabilities/risk.ts';
import { foldedColumns, importedColumns, saidByFinding, saidNames } from '../fields/derive.ts';
import { historySql } from '../history.ts';
import { dueSql, movedDueSql } from '../sla.ts';
import type { Groups } from './group-records.ts';
import type { Resolution } from './resolution.ts';

const importedNames = importedColumns.map(({ name }) => name);
const createdSql = Object.fromEntries(importedColumns.map(({ name, create }) => [name, sql.raw(create)]));
const mergedSql = Object.fromEntries(importedColumns.map(({ name, merge }) => [name, sql.raw(merge)]));

/** What a source says, as JSON, from a staged record `r` or from the finding `f` that has only this source. */
function saidSql(values: NamedValues): RawBuilder<unknown> {
  return sql`jsonb_strip_nulls(jsonb_build_object(${sql.join(Object.entries(values).flatMap(([name, value]) => [sql.lit(name), value]))}))`;
}
export const saidByRecord = saidSql(columnsOf('r', [...saidNames, 'words', 'named']));
/** The search index also holds tags and the words of sources and asset types, which are added to the words of the sources. */
const wordsByFinding = sql`array(select word from unnest(tsvector_to_array(f.search)) as word where word ~ '^[vkw]:')`;
export const saidByFindingSql = saidSql({
  ...Object.fromEntries(Object.entries(saidByFinding).map(([name, value]) => [name, sql.raw(value)])),
  words: wordsByFinding,
});

/**
 * What all sources together say about the findings that `ids` selects: of the sightings that are present or, if none is, of all. The order of sources
 * follows from what they say, not from when they said it.
 */
function foldedSql(orgId: string, ids: RawBuilder<unknown>, ranking: readonly string[]): RawBuilder<unknown> {
  const folded = Object.fromEntries(Object.entries(foldedColumns).map(([name, value]) => [name, sql.raw(value)]));
  return sql`
    select s.finding_id, ${selection(folded)}, distinct_sorted(concat_arrays(x.words)) as words,
      coalesce(max(x.severity) - min(x.severity) filter (where x.severity > 0) >= 2, false) as severity_disputed
    from ${countingSql(orgId, ids)} s
    cross join lateral (
      select said.*, s.best_title, row(-said.severity, s.content) as lead, ${rankSql(orgId, ranking)} as ranked from jsonb_populate_record(null::import_rows, s.said) said
    ) x
    where s.state = 'present' or s.present_count = 0
    group by s.finding_id`;
}

/** A title that was made up because the report has none is used only if no report has one, also of sources that no longer see the finding. */
const bestTitle = sql`
  first_value(s.said->>'title') over (partition by s.finding_id order by has_made_up_title(s.said), s.state <> 'present', (s.said->>'severity')::smallint desc, s.content)`;

function countingSql(orgId: string, ids: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select s.*, count(*) filter (where s.state = 'present') over (partition by s.finding_id) as present_count, ${bestTitle} as best_title
    from sightings s
    cross join lateral (select own.asset_id, own.listed from findings own where own.org_id = ${orgId} and own.id = s.finding_id offset 0) f
    where s.org_id = ${orgId} and s.said is not null and s.finding_id in (${ids}) and ${countsSql(orgId)})`;
}

/** Whether the sighting `s` counts for the finding `f`. Once a track that counts has the finding, what pull requests and branches in development say does not. */
function countsSql(orgId: string): RawBuilder<boolean> {
  return sql`(not f.listed or not exists (
    select from ${assetTracks} track where track.org_id = ${orgId} and track.asset_id = f.asset_id and track.n = s.track and not track.counts offset 0))`;
}

/** Position of the source of the sighting `s` in the ranking. Null if it is not ranked. */
export function rankSql(orgId: string, ranking: readonly string[]): RawBuilder<unknown> {
  if (ranking.length === 0) return sql`null::integer`;
  const names = sql`${ranking.map((name) => name.toLowerCase())}::text[]`;
  return sql`(
    select least(array_position(${names}, lower(o.tool)), array_position(${names}, lower(o.provider))) from sources o where o.org_id = ${orgId} and o.id = s.source_id)`;
}

/** The findings of several sources whose severity is another one with the given ranking of sources. */
export function rerankedSql(orgId: string, ranking: readonly string[]): RawBuilder<unknown> {
  return sql`
    select f.id from (
      select s.finding_id, ${sql.raw(foldedColumns.severity ?? '')} as severity
      from ${countingSql(orgId, sql`select said.finding_id from sightings said where said.org_id = ${orgId} and said.said is not null`)} s
      cross join lateral (
        select (s.said->>'severity')::smallint as severity, s.said->>'severity_source' as severity_source, ${rankSql(orgId, ranking)} as ranked
      ) x
      where s.state = 'present' or s.present_count = 0
      group by s.finding_id
    ) folded join findings f on f.org_id = ${orgId} and f.id = folded.finding_id and f.source_severity <> folded.severity`;
}

/** The staged records of the import for findings that only its source reports. */
function stagedSql({ orgId, importId }: Resolution, outcomes: readonly string[]): RawBuilder<unknown> {
  return sql`
    select g.finding_id, ${selection(columnsOf('r', [...saidNames, 'words']))}, false as severity_disputed
    from tenant_import_groups g join tenant_import_rows r on r.org_id = ${orgId} and r.import_id = ${importId} and r.n = g.n
    where g.org_id = ${orgId} and g.import_id = ${importId} and not g.is_shared and g.outcome = any(${outcomes as string[]})`;
}

/** Creates findings from the records that say most about them. */
export async function createFindings(tx: TenantTx, { orgId, importId, sourceId, sourceWords, sla }: Resolution, { shared }: Groups): Promise<void> {
  const { columns, values } = insertLists({
    ...columnsOf('staged', ['asset_id', 'weakness', 'identity_key', 'component_key', 'asset_type', 'first_seen', ...importedNames]),
    org_id: sql`${orgId}`,
    id: sql`staged.finding_id`,
    status: sql`'open'`,
    listed: sql`staged.counts`,
    status_changed_at: sql`staged.first_seen`,
    risk_score: riskSql('staged', 'staged'),
    source_ids: sql`array[${sourceId}::uuid]`,
    last_seen: sql`staged.seen_at`,
    due_at: dueSql(sla, sql`staged.first_seen`, sql`staged.severity`, sql`staged.kev`),
    clock_from: sql`staged.first_seen`,
    search: sql`array_to_tsvector(staged.words || array['a:' || staged.asset_type] || ${sourceWords}::text[])`,
  });
  const created = sql`g.org_id = ${orgId} and g.import_id = ${importId} and g.outcome = 'created'`;
  // Sorting is only for findings that several tracks have. Rows are wide, so it is done before they are read.
  const severalTracks = sql`
    select distinct on (g.finding_id) g.finding_id, g.n, g.asset_id, bool_or(g.counts) over (partition by g.finding_id), g.weakness, g.identity_key, g.seen_at
    from tenant_import_groups g join tenant_import_rows r on r.org_id = ${orgId} and r.import_id = ${importId} and r.n = g.n
    where ${created} and g.is_shared order by g.finding_id, r.severity desc, g.content`;
  await sql`
    with staged as (
      select g.finding_id, g.asset_id, g.counts, g.weakness, g.identity_key, r.component_key, g.seen_at, least(r.first_seen, g.seen_at) as first_seen,
        r.words || coalesce(a.name_words, '{}') as words, a.type as asset_type, a.criticality, a.exposure, ${selection(createdSql)}
      from (
        select g.finding_id, g.n, g.asset_id, g.counts, g.weakness, g.identity_key, g.seen_at from tenant_import_groups g where ${created} and not g.is_shared
        ${shared ? sql`union all select * from (${severalTracks}) several` : sql``}
      ) g
      join tenant_import_rows r on r.org_id = ${orgId} and r.import_id = ${importId} and r.n = g.n
      join ${assetFacts} a on a.org_id = ${orgId} and a.id = g.asset_id
      ${joinKnown(sql`g.weakness`, sql`r.vulnerability_ids`)}
    )
    insert into findings (${columns}) select ${values} from staged`.execute(tx);
}

/** Null: the change does not come from an import. */
type Merging = Pick<Resolution, 'orgId' | 'sla' | 'actor'> & { importId: string | null };

/** Applies new statements of the only source of a finding. */
export async function updateSingle(tx: TenantTx, resolution: Resolution): Promise<void> {
  const stated = stagedSql(resolution, ['updated', 'returned']);
  if (await anyRows(tx, stated)) await applyValues(tx, resolution, stated);
}

/** Merges what all sources say about the findings that `ids` selects. */
export async function updateShared(tx: TenantTx, resolution: Merging, ids: RawBuilder<unknown>): Promise<void> {
  if (!(await anyRows(tx, ids))) return;
  const { source_ranking } = await readPolicy(tx, resolution.orgId);
  await applyValues(tx, resolution, foldedSql(resolution.orgId, ids, source_ranking));
}

/** The words of what was said, of the sources and the asset type, and the tags of the finding instead of those of the record. */
const searchSql = sql`array_to_tsvector(array(select word from unnest(merged.words) as word where word not like 't:%')
  || array(select unnest(array['p:' || o.provider] || case o.kind when 'connection' then array['c:' || o.name] else '{}' end) from sources o where o.org_id = f.org_id and o.id = any(coalesce(merged.source_ids, f.source_ids)))
  || array['a:' || f.asset_type] || array(select 't:' || lower(tag) from unnest(merged.tags) as tag))`;

/** Sets the columns that follow from what sources say. What people decided stays, and a deadline is never moved back. */
async function applyValues(tx: TenantTx, { orgId, importId, sla, actor }: Merging, stated: RawBuilder<unknown>): Promise<void> {
  const clock = sql<Date>`case when f.reopen_count = 0 then least(f.clock_from, merged.first_seen) else f.clock_from end`;
  const entries = sql`
    select f.id as finding_id, 'updated' as action, null as reason,
      jsonb_build_object('severity', f.source_severity, 'version', f.location->>'version', 'title', f.title) as before,
      jsonb_build_object('severity', merged.source_severity, 'version', merged.location->>'version', 'title', merged.title) as after
    from merged join findings f on f.org_id = ${orgId} and f.id = merged.finding_id
    where (f.source_severity, f.location->>'version', f.title) is distinct from (merged.source_severity, merged.location->>'version', merged.title)`;
  await sql`
    with stated as materialized (${stated}), merged as materialized (
      select r.finding_id, a.criticality, a.exposure, r.words || coalesce(a.name_words, '{}') as words, r.severity_disputed, seen.first_seen, seen.last_seen, seen.source_ids, ${selection(mergedSql)}
      from stated r
      -- By its id. The planner, which knows nothing of a new organization, would go through all findings of the asset for each.
      cross join lateral (select known.* from findings known where known.org_id = ${orgId} and known.id = r.finding_id offset 0) f
      join ${assetFacts} a on a.org_id = ${orgId} and a.id = f.asset_id
      ${joinKnown(sql`f.weakness`, sql`r.vulnerability_ids`)}
      cross join lateral (
        select min(s.first_seen) as first_seen, max(s.last_seen) as last_seen, array_agg(distinct s.source_id order by s.source_id) as source_ids
        from sightings s where s.org_id = ${orgId} and s.finding_id = r.finding_id and ${countsSql(orgId)}
      ) seen
    ), recorded as (
      ${historySql(actor, entries, importId)}
    )
    update findings f set ${assignments({
      ...columnsOf('merged', importedNames),
      severity_disputed: sql`merged.severity_disputed`,
      risk_score: riskSql('merged', 'merged'),
      search: searchSql,
      source_ids: sql`coalesce(merged.source_ids, f.source_ids)`,
      first_seen: sql`least(f.first_seen, merged.first_seen)`,
      last_seen: sql`greatest(f.last_seen, merged.last_seen)`,
      due_at: sql`case when f.closed_at is null or merged.last_seen < f.closed_at then least(${movedDueSql(clock)}, ${dueSql(sla, clock, sql`merged.severity`, sql`merged.kev`)}) else f.due_at end`,
      clock_from: clock,
      version: sql`f.version + 1`,
      updated_at: sql`now()`,
    })}
    from merged where f.org_id = ${orgId} and f.id = merged.finding_id`.execute(tx);
}
