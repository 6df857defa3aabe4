import { severities } from '@rrs/scan-reports';
import { type RawBuilder, sql } from 'kysely';
import { assetFacts } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type PageRequest, presentPage, type SortColumns } from '../../db/pages.ts';
import { filterFindings, ownFindings } from '../list/filter.ts';
import { type FindingFilter, prepareFilter } from '../list/prepare-filter.ts';
import { severityRank } from '../severity.ts';
import { activeStatuses } from '../status.ts';
import { record } from './trend.ts';

interface Grouping {
  /** The groups that a finding belongs to: an array of text. */
  keys: RawBuilder<unknown>;
  /** The filter that lists the findings of a group. */
  filter: (key: string) => FindingFilter;
}

/** A finding with several CVEs or CWEs belongs to several groups, as it is listed for each of them. */
const groupings = {
  asset: { keys: sql`array[findings.asset_id::text]`, filter: (key) => ({ asset_id: key }) },
  component: {
    keys: sql`case when findings.component is null then '{}'::text[] else array[lower(findings.component)] end`,
    filter: (key) => ({ component: key }),
  },
  vulnerability: {
    keys: sql`case when findings.vulnerability_ids[1] like 'CVE-%' then array(select id from unnest(findings.vulnerability_ids) id where id like 'CVE-%')
      else findings.vulnerability_ids[1:1] end`,
    filter: (key) => ({ cve: [key] }),
  },
  cwe: { keys: sql`findings.cwes::text[]`, filter: (key) => ({ cwe: [Number(key)] }) },
} as const satisfies Record<string, Grouping>;

export type GroupBy = keyof typeof groupings;
export const groupedBy = Object.keys(groupings) as readonly GroupBy[];

interface GroupRow {
  id: string;
  key: string;
  label: string;
  count: number;
  active: number;
  max_risk: number;
  assets: number;
  severities: number[];
}

const COLUMNS = ['findings.id', 'findings.asset_id', 'findings.title', 'findings.status', 'findings.severity', 'findings.risk_score'] as const;
const ranks = severities.map(severityRank);

/** Groups of the findings that match, each with the filter that lists its findings. */
export async function listGroups(tx: TenantTx, orgId: string, { by, filter }: { by: GroupBy; filter: FindingFilter }, page: PageRequest) {
  const prepared = await prepareFilter(tx, orgId, filter);
  const matching = filterFindings(ownFindings(tx).select(COLUMNS).select(groupings[by].keys.as('keys')), orgId, prepared);
  const worst = sql`(array_agg(findings.title order by findings.risk_score desc, findings.id))[1]`;
  const groups = sql<GroupRow>`(
    select md5(key)::uuid as id, key, ${by === 'vulnerability' ? worst : sql`key`} as label, count(*)::int as count,
      count(*) filter (where status = any(${activeStatuses as readonly string[]}))::int as active, max(risk_score) as max_risk, count(distinct asset_id)::int as assets,
      array[${sql.join(ranks.map((rank) => sql`count(*) filter (where severity = ${rank})::int`))}] as severities
    from (${matching}) findings, unnest(findings.keys) key group by key)`.as('groups');
  const columns: SortColumns<GroupRow> = {
    max_risk: { column: 'max_risk', type: 'real' },
    count: { column: 'count', type: 'integer' },
    active: { column: 'active', type: 'integer' },
    assets: { column: 'assets', type: 'integer' },
  };
  const found = await fetchPage(tx, tx.selectFrom(groups).selectAll(), columns, page);
  const names = by === 'asset' ? await assetNames(tx, orgId, found.data) : null;
  return presentPage(found, ({ id: _id, severities: counts, ...group }) => ({
    ...group,
    label: names ? (names.get(group.key) ?? group.key) : by === 'cwe' ? `CWE-${group.key}` : group.label,
    by_severity: record(severities, (severity) => counts[severities.indexOf(severity)] ?? 0),
    filter: groupings[by].filter(group.key),
  }));
}

async function assetNames(tx: TenantTx, orgId: string, groups: readonly GroupRow[]): Promise<Map<string, string>> {
  const ids = groups.map(({ key }) => key);
  const { rows } = await sql<{
    id: string;
    name: string;
  }>`select id, name from ${assetFacts} assets where org_id = ${orgId} and id = any(${ids}::uuid[])`.execute(tx);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** The groups with the most active findings. */
export async function readTop(tx: TenantTx, orgId: string, { by, filter, limit }: { by: GroupBy; filter: FindingFilter; limit: number }) {
  const active = filter.status ? activeStatuses.filter((status) => filter.status?.includes(status)) : [...activeStatuses];
  if (active.length === 0) return [];
  const page = { limit, sort: '-active', total: 'none' as const, position: null, seal: () => '' };
  return (await listGroups(tx, orgId, { by, filter: { ...filter, status: active } }, page)).data.map(
    ({ key, label, active: count, by_severity, max_risk, assets, filter: own }) => ({
      key,
      label,
      active: count,
      critical: by_severity.critical,
      max_risk,
      assets,
      filter: own,
    }),
  );
}
