import type { Severity } from '@rrs/scan-reports';
import { type SelectQueryBuilder, sql } from 'kysely';
import type { DB } from '../db/types.ts';
import { severityRank } from './severity.ts';
import { splitWords } from './staging.ts';
import { type Assurance, activeStatuses, type Status } from './status.ts';

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
  kev?: boolean;
  epss_min?: number;
  risk_min?: number;
  overdue?: boolean;
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

export function filterFindings<Row>(query: FindingQuery<Row>, orgId: string, filter: FindingFilter): FindingQuery<Row> {
  let filtered = query.where('findings.org_id', '=', orgId);
  const { severity, status, source, connection_id, asset_id, asset, asset_type, component, kev, epss_min, risk_min, overdue, assurance } = filter;
  if (severity) filtered = filtered.where('findings.severity', 'in', severity.map(severityRank));
  if (status) filtered = filtered.where('findings.status', 'in', status);
  if (asset_id) filtered = filtered.where('findings.asset_id', '=', asset_id);
  if (asset_type) filtered = filtered.where('findings.asset_type', 'in', asset_type);
  if (asset) {
    filtered = filtered.where(
      sql<boolean>`findings.asset_id in (select id from assets where assets.org_id = ${orgId} and lower(assets.name) collate "C" like ${`${escapeLike(asset.toLowerCase())}%`})`,
    );
  }
  if (source || connection_id) {
    const bySource = sql`(sources.kind <> 'connection' and sources.provider = any(${source ?? []}::text[])) or sources.id = ${connection_id ?? null}::uuid`;
    filtered = filtered.where(sql<boolean>`findings.source_ids && array(select id from sources where sources.org_id = ${orgId} and (${bySource}))`);
  }
  if (component) filtered = filtered.where(sql<boolean>`lower(findings.component) = ${component.toLowerCase()}`);
  if (kev !== undefined) filtered = filtered.where('findings.kev', '=', kev);
  if (epss_min !== undefined) filtered = filtered.where('findings.epss', '>=', epss_min);
  if (risk_min !== undefined) filtered = filtered.where('findings.risk_score', '>=', risk_min);
  if (assurance) filtered = filtered.where('findings.assurance', 'in', assurance);
  if (overdue !== undefined) {
    const late = sql<boolean>`(findings.due_at < now() and findings.status = any(${activeStatuses as readonly string[]}))`;
    filtered = filtered.where(overdue ? late : sql<boolean>`not ${late}`);
  }
  for (const [name, column] of RANGES) {
    const from = filter[`${name}_from`];
    const to = filter[`${name}_to`];
    if (from) filtered = filtered.where(`findings.${column}`, '>=', new Date(from));
    if (to) filtered = filtered.where(`findings.${column}`, '<', new Date(to));
  }
  const words = wordQuery(filter);
  if (words) filtered = filtered.where(sql<boolean>`findings.search @@ ${words}::tsquery`);
  return filtered;
}

/** Values of one filter are alternatives, filters and words of `q` are all required. */
function wordQuery({ cve, cwe, tag, q }: FindingFilter): string | null {
  const groups = [
    cve?.map((id) => `v:${id.toLowerCase()}`),
    cwe?.map((number) => `k:${number}`),
    tag?.map((name) => `t:${name.toLowerCase()}`),
    ...(q ? splitWords(q).map((word) => [`w:${word}`]) : []),
  ].flatMap((alternatives) => (alternatives && alternatives.length > 0 ? [alternatives] : []));
  if (groups.length === 0) return null;
  return groups.map((alternatives) => `(${alternatives.map(lexeme).join(' | ')})`).join(' & ');
}

function lexeme(word: string): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&');
}
