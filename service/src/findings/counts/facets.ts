import { assetTypes, severities } from '@rrs/scan-reports';
import { type RawBuilder, sql } from 'kysely';
import { tenantAssets } from '../../assets/relations.ts';
import { criticalities, exposures } from '../../assets/values.ts';
import type { TenantTx } from '../../db/database.ts';
import { COUNT_LIMIT } from '../../db/pages.ts';
import { readSourceGroups, type SourceKind, sourceKinds } from '../fields/source-kinds.ts';
import { overdueSql } from '../list/conditions.ts';
import { filterFindings, ownFindings } from '../list/filter.ts';
import { type FindingFilter, type PreparedFilter, prepareFilter } from '../list/prepare-filter.ts';
import { severityRank } from '../severity.ts';
import { assurances, statuses } from '../status.ts';

interface Facet {
  /** The filters that the facet replaces by one of its values. */
  replaces: readonly (keyof FindingFilter)[];
  /** The values, or null for those of the organization. */
  values: readonly string[] | null;
  /** Whether a finding can have several of the values. */
  hasSeveral?: true;
  filter: (value: string) => FindingFilter;
  /** The value of a row of `findings`, as text, or an array of values. */
  of: (orgId: string) => RawBuilder<unknown>;
}

const yesOrNo = ['true', 'false'] as const;
const isTrue = (value: string): boolean => value === 'true';
const ofAsset = (column: 'criticality' | 'exposure') => (orgId: string) =>
  sql`(select a.${sql.ref(column)} from ${tenantAssets} a where a.org_id = ${orgId} and a.id = findings.asset_id)`;

/** Every facet has the values of one filter, so that each count is the total of a list. */
const facets = {
  severity: {
    replaces: ['severity', 'not_severity'],
    values: severities,
    filter: (value) => ({ severity: [value as (typeof severities)[number]] }),
    of: () => sql`(${severities.toSorted((a, b) => severityRank(a) - severityRank(b)) as readonly string[]}::text[])[1 + findings.severity]`,
  },
  status: {
    replaces: ['status', 'not_status'],
    values: statuses,
    filter: (value) => ({ status: [value as (typeof statuses)[number]] }),
    of: () => sql`findings.status`,
  },
  source: {
    replaces: ['source', 'not_source'],
    values: null,
    hasSeveral: true,
    filter: (value) => ({ source: [value] }),
    of: () => sql`array(select substr(word, 3) from unnest(tsvector_to_array(findings.search)) word where word like 'p:%')`,
  },
  source_kind: {
    replaces: ['source_kind'],
    values: sourceKinds,
    hasSeveral: true,
    filter: (value) => ({ source_kind: [value as SourceKind] }),
    of: (orgId) => sql`array(select distinct o.kind from sources o where o.org_id = ${orgId} and o.id = any(findings.source_ids))`,
  },
  asset_type: {
    replaces: ['asset_type', 'not_asset_type'],
    values: assetTypes,
    filter: (value) => ({ asset_type: [value as (typeof assetTypes)[number]] }),
    of: () => sql`findings.asset_type`,
  },
  assurance: {
    replaces: ['assurance'],
    values: assurances,
    filter: (value) => ({ assurance: [value as (typeof assurances)[number]] }),
    of: () => sql`findings.assurance`,
  },
  criticality: {
    replaces: ['criticality'],
    values: criticalities,
    filter: (value) => ({ criticality: [value as (typeof criticalities)[number]] }),
    of: ofAsset('criticality'),
  },
  exposure: {
    replaces: ['exposure'],
    values: exposures,
    filter: (value) => ({ exposure: [value as (typeof exposures)[number]] }),
    of: ofAsset('exposure'),
  },
  kev: { replaces: ['kev'], values: yesOrNo, filter: (value) => ({ kev: isTrue(value) }), of: () => sql`findings.kev::text` },
  has_fix: {
    replaces: ['has_fix'],
    values: yesOrNo,
    filter: (value) => ({ has_fix: isTrue(value) }),
    of: () => sql`(coalesce(findings.fix_state = 'available', false) or findings.location ? 'fixed_version')::text`,
  },
  overdue: {
    replaces: ['overdue'],
    values: yesOrNo,
    filter: (value) => ({ overdue: isTrue(value) }),
    of: (orgId) => sql`${overdueSql(orgId)}::text`,
  },
  has_work_item: {
    replaces: ['has_work_item'],
    values: yesOrNo,
    filter: (value) => ({ has_work_item: isTrue(value) }),
    of: (orgId) => sql`exists (select from finding_work_items l where l.org_id = ${orgId} and l.finding_id = findings.id and l.status <> 'cancelled')::text`,
  },
} as const satisfies Record<string, Facet>;

export type FacetName = keyof typeof facets;
export const facetNames = Object.keys(facets) as readonly FacetName[];

interface Count {
  count: number;
  relation: 'exact' | 'at_least';
}

export interface Facets {
  total: Count;
  data: Partial<Record<FacetName, (Count & { value: string })[]>>;
}

interface Wanted {
  filter: FindingFilter;
  by: readonly FacetName[];
  /** Where counting stops. */
  limit?: number;
}

/** Findings that match, without the filters of the facets that are counted among them. */
interface Base {
  filter: FindingFilter;
  names: FacetName[];
}

/**
 * Counts the findings that match the filter by the values of each facet, which replace the filter's own values. If few findings match, they are read once
 * and counted. If many do, each value is counted like the total of a list, which stops at the limit.
 */
export async function readFacets(tx: TenantTx, orgId: string, { filter, by, limit = COUNT_LIMIT }: Wanted): Promise<Facets> {
  const names = [...new Set(by)];
  const prepared = await prepareFilter(tx, orgId, filter);
  const sources = prepared.sources ?? (names.includes('source_kind') ? await readSourceGroups(tx, orgId) : null);
  const within = (changed: FindingFilter): PreparedFilter => ({
    ...prepared,
    filter: changed,
    sources,
    otherSources: changed.not_source ? prepared.otherSources : null,
  });
  const bases = basesOf(filter, names);
  const [providers, ...counts] = await Promise.all([
    names.includes('source') ? readProviders(tx, orgId) : [],
    ...bases.map((base) => countFew(tx, orgId, within(base.filter), base, limit)),
  ]);
  const valuesOf = (name: FacetName): readonly string[] => facets[name].values ?? providers;
  const data: Facets['data'] = {};
  const many: { name: FacetName; value: string; matching: FindingFilter }[] = [];
  for (const [at, base] of bases.entries()) {
    const found = counts[at];
    for (const name of base.names) {
      if (found?.by) data[name] = valuesOf(name).map((value) => ({ value, count: found.by?.get(`${name}=${value}`) ?? 0, relation: 'exact' }));
      else for (const value of valuesOf(name)) many.push({ name, value, matching: { ...base.filter, ...facets[name].filter(value) } });
    }
  }
  const bounded = await countEach(
    tx,
    orgId,
    many.map(({ matching }) => within(matching)),
    limit,
  );
  for (const [at, { name, value }] of many.entries()) data[name] = [...(data[name] ?? []), { value, ...shown(bounded[at] ?? 0, limit) }];
  return { total: shown(counts[0]?.count ?? 0, limit), data };
}

/** The first base is the filter itself, whose matches are the total. */
function basesOf(filter: FindingFilter, names: readonly FacetName[]): Base[] {
  const isUsed = (name: FacetName): boolean => facets[name].replaces.some((own) => filter[own] !== undefined);
  const without = (name: FacetName): FindingFilter =>
    Object.fromEntries(Object.entries(filter).filter(([own]) => !(facets[name].replaces as readonly string[]).includes(own)));
  return [{ filter, names: names.filter((name) => !isUsed(name)) }, ...names.filter(isUsed).map((name) => ({ filter: without(name), names: [name] }))];
}

function shown(count: number, limit: number): Count {
  return count > limit ? { count: limit, relation: 'at_least' } : { count, relation: 'exact' };
}

async function readProviders(tx: TenantTx, orgId: string): Promise<string[]> {
  const rows = await tx.selectFrom('sources').select('provider').distinct().where('org_id', '=', orgId).orderBy('provider').execute();
  return rows.map(({ provider }) => provider);
}

/** Counts the matches by value if there are not more than the limit. */
async function countFew(tx: TenantTx, orgId: string, prepared: PreparedFilter, { names }: Base, limit: number) {
  const matching = filterFindings(ownFindings(tx).selectAll('findings'), orgId, prepared).limit(limit + 1);
  const pairs = names.map((name) => {
    const value = facets[name].of(orgId);
    return 'hasSeveral' in facets[name] ? sql`select ${name}, unnest(${value})` : sql`select ${name}, ${value}`;
  });
  const { rows } = await sql<{ facet: string | null; value: string | null; count: number }>`
    with findings as materialized (${matching}), matched as (select count(*)::int as count from findings)
    select null as facet, null as value, count from matched
    ${
      pairs.length === 0
        ? sql``
        : sql`union all select facet, value, count(*)::int from findings cross join lateral (${sql.join(pairs, sql` union all `)}) pair (facet, value)
          where (select count from matched) <= ${limit} and value is not null group by facet, value`
    }`.execute(tx);
  const count = rows.find(({ facet }) => facet === null)?.count ?? 0;
  return { count, by: count > limit ? null : new Map(rows.map((row) => [`${row.facet}=${row.value}`, row.count])) };
}

/** Counts the findings that match each of the filters, up to the limit. */
async function countEach(tx: TenantTx, orgId: string, filters: readonly PreparedFilter[], limit: number): Promise<number[]> {
  if (filters.length === 0) return [];
  const counted = filters.map(
    (prepared) => sql`(select count(*)::int from (${filterFindings(ownFindings(tx).select('findings.id'), orgId, prepared).limit(limit + 1)}) matching)`,
  );
  const { rows } = await sql<{ counts: number[] }>`select array[${sql.join(counted)}] as counts`.execute(tx);
  return rows[0]?.counts ?? [];
}
