import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Static } from 'typebox';
import { tenantAssets } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import type { DB } from '../../db/types.ts';
import type { FilterFields } from '../schemas.ts';
import { severityRank } from '../severity.ts';
import { activeStatuses } from '../status.ts';
import { queryWords } from '../words.ts';

/** The filters of the list, the export, bulk changes and work items. A filter means the same everywhere. */
export type FindingFilter = Static<typeof FilterFields>;

type FindingsDb = DB & { findings: DB['tenant_findings'] };
export type FindingSelect<Row> = SelectQueryBuilder<FindingsDb, 'findings', Row>;

const RANGES = [
  ['first_seen', 'first_seen'],
  ['last_seen', 'last_seen'],
  ['created', 'created_at'],
  ['updated', 'updated_at'],
  ['due', 'due_at'],
] as const;

/** The listed findings of the organization, through the view that lets GIN and expression indexes be used. See ADR 11. */
export function ownFindings(tx: TenantTx) {
  return tx.selectFrom('tenant_findings as findings').where('findings.listed', '=', true);
}

/**
 * `lookup` finds matches through indexes: several facets are combined in the GIN index, and a single one uses its own index. `scan` compares columns,
 * for callers that already walk along the rows.
 */
export function filterFindings<Row>(
  query: FindingSelect<Row>,
  orgId: string,
  filter: FindingFilter,
  strategy: 'lookup' | 'scan' = 'lookup',
): FindingSelect<Row> {
  let filtered = query.where('findings.org_id', '=', orgId);
  const { severity, status, asset_id, asset, component, kev, epss_min, risk_min, overdue, assurance } = filter;
  const faceted = strategy === 'lookup' && Object.keys(filter).length > 1;
  if (severity && !faceted) filtered = filtered.where('findings.severity', 'in', severity.map(severityRank));
  if (status && !faceted) filtered = filtered.where('findings.status', 'in', status);
  if (asset_id) filtered = filtered.where('findings.asset_id', '=', asset_id);
  if (asset) {
    filtered = filtered.where(
      sql<boolean>`findings.asset_id in (select assets.id from ${tenantAssets} assets where assets.org_id = ${orgId} and lower(assets.name) collate "C" like ${`${escapeLike(asset.toLowerCase())}%`})`,
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
  if (work_item_id) {
    filtered = filtered.where(
      sql<boolean>`findings.id in (select l.finding_id from finding_work_items l where l.org_id = ${orgId} and l.work_item_id = ${work_item_id})`,
    );
  }
  if (has_work_item !== undefined) {
    const linked = sql`select from finding_work_items l where l.org_id = ${orgId} and l.finding_id = findings.id and l.status <> 'cancelled'`;
    // `offset 0` keeps this a lookup per finding: most have no work item, and a join would read all links before the first page.
    filtered = filtered.where(has_work_item ? sql<boolean>`exists (${linked})` : sql<boolean>`not exists (${linked} offset 0)`);
  }
  if (filter.acceptance_requested !== undefined) {
    const pending = sql`select d.finding_id from decisions d where d.org_id = ${orgId} and d.state = 'requested'`;
    filtered = filtered.where(
      filter.acceptance_requested ? sql<boolean>`findings.id in (${pending})` : sql<boolean>`not exists (${pending} and d.finding_id = findings.id offset 0)`,
    );
  }
  if (filter.suppressed !== undefined) filtered = filtered.where(suppressedSql(orgId, filter.suppressed, faceted));
  for (const [name, column] of RANGES) {
    const from = filter[`${name}_from`];
    const to = filter[`${name}_to`];
    if (from) filtered = filtered.where(`findings.${column}`, '>=', new Date(from));
    if (to) filtered = filtered.where(`findings.${column}`, '<', new Date(to));
  }
  // A finding without a deadline is not due in any range.
  if (filter.due_from && !filter.due_to) filtered = filtered.where(sql<boolean>`findings.due_at < 'infinity'`);
  const words = allOf([...wordsOf(filter), ...(faceted ? facetsOf(filter, orgId) : [])]);
  if (words) filtered = filtered.where(sql<boolean>`${sql.ref(strategy === 'lookup' ? 'findings.facets' : 'findings.search')} @@ ${words}::tsquery`);
  return filtered;
}

/**
 * Whether all sources that still see the finding suppress it. Suppressed sightings are few and have their own index. `offset 0` keeps the row-level
 * security of sightings separate from findings, whose GIN index could not be used otherwise.
 */
function suppressedSql(orgId: string, suppressed: boolean, faceted: boolean): RawBuilder<boolean> {
  const seen = sql`select s.finding_id from sightings s where s.org_id = ${orgId} and s.state = 'present'`;
  const shown = sql`${seen} and not s.suppressed and s.finding_id = findings.id`;
  return suppressed
    ? sql`(findings.id in (${seen} and s.suppressed ${faceted ? sql`offset 0` : sql``}) and not exists (${shown} offset 0))`
    : sql`(not exists (${seen} and s.suppressed and s.finding_id = findings.id offset 0) or exists (${shown}))`;
}

/** A lexeme, or several that must all occur. */
type Alternatives = (string | string[])[] | undefined;

function wordsOf({ source, connection_id, asset_type, cve, cwe, tag, q }: FindingFilter): Alternatives[] {
  return [
    source?.map((provider) => `p:${provider}`),
    connection_id === undefined ? undefined : [`c:${connection_id}`],
    asset_type?.map((type) => `a:${type}`),
    cve?.map((id) => `v:${id.toLowerCase()}`),
    cwe?.map((number) => `k:${number}`),
    tag?.map((name) => `t:${name.toLowerCase()}`),
    ...(q ? queryWords(q).map(({ whole, parts }) => [`w:${whole}`, ...(parts.length > 0 ? [parts.map((part) => `w:${part}`)] : [])]) : []),
  ];
}

function facetsOf({ severity, status, assurance, kev, overdue }: FindingFilter, orgId: string): Alternatives[] {
  // Overdue findings are active, and most findings with an assurance are not. The index finds the few that are both.
  const statuses = status ?? (overdue && assurance ? activeStatuses : undefined);
  return [
    severity?.map((name) => `s:${severityRank(name)}${orgId}`),
    statuses?.map((name) => `x:${name}${orgId}`),
    assurance?.map((name) => `z:${name}${orgId}`),
    kev ? [`e:true${orgId}`] : undefined,
  ];
}

/** Values of one filter are alternatives. Filters and words of `q` are all required. */
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
