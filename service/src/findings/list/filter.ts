import type { Severity } from '@rrs/scan-reports';
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { DB } from '../../db/types.ts';
import { severityRank } from '../severity.ts';
import { type Assurance, activeStatuses, type Status } from '../status.ts';
import { soughtWords } from '../words.ts';

/** The filters of the list, of the export and of bulk changes: the same words mean the same everywhere. */
export interface FindingFilter {
  severity?: Severity[];
  status?: Status[];
  source?: string[];
  connection_id?: string;
  asset_id?: string;
  asset?: string;
  asset_type?: string[];
  cve?: string[];
  cwe?: number[];
  component?: string;
  work_item_id?: string;
  has_work_item?: boolean;
  kev?: boolean;
  epss_min?: number;
  risk_min?: number;
  overdue?: boolean;
  suppressed?: boolean;
  assurance?: Assurance[];
  tag?: string[];
  q?: string;
  first_seen_from?: string;
  first_seen_to?: string;
  last_seen_from?: string;
  last_seen_to?: string;
  created_from?: string;
  created_to?: string;
  updated_from?: string;
  updated_to?: string;
  due_from?: string;
  due_to?: string;
}

type FindingQuery<Row> = SelectQueryBuilder<DB, 'findings', Row>;

const RANGES = [
  ['first_seen', 'first_seen'],
  ['last_seen', 'last_seen'],
  ['created', 'created_at'],
  ['updated', 'updated_at'],
  ['due', 'due_at'],
] as const;

/** The findings of the organization, by the view that lets indexes on words be used: see the migration. */
export function ownFindings(tx: TenantTx): SelectQueryBuilder<DB, 'findings', object> {
  return tx.selectFrom(sql`tenant_findings`.as('findings')) as never;
}

/**
 * Looking `up` what matches, several facets are met in one index; one alone has an index that counts without a look at the rows. Who goes
 * `along` the rows compares their columns.
 */
export function filterFindings<Row>(query: FindingQuery<Row>, orgId: string, filter: FindingFilter, way: 'up' | 'along' = 'up'): FindingQuery<Row> {
  let filtered = query.where('findings.org_id', '=', orgId);
  const { severity, status, asset_id, asset, component, kev, epss_min, risk_min, overdue, assurance } = filter;
  const faceted = way === 'up' && Object.keys(filter).length > 1;
  if (severity && !faceted) filtered = filtered.where('findings.severity', 'in', severity.map(severityRank));
  if (status && !faceted) filtered = filtered.where('findings.status', 'in', status);
  if (asset_id) filtered = filtered.where('findings.asset_id', '=', asset_id);
  if (asset) {
    filtered = filtered.where(
      sql<boolean>`findings.asset_id in (select assets.id from tenant_assets assets where assets.org_id = ${orgId} and lower(assets.name) collate "C" like ${`${escapeLike(asset.toLowerCase())}%`})`,
    );
  }
  if (component) filtered = filtered.where(sql<boolean>`lower(findings.component) = ${component.toLowerCase()}`);
  if (assurance && !faceted) filtered = filtered.where('findings.assurance', 'in', assurance);
  if (kev !== undefined && !(kev && faceted)) filtered = filtered.where('findings.kev', '=', kev);
  if (epss_min !== undefined) filtered = filtered.where('findings.epss', '>=', epss_min);
  if (risk_min !== undefined) filtered = filtered.where('findings.risk_score', '>=', risk_min);
  if (overdue !== undefined) {
    const late = sql<boolean>`(findings.due_at < now() and findings.status = any(${activeStatuses as readonly string[]}))`;
    filtered = filtered.where(overdue ? late : sql<boolean>`not ${late}`);
  }
  const { work_item_id, has_work_item } = filter;
  const link = sql`work_item_findings l where l.org_id = ${orgId} and l.unlinked_at is null`;
  if (work_item_id) filtered = filtered.where(sql<boolean>`findings.id in (select l.finding_id from ${link} and l.work_item_id = ${work_item_id})`);
  if (has_work_item !== undefined) {
    const cancelled = sql`(select w.id from work_items w where w.org_id = ${orgId} and w.status = 'cancelled')`;
    const linked = sql`select from ${link} and l.finding_id = findings.id and l.work_item_id not in ${cancelled}`;
    // Looked up for one finding after the other, which the offset is for: most have none, and a join would read all the links before the first page.
    filtered = filtered.where(has_work_item ? sql<boolean>`exists (${linked})` : sql<boolean>`not exists (${linked} offset 0)`);
  }
  if (filter.suppressed !== undefined) filtered = filtered.where(suppressedSql(orgId, filter.suppressed, faceted));
  for (const [name, column] of RANGES) {
    const from = filter[`${name}_from`];
    const to = filter[`${name}_to`];
    if (from) filtered = filtered.where(`findings.${column}`, '>=', new Date(from));
    if (to) filtered = filtered.where(`findings.${column}`, '<', new Date(to));
  }
  // Without a deadline is not late in the future.
  if (filter.due_from && !filter.due_to) filtered = filtered.where(sql<boolean>`findings.due_at < 'infinity'`);
  const words = allOf([...wordsOf(filter), ...(faceted ? facetsOf(filter, orgId) : [])]);
  if (words) filtered = filtered.where(sql<boolean>`${sql.ref(way === 'up' ? 'findings.facets' : 'findings.search')} @@ ${words}::tsquery`);
  return filtered;
}

/**
 * Whether every source that still sees it wants it ignored. Few do, and their findings have an index of their own. An offset keeps the
 * policy of sightings apart from findings, whose index of words could not be used beside it.
 */
function suppressedSql(orgId: string, suppressed: boolean, faceted: boolean): RawBuilder<boolean> {
  const seen = sql`select s.finding_id from sightings s where s.org_id = ${orgId} and s.state = 'present'`;
  const shown = sql`${seen} and not s.suppressed and s.finding_id = findings.id`;
  return suppressed
    ? sql`(findings.id in (${seen} and s.suppressed ${faceted ? sql`offset 0` : sql``}) and not exists (${shown} offset 0))`
    : sql`(not exists (${seen} and s.suppressed and s.finding_id = findings.id offset 0) or exists (${shown}))`;
}

/** A word, or several that stand for it together. */
type Alternatives = (string | string[])[] | undefined;

function wordsOf({ source, connection_id, asset_type, cve, cwe, tag, q }: FindingFilter): Alternatives[] {
  return [
    source?.map((provider) => `p:${provider}`),
    connection_id === undefined ? undefined : [`c:${connection_id}`],
    asset_type?.map((type) => `a:${type}`),
    cve?.map((id) => `v:${id.toLowerCase()}`),
    cwe?.map((number) => `k:${number}`),
    tag?.map((name) => `t:${name.toLowerCase()}`),
    ...(q ? soughtWords(q).map(({ whole, parts }) => [`w:${whole}`, ...(parts.length > 0 ? [parts.map((part) => `w:${part}`)] : [])]) : []),
  ];
}

function facetsOf({ severity, status, assurance, kev, overdue }: FindingFilter, orgId: string): Alternatives[] {
  // What is late is still open, and most of what has an assurance is not: the few that are both are met in the index.
  const statuses = status ?? (overdue && assurance ? activeStatuses : undefined);
  return [
    severity?.map((name) => `s:${severityRank(name)}${orgId}`),
    statuses?.map((name) => `x:${name}${orgId}`),
    assurance?.map((name) => `z:${name}${orgId}`),
    kev ? [`e:true${orgId}`] : undefined,
  ];
}

/** Values of one filter are alternatives, filters and words of `q` are all required. */
function allOf(required: Alternatives[]): string | null {
  const groups = required.flatMap((alternatives) => (alternatives && alternatives.length > 0 ? [`(${alternatives.map(term).join(' | ')})`] : []));
  return groups.length === 0 ? null : groups.join(' & ');
}

function term(words: string | string[]): string {
  return typeof words === 'string' ? lexeme(words) : `(${words.map(lexeme).join(' & ')})`;
}

function lexeme(word: string): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&');
}
