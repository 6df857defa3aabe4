import { assetTypes, severities } from '@rrs/scan-reports';
import { cwesOf } from '@rrs/scan-reports/normalize.ts';
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { DB } from '../../db/types.ts';
import { sourcesOfKinds } from '../fields/source-kinds.ts';
import { normalPath } from '../identity/paths.ts';
import { severityRank } from '../severity.ts';
import { activeStatuses, statuses } from '../status.ts';
import { wholeWords } from '../words.ts';
import {
  assetConditions,
  componentSql,
  fixFirstSql,
  importSql,
  newSinceSql,
  overdueSql,
  ruleSql,
  suppressedSql,
  trackSql,
  versionSql,
  workItemConditions,
} from './conditions.ts';
import { toFix } from './fix-first.ts';
import { allOf, anyOf, lexeme, matchQuery, vulnerabilityQuery } from './lexemes.ts';
import { pathSql } from './path-filter.ts';
import type { FindingFilter, PreparedFilter } from './prepare-filter.ts';
import type { Match } from './search.ts';

type FindingsDb = DB & { findings: DB['tenant_findings'] };
export type FindingSelect<Row> = SelectQueryBuilder<FindingsDb, 'findings', Row>;

const RANGES = [
  ['first_seen', 'first_seen'],
  ['last_seen', 'last_seen'],
  ['created', 'created_at'],
  ['updated', 'updated_at'],
  ['due', 'due_at'],
] as const;

/** The findings of the organization, through the view that lets GIN and expression indexes be used. See ADR 11. */
export function ownFindings(tx: TenantTx) {
  return tx.selectFrom('tenant_findings as findings');
}

/**
 * `lookup` finds matches through indexes: several facets are combined in the GIN index, and a single one uses its own index. `scan` compares columns,
 * for callers that already walk along the rows.
 */
export function filterFindings<Row>(
  query: FindingSelect<Row>,
  orgId: string,
  prepared: PreparedFilter,
  strategy: 'lookup' | 'scan' = 'lookup',
): FindingSelect<Row> {
  let filtered = query
    .where('findings.org_id', '=', orgId)
    .where(prepared.unlisted ? sql<boolean>`findings.merged_into is null` : sql<boolean>`findings.listed`);
  const { filter } = prepared;
  const { asset_id, epss_min, risk_min, overdue, kev } = filter;
  const { severity, status, assurance } = choicesOf(filter);
  const faceted = strategy === 'lookup' && Object.keys(filter).length > 1;
  if (severity && !faceted) filtered = filtered.where(oneOfSql(severity.map(severityRank)));
  if (status && !faceted) filtered = filtered.where(sql<boolean>`findings.status = any(${status}::text[])`);
  if (asset_id) filtered = filtered.where('findings.asset_id', '=', asset_id);
  if (assurance && strategy === 'scan') filtered = filtered.where('findings.assurance', 'in', assurance);
  if (kev !== undefined && !(kev && faceted)) filtered = filtered.where('findings.kev', '=', kev);
  if (epss_min !== undefined) filtered = filtered.where('findings.epss', '>=', epss_min);
  if (risk_min !== undefined) filtered = filtered.where('findings.risk_score', '>=', risk_min);
  if (overdue !== undefined) {
    const late = overdueSql(orgId);
    filtered = filtered.where(overdue ? late : sql<boolean>`not ${late}`);
  }
  if (filter.fix_first !== undefined) filtered = filtered.where(filter.fix_first ? fixFirstSql(orgId) : sql<boolean>`not ${fixFirstSql(orgId)}`);
  for (const condition of conditionsOf(orgId, prepared, strategy, faceted)) filtered = filtered.where(condition);
  for (const [name, column] of RANGES) {
    const from = filter[`${name}_from`];
    const to = filter[`${name}_to`];
    if (from) filtered = filtered.where(`findings.${column}`, '>=', new Date(from));
    if (to) filtered = filtered.where(`findings.${column}`, '<', new Date(to));
  }
  // A finding without a deadline is not due in any range.
  if (filter.due_from && !filter.due_to) filtered = filtered.where(sql<boolean>`findings.due_at < 'infinity'`);
  const rare = strategy === 'lookup' ? rareWords(prepared) : null;
  // The index reads all entries of a prefix, and an id alone leaves few findings to compare the other words with.
  if (rare && prepared.search) filtered = filtered.where(sql<boolean>`findings.search @@ ${matchQuery(prepared.search, prepared.aliasesOf)}::tsquery`);
  const words = [
    ...wordQueries(rare ? { ...prepared, search: rare } : prepared),
    ...(strategy === 'lookup' ? indexedOnly(filter, orgId) : []),
    ...(faceted ? facetsOf(filter, orgId) : []),
  ];
  if (words.length === 0) return filtered;
  return filtered.where(sql<boolean>`${sql.ref(strategy === 'lookup' ? 'findings.facets' : 'findings.search')} @@ ${allOf(words)}::tsquery`);
}

/**
 * Before version 17, PostgreSQL does not walk along the index of a column that it compares with several values, only along a range. So the range is given as
 * well, or alone if it has no gaps: with both conditions, the planner would expect too few matches.
 */
function oneOfSql(ranks: readonly number[]): RawBuilder<boolean> {
  const oneOf = sql<boolean>`findings.severity = any(${ranks}::smallint[])`;
  if (ranks.length === 0) return oneOf;
  const [least, most] = [Math.min(...ranks), Math.max(...ranks)];
  const inRange = sql<boolean>`findings.severity between ${least} and ${most}`;
  return most - least + 1 === new Set(ranks).size ? inRange : sql<boolean>`${oneOf} and ${inRange}`;
}

function conditionsOf(orgId: string, prepared: PreparedFilter, strategy: 'lookup' | 'scan', faceted: boolean): RawBuilder<boolean>[] {
  const { filter } = prepared;
  const { component, not_component, path, not_path, rule, not_rule, track, new_since_track, asset_id, asset_version, import_id } = filter;
  const { suppressed, acceptance_requested, severity_disputed, has_fix } = filter;
  const conditions = [...assetConditions(orgId, prepared), ...workItemConditions(orgId, filter)];
  const add = (condition: RawBuilder<boolean>): void => void conditions.push(condition);
  if (component) add(componentSql(component));
  for (const name of not_component ?? []) add(sql`(findings.component is null or not ${componentSql(name)})`);
  if (path) add(pathSql(orgId, path));
  for (const one of not_path ?? []) add(sql`not ${pathSql(orgId, one)}`);
  if (rule) add(ruleSql(rule));
  if (not_rule) add(sql`(findings.rule is null or not ${ruleSql(not_rule)})`);
  if (track) add(trackSql(orgId, track, prepared));
  if (new_since_track) add(newSinceSql(orgId, new_since_track));
  if (asset_version && asset_id) add(versionSql(orgId, asset_id, asset_version));
  if (import_id) add(importSql(orgId, import_id));
  if (acceptance_requested !== undefined) {
    const pending = sql`select d.finding_id from decisions d where d.org_id = ${orgId} and d.state = 'requested'`;
    add(acceptance_requested ? sql`findings.id in (${pending})` : sql`not exists (${pending} and d.finding_id = findings.id offset 0)`);
  }
  const others = kindsOf(prepared)?.others;
  if (others) add(sql`not findings.source_ids <@ ${others}::uuid[]`);
  if (suppressed !== undefined) add(suppressedSql(orgId, suppressed, faceted));
  if (severity_disputed !== undefined && (strategy === 'scan' || !severity_disputed)) add(sql`findings.severity_disputed = ${severity_disputed}`);
  if (has_fix !== undefined && strategy === 'scan') {
    add(sql`(coalesce(findings.fix_state = 'available', false) or findings.location ? 'fixed_version') = ${has_fix}`);
  }
  const excluded = excludedQueries(prepared);
  // An index cannot find what does not match.
  if (excluded.length > 0) add(sql`not findings.search @@ ${anyOf(excluded)}::tsquery`);
  return conditions;
}

/** Of the filters with a fixed set of values, exclusions are the remaining values, which the indexes find. */
function choicesOf(filter: FindingFilter) {
  const { severity, not_severity, status, not_status, asset_type, not_asset_type, assurance } = filter;
  return {
    severity: remaining(severities, severity, not_severity),
    status: remaining(statuses, status, not_status),
    asset_type: remaining(assetTypes, asset_type, not_asset_type),
    assurance,
  };
}

function remaining<Value extends string>(all: readonly Value[], included?: readonly Value[], excluded?: readonly Value[]): Value[] | undefined {
  if (!excluded) return included ? [...included] : undefined;
  return (included ?? all).filter((value) => !excluded.includes(value));
}

const kindsOf = ({ filter: { source_kind }, sources }: PreparedFilter) => source_kind && sourcesOfKinds(sources ?? [], source_kind);

/** Values of one filter are alternatives. Filters and words of `q` are all required. */
function wordQueries(prepared: PreparedFilter): string[] {
  const { filter, search, aliasesOf, otherSources } = prepared;
  const { source, connection_id, cve, cwe, tag, path, rule } = filter;
  const { asset_type } = choicesOf(filter);
  const queries = [
    source?.map((provider) => lexeme(`p:${provider.toLowerCase()}`)),
    otherSources?.map((provider) => lexeme(`p:${provider}`)),
    kindsOf(prepared)?.words.map((word) => lexeme(word)),
    connection_id === undefined ? undefined : [lexeme(`c:${connection_id}`)],
    asset_type?.map((type) => lexeme(`a:${type}`)),
    cve?.map((id) => vulnerabilityQuery(id, aliasesOf)),
    cwe === undefined ? undefined : cwesOf(cwe).map((number) => lexeme(`k:${number}`)),
    tag?.map((name) => lexeme(`t:${name.toLowerCase()}`)),
    path === undefined ? undefined : pathQuery(path),
    rule && some(rule.map(ruleQuery)),
    search ? [matchQuery(search, aliasesOf)] : undefined,
  ];
  return queries.flatMap((alternatives) => (alternatives ? [anyOf(alternatives)] : []));
}

/** The ids among the required words of `q`, if there are other words as well. */
function rareWords({ search }: PreparedFilter): Match | null {
  if (!search || !('all' in search) || search.all.length < 2) return null;
  const ids = search.all.filter((match) => 'any' in match && match.any.some((one) => 'id' in one));
  return ids.length > 0 && ids.length < search.all.length ? { all: ids } : null;
}

/** The words by which the index finds a rule. The column decides. */
function ruleQuery(rule: string): string[] | undefined {
  const words = wholeWords(rule).slice(0, 5);
  return words.length === 0 ? undefined : [allOf(words.map((word) => lexeme(`w:${word}`)))];
}

/** The words by which the index finds a file and what is below a folder. The column decides. */
function pathQuery(path: string): string[] | undefined {
  const words = wholeWords(normalPath(path)).slice(0, 5);
  return words.length === 0 ? undefined : [allOf(words.map((word) => anyOf([lexeme(`w:${word}`), lexeme(`w:${word}/`, true)])))];
}

/** Undefined if one of the alternatives has no words. */
function some(alternatives: (string[] | undefined)[]): string[] | undefined {
  return alternatives.includes(undefined) ? undefined : alternatives.flatMap((queries) => queries ?? []);
}

function excludedQueries({ filter: { not_source, not_cve, not_tag }, aliasesOf }: PreparedFilter): string[] {
  return [
    ...(not_source ?? []).map((provider) => lexeme(`p:${provider.toLowerCase()}`)),
    ...(not_cve ?? []).map((id) => vulnerabilityQuery(id, aliasesOf)),
    ...(not_tag ?? []).map((name) => lexeme(`t:${name.toLowerCase()}`)),
  ];
}

/** Facets that have no index of their own. */
function indexedOnly({ has_fix, severity_disputed, assurance }: FindingFilter, orgId: string): string[] {
  return [
    ...(has_fix === undefined ? [] : [lexeme(`g:${has_fix}${orgId}`)]),
    ...(severity_disputed ? [lexeme(`d:true${orgId}`)] : []),
    ...facet('z', assurance, orgId),
  ];
}

function facet(name: string, values: readonly (string | number)[] | undefined, orgId: string): string[] {
  return values ? [anyOf(values.map((value) => lexeme(`${name}:${value}${orgId}`)))] : [];
}

/** The statuses that findings have if they are to be fixed first or are overdue. */
function outstanding({ fix_first, overdue }: FindingFilter): readonly string[] | undefined {
  return fix_first ? toFix : overdue ? activeStatuses : undefined;
}

function facetsOf(filter: FindingFilter, orgId: string): string[] {
  const { severity, status, assurance } = choicesOf(filter);
  // Overdue findings are active, and most findings with an assurance are not. The index finds the few that are both.
  const open = outstanding(filter);
  const chosen = open ? (status?.filter((each) => open.includes(each)) ?? (assurance ? open : undefined)) : status;
  return [...facet('s', severity?.map(severityRank), orgId), ...facet('x', chosen, orgId), ...facet('e', filter.kev ? ['true'] : undefined, orgId)];
}
