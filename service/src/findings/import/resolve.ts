import { type RawBuilder, sql } from 'kysely';
import { assetFacts, importedAssets } from '../../assets/relations.ts';
import { resolveAssets } from '../../assets/resolve.ts';
import type { TenantTx } from '../../db/database.ts';
import { assignments, columnsOf, insertLists, type NamedValues, selection } from '../../db/named-values.ts';
import { emitAll } from '../../events/emit.ts';
import { learnAliases } from '../../vulnerabilities/aliases.ts';
import { vulnerabilityAliases, vulnerabilityFacts } from '../../vulnerabilities/relations.ts';
import { riskSql } from '../../vulnerabilities/risk.ts';
import { importedColumns } from '../fields/derive.ts';
import { dueSql } from '../sla.ts';
import { reopenedByScan } from '../status.ts';
import type { Absence } from './absence.ts';
import { adoptAliases } from './adopt-aliases.ts';
import { followMoved } from './follow-moved-code.ts';
import { markSeen } from './known-records.ts';
import type { Resolution } from './resolution.ts';

const REOPENED = 'A scan saw the finding again.';

export interface Outcomes {
  created: number;
  updated: number;
  reopened: number;
  /** Findings that were known twice, under two ids of one vulnerability. */
  withdrawn: string[];
}

export async function resolveRows(tx: TenantTx, resolution: Resolution, absence: Absence | null): Promise<Outcomes> {
  const { orgId, importId } = resolution;
  await resolveAssets(tx, orgId, importId);
  const staged = sql`select weakness, aliases from tenant_import_rows where org_id = ${orgId} and import_id = ${importId}`;
  const withdrawn = await adoptAliases(tx, resolution, await learnAliases(tx, orgId, staged));
  if (absence?.complete) await followMoved(tx, resolution, absence);
  await groupRows(tx, resolution);
  if (resolution.large) await sql`select analyze_groups()`.execute(tx);
  await markSeen(tx, resolution);
  await keepTexts(tx, resolution);
  await rememberChanges(tx, resolution);
  await updateKnown(tx, resolution);
  await moveKnown(tx, resolution);
  await createNew(tx, resolution);
  await writeSightings(tx, resolution);
  await refreshLastSeen(tx, resolution);
  return { ...(await countOutcomes(tx, resolution)), withdrawn };
}

/**
 * A group belongs to the finding with its weakness and identity key, unless the tool's own id leads to another finding of the asset. That one has
 * moved, and what is now at its old location is something else.
 */
async function groupRows(tx: TenantTx, { orgId, importId, sourceId, seenAt }: Resolution): Promise<void> {
  await sql`
    with grouped as (
      select assets.asset_id, coalesce(alias.weakness, r.weakness) as weakness, r.identity_key, count(*) as rows,
        (array_agg(r.n order by r.present desc, r.severity desc, r.content, r.n))[1] as n,
        (array_agg(r.new_id order by r.n))[1] as new_id,
        coalesce(max(r.external_id) filter (where r.present), max(r.external_id)) as external_id, array_agg(r.external_id) as external_ids, bool_or(r.present) as present,
        array_agg(distinct r.content order by r.content) as contents,
        least(coalesce(max(r.last_seen), ${seenAt}::timestamptz), now()) as seen_at
      from tenant_import_rows r
      join (select distinct asset_key, asset_id from ${importedAssets} named where org_id = ${orgId} and import_id = ${importId}) assets using (asset_key)
      left join ${vulnerabilityAliases} alias on alias.org_id = ${orgId} and alias.alias = r.weakness
      where r.org_id = ${orgId} and r.import_id = ${importId}
      group by 1, 2, 3
    ), known as (
      select g.*, case when cardinality(g.contents) = 1 then g.contents[1] else (select sha256(string_agg(one, ''::bytea)) from unnest(g.contents) one) end as content,
        coalesce(by_id.finding_id, f.id) as finding_id, case when by_id.finding_id = f.id then 0 when by_id.finding_id is not null then 1 else 2 end as how
      from grouped g
      left join findings f on f.org_id = ${orgId} and f.asset_id = g.asset_id and f.weakness = g.weakness and f.identity_key = g.identity_key
      left join lateral (
        select s.finding_id from sightings s
        where g.external_id is not null and s.org_id = ${orgId} and s.source_id = ${sourceId} and s.external_id = g.external_id
          and (select own.asset_id from findings own where own.org_id = ${orgId} and own.id = s.finding_id) = g.asset_id
        order by s.finding_id is distinct from f.id, s.finding_id limit 1
      ) by_id on true
    ), ranked as (
      select k.*, row_number() over same as nth, min(how) over same as best
      from known k window same as (partition by coalesce(k.finding_id, k.new_id) order by k.how, k.present desc, k.content rows between unbounded preceding and unbounded following)
    ), decided as (
      select r.*, case when r.nth = 1 then r.finding_id end as old_id from ranked r where r.nth = 1 or (r.best = 1 and r.how = 2)
    )
    insert into tenant_import_groups (org_id, import_id, n, rows, asset_id, weakness, identity_key, external_id, present, content, seen_at, finding_id, outcome)
    select ${orgId}, ${importId}, k.n, k.rows, k.asset_id, k.weakness, k.identity_key, k.external_id, k.present, k.content, k.seen_at,
      coalesce(k.old_id, k.new_id),
      case
        when k.old_id is null then case when k.present then 'created' else 'ignored' end
        when not k.present then case when s.state = 'present' and k.rows >= s.records and (s.external_id is null or s.external_id = any(k.external_ids)) then 'gone' else 'unchanged' end
        when f.status = any(${reopenedByScan as readonly string[]}) and k.seen_at > f.status_changed_at then 'reopened'
        when s.state = 'absent' and f.status = any(${reopenedByScan as readonly string[]}) then 'unchanged'
        when s.state = 'present' and k.seen_at < s.last_seen then 'unchanged'
        when s.content is distinct from k.content or s.state <> 'present' then 'updated'
        else 'unchanged'
      end
    from decided k
    left join findings f on f.org_id = ${orgId} and f.id = k.old_id
    left join sightings s on s.org_id = ${orgId} and s.finding_id = k.old_id and s.source_id = ${sourceId}`.execute(tx);
}

const changed = sql`('created', 'updated', 'reopened')`;

async function keepTexts(tx: TenantTx, { orgId, importId }: Resolution): Promise<void> {
  await sql`
    insert into finding_texts (org_id, id, description, solution, reference_urls)
    select distinct on (staged.text_id) ${orgId}::uuid, staged.text_id, staged.description, staged.solution, staged.reference_urls
    from tenant_import_texts staged
    where staged.org_id = ${orgId} and staged.import_id = ${importId}
      and not exists (select from finding_texts t where t.org_id = ${orgId} and t.id = staged.text_id)
    order by staged.text_id`.execute(tx);
}

const importedNames = importedColumns.map(({ name }) => name);
const createdSql = Object.fromEntries(importedColumns.map(({ name, create }) => [name, sql.raw(create)]));
const mergedSql = Object.fromEntries(importedColumns.map(({ name, merge }) => [name, sql.raw(merge)]));

/** What the staged records, their assets and the shared knowledge say about findings with one of the outcomes. Declared columns use `r`, `v` and `f`. */
function stagedSql({ orgId, importId }: Resolution, columns: NamedValues, outcomes: readonly string[]): RawBuilder<unknown> {
  const isKnown = !outcomes.includes('created');
  return sql`
    select g.finding_id, g.asset_id, g.weakness, g.identity_key, g.seen_at, g.outcome, least(r.first_seen, g.seen_at) as first_seen, r.words,
      a.type as asset_type, a.criticality, a.exposure, ${selection(columns)}
    from tenant_import_groups g
    join tenant_import_rows r on r.org_id = ${orgId} and r.import_id = ${importId} and r.n = g.n
    join ${assetFacts} a on a.org_id = ${orgId} and a.id = g.asset_id
    ${isKnown ? sql`join findings f on f.org_id = ${orgId} and f.id = g.finding_id` : sql``}
    left join ${vulnerabilityFacts} v on v.id = g.weakness
    where g.org_id = ${orgId} and g.import_id = ${importId} and g.outcome = any(${outcomes as string[]})`;
}

/** The words of the record, with the tags of the finding instead of those of the record. */
const searchSql = sql`array_to_tsvector(array(select word from unnest(staged.words) as word where word not like 't:%')
  || array(select unnest(array['p:' || o.provider] || case o.kind when 'connection' then array['c:' || o.name] else '{}' end) from sources o where o.org_id = f.org_id and o.id = any(staged.source_ids)) || array['a:' || staged.asset_type] || array(select 't:' || lower(tag) from unnest(staged.tags) as tag))`;

/** Separate from the update of known findings: most of a first import takes this path, so it reads only what it needs and writes in the order of ids. */
async function createNew(tx: TenantTx, resolution: Resolution): Promise<void> {
  const { orgId, sourceId, sourceWords, sla } = resolution;
  const { columns, values } = insertLists({
    ...columnsOf('staged', ['asset_id', 'weakness', 'identity_key', 'asset_type', 'first_seen', ...importedNames]),
    org_id: sql`${orgId}`,
    id: sql`staged.finding_id`,
    status: sql`'open'`,
    status_changed_at: sql`now()`,
    risk_score: riskSql('staged', 'staged'),
    source_ids: sql`array[${sourceId}::uuid]`,
    last_seen: sql`staged.seen_at`,
    due_at: dueSql(sla, sql`staged.first_seen`, sql`staged.severity`, sql`staged.kev`),
    clock_from: sql`staged.first_seen`,
    search: sql`array_to_tsvector(staged.words || array['a:' || staged.asset_type] || ${sourceWords}::text[])`,
  });
  await sql`
    with staged as (${stagedSql(resolution, createdSql, ['created'])} order by g.finding_id)
    insert into findings (${columns}) select ${values} from staged`.execute(tx);
}

async function rememberChanges(tx: TenantTx, { orgId, importId, actor }: Resolution): Promise<void> {
  await sql`
    insert into finding_history (org_id, finding_id, id, actor_type, actor_id, actor_name, import_id, action, before, after, reason)
    select ${orgId}, g.finding_id, r.new_id, ${actor.type}, ${actor.id}, ${actor.name}, ${importId}, g.outcome,
      jsonb_build_object('status', f.status, 'severity', f.source_severity, 'version', f.location->>'version', 'title', f.title),
      jsonb_build_object('status', case when g.outcome = 'reopened' then 'open' else f.status end, 'severity', r.severity, 'version', r.location->>'version', 'title', r.title),
      case when g.outcome = 'reopened' then ${REOPENED} end
    from tenant_import_groups g
    join tenant_import_rows r on r.org_id = ${orgId} and r.import_id = ${importId} and r.n = g.n
    join findings f on f.org_id = ${orgId} and f.id = g.finding_id
    where g.org_id = ${orgId} and g.import_id = ${importId} and g.outcome in ('updated', 'reopened')`.execute(tx);
  const reopened = sql`
    select g.finding_id::text as subject, jsonb_build_object('from', f.status, 'to', 'open', 'import_id', ${importId}::text, 'reason', ${REOPENED}::text) as data
    from tenant_import_groups g join findings f on f.org_id = ${orgId} and f.id = g.finding_id
    where g.org_id = ${orgId} and g.import_id = ${importId} and g.outcome = 'reopened'`;
  await emitAll(tx, orgId, 'finding.status_changed', reopened);
}

/** A source that says something new about a finding changes the reported columns. What people decided stays. */
async function updateKnown(tx: TenantTx, resolution: Resolution): Promise<void> {
  const { orgId, sourceId, sla } = resolution;
  const staged = { ...mergedSql, source_ids: sql`array_append(array_remove(f.source_ids, ${sourceId}::uuid), ${sourceId}::uuid)` };
  const isReopened = sql<boolean>`staged.outcome = 'reopened'`;
  const reopened = (value: RawBuilder<unknown>, otherwise: RawBuilder<unknown>) => sql<Date>`case when ${isReopened} then ${value} else ${otherwise} end`;
  const clock = reopened(sql`now()`, sql`f.clock_from`);
  const due = dueSql(sla, clock, sql`staged.severity`, sql`staged.kev`);
  await sql`
    with staged as (${stagedSql(resolution, staged, ['updated', 'reopened'])})
    update findings f set ${assignments({
      ...columnsOf('staged', Object.keys(staged)),
      risk_score: riskSql('staged', 'staged'),
      search: searchSql,
      last_seen: sql`greatest(f.last_seen, staged.seen_at)`,
      due_at: sql`case when f.closed_at is null or ${isReopened} then ${due} else f.due_at end`,
      clock_from: clock,
      status: reopened(sql`'open'`, sql`f.status`),
      status_reason: reopened(sql`${REOPENED}`, sql`f.status_reason`),
      status_changed_at: reopened(sql`now()`, sql`f.status_changed_at`),
      status_changed_by: reopened(sql`null`, sql`f.status_changed_by`),
      assurance: reopened(sql`null`, sql`f.assurance`),
      closed_at: reopened(sql`null`, sql`f.closed_at`),
      reopen_count: sql`f.reopen_count + case when ${isReopened} then 1 else 0 end`,
      version: sql`f.version + 1`,
      updated_at: sql`now()`,
    })}
    from staged where f.org_id = ${orgId} and f.id = staged.finding_id`.execute(tx);
}

/** Moves findings that the tool's own id found elsewhere. In two steps, because one finding may take the identity key that another leaves. */
async function moveKnown(tx: TenantTx, { orgId, importId }: Resolution): Promise<void> {
  const inGroup = sql`tenant_import_groups g where g.org_id = ${orgId} and g.import_id = ${importId} and f.org_id = ${orgId} and f.id = g.finding_id and g.outcome in ('updated', 'reopened')`;
  const { numAffectedRows = 0n } =
    await sql`update findings f set identity_key = uuid_send(f.id) from ${inGroup} and (f.weakness <> g.weakness or f.identity_key <> g.identity_key)`.execute(
      tx,
    );
  if (numAffectedRows === 0n) return;
  await sql`
    update findings f set weakness = g.weakness, identity_key = case
      when exists (select from findings other where other.org_id = ${orgId} and other.asset_id = f.asset_id and other.weakness = g.weakness and other.identity_key = g.identity_key)
      then substring(sha256(convert_to(g.external_id, 'UTF8')) for 16) else g.identity_key end
    from ${inGroup} and f.identity_key = uuid_send(f.id)`.execute(tx);
}

async function writeSightings(tx: TenantTx, { orgId, importId, sourceId }: Resolution): Promise<void> {
  await sql`
    insert into sightings as s (org_id, finding_id, source_id, external_id, state, severity, tool_severity, suppressed, content, first_seen, last_seen, last_import_id, seen_import_id, records)
    select ${orgId}, g.finding_id, ${sourceId}, g.external_id, 'present', r.severity, r.tool_severity, r.suppressed, g.content,
      least(coalesce(r.first_seen, g.seen_at), g.seen_at), g.seen_at, ${importId}, ${importId}, least(g.rows, 32767)
    from tenant_import_groups g join tenant_import_rows r on r.org_id = ${orgId} and r.import_id = ${importId} and r.n = g.n
    where g.org_id = ${orgId} and g.import_id = ${importId} and g.outcome in ${changed}
    on conflict (org_id, finding_id, source_id) do update set
      external_id = excluded.external_id, state = 'present', severity = excluded.severity, tool_severity = excluded.tool_severity,
      suppressed = excluded.suppressed, content = excluded.content, last_seen = greatest(s.last_seen, excluded.last_seen), last_import_id = excluded.last_import_id, seen_import_id = excluded.seen_import_id,
      records = case s.state when 'present' then greatest(s.records, excluded.records) else excluded.records end`.execute(tx);
}

/** The same as for records that were recognized while they were staged. */
async function refreshLastSeen(tx: TenantTx, { orgId, importId, sourceId }: Resolution): Promise<void> {
  const seen = sql`
    from tenant_import_groups g
    where g.org_id = ${orgId} and g.import_id = ${importId} and g.outcome = 'unchanged' and g.present`;
  await sql`update sightings s set last_seen = g.seen_at, last_import_id = ${importId}, seen_import_id = ${importId} ${seen}
    and s.org_id = ${orgId} and s.finding_id = g.finding_id and s.source_id = ${sourceId} and s.last_seen < date_trunc('day', g.seen_at, 'UTC')`.execute(tx);
  await sql`update findings f set last_seen = g.seen_at ${seen}
    and f.org_id = ${orgId} and f.id = g.finding_id and f.last_seen < date_trunc('day', g.seen_at, 'UTC')`.execute(tx);
}

async function countOutcomes(tx: TenantTx, { orgId, importId }: Resolution): Promise<Omit<Outcomes, 'withdrawn'>> {
  const { rows } = await sql<Omit<Outcomes, 'withdrawn'>>`
    select count(*) filter (where outcome = 'created')::int as created, count(*) filter (where outcome = 'updated')::int as updated,
      count(*) filter (where outcome = 'reopened')::int as reopened
    from tenant_import_groups where org_id = ${orgId} and import_id = ${importId}`.execute(tx);
  return rows[0] ?? { created: 0, updated: 0, reopened: 0 };
}
