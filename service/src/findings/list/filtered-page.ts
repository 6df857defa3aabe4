import { type Expression, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { count, type Page, type PageRequest, pageOf, type SortColumns, sorted, sortOf } from '../../db/pages.ts';
import { kept } from '../../db/prepared.ts';
import { fewMatches } from './few-matches.ts';
import { type FindingSelect, filterFindings, ownFindings } from './filter.ts';
import type { FindingFilter, PreparedFilter } from './prepare-filter.ts';
import { hasPrefix } from './search.ts';

/** How many rows along the sort order are compared first. A page of any common filter is full by then. */
const SHORT_WALK = 2_000;
/** The first walk for a word that also finds longer ones: it may be in most findings or in few, and the planner's estimate is often wrong. */
const SHORTEST_WALK = 500;
const FIRST_WALKS: readonly number[] = [SHORT_WALK, SHORTEST_WALK];
const LONG_WALK = 30_000;
/** How much farther to walk than the matches of the short walk suggest, so that the page is usually full. */
const FARTHER = 1.5;
/** Matches that are looked up and sorted rather than walked to. */
const FEW = 40_000;
/** Matches that are looked up at once if there were no more the last time. There may be more by now, so this many must not take long in vain. */
const LIKELY_FEW = 5_000;
/** Matches that are walked to as far as this takes, because looking them up takes longer. */
const MANY = 200_000;

/** Filters that name something particular. They often have few matches, and the planner knows how many. */
const PARTICULAR: readonly (keyof FindingFilter)[] = [
  'q',
  'cve',
  'cwe',
  'component',
  'path',
  'rule',
  'import_id',
  'work_item_id',
  'assignee',
  'asset_id',
  'asset',
  'asset_version',
];
/** Filters that are words for the same index. A statement with no others has the same text and the same plan, whatever the values are. */
const WORDS: readonly string[] = ['q', 'cve', 'cwe', 'tag'];

interface Filtered<Row> {
  /** Selects the columns of the list. */
  select: (from: FindingSelect<object>) => FindingSelect<Row>;
  orgId: string;
  prepared: PreparedFilter;
}

/**
 * Left alone, the planner walks along the index of the sort order until it has a page, assuming that matches are spread evenly. If they are all at the far
 * end, that reads the whole index. So there are two ways to find a page, walking along the sort order, which is fast if matches are many, and looking up
 * all matches, which is fast if they are few. The planner's estimate of all matches and the matches of a short walk decide. Each attempt is bounded,
 * because both can mislead.
 */
export async function fetchFilteredPage<Row extends { id: string }>(
  tx: TenantTx,
  filtered: Filtered<Row>,
  columns: SortColumns<Row>,
  request: PageRequest,
): Promise<Page<Row>> {
  const { select, orgId, prepared } = filtered;
  const sort = sortOf(columns, request);
  const key = sql<unknown>`${sql.ref(sort.column)}`.as('key');
  const matching = filterFindings(ownFindings(tx).select([key, 'findings.id']), orgId, prepared);
  const pageAmong = (keys: Expression<Key>) => {
    const ids = sorted(tx.selectFrom(sql<Key>`${keys}`.as('keys')).select('keys.id'), { ...sort, column: 'key' as const }, request);
    const rows = select(ownFindings(tx)).where('findings.org_id', '=', orgId).where(sql<boolean>`findings.id = any(array(${ids}))`);
    return sorted(rows, sort, request);
  };
  const bounds = { ...prepared, filter: boundsOf(prepared.filter, sort.column), search: null, otherSources: null, fewAssets: null };

  const few = fewMatches(orgId, prepared.filter);
  const hasOnlyWords = Object.keys(prepared.filter).every((name) => WORDS.includes(name));
  const walk = async (most: number): Promise<Row[]> => {
    // Only listed findings are in the indexes of the sort orders.
    if (prepared.unlisted) return [];
    const nearby = sorted(filterFindings(ownFindings(tx).selectAll(), orgId, bounds, 'scan'), sort, { ...request, limit: most });
    const matches = filterFindings(select(tx.selectFrom(nearby.as('findings'))), orgId, prepared, 'scan');
    const query = sorted(matches, sort, request).compile();
    return (await tx.executeQuery(hasOnlyWords && FIRST_WALKS.includes(most) ? kept(query) : query)).rows;
  };
  const isFull = (rows: Row[]): boolean => rows.length > request.limit;
  const lookUp = async (most: number): Promise<Row[] | null> => {
    const page = pageAmong(sql`(select * from found)`).select(sql<number>`(select count(*)::int from found)`.as('found'));
    const query = sql<Row & { found: number }>`with found as materialized (${matching.limit(sql.lit(most + 1))}) ${page}`.compile(tx);
    const { rows } = await tx.executeQuery(hasOnlyWords ? kept(query) : query);
    // Whether an empty page after another means that nothing was found is unknown. It is rare: findings have changed meanwhile.
    const found = rows[0]?.found ?? (request.position ? Number.POSITIVE_INFINITY : 0);
    few.learn(found <= Math.min(most, LIKELY_FEW));
    return found > most ? null : rows;
  };
  // The offset keeps the planner from walking, and nothing is kept but the page: millions of matches would not fit in memory.
  const lookUpAll = () => pageAmong(matching.offset(sql.lit(0))).execute();

  const total = await count(tx, matching, request.total);
  const search = async (): Promise<Row[]> => {
    const again = few.areLikely ? await lookUp(LIKELY_FEW) : null;
    if (again) return again;
    const words = prepared.search && 'all' in prepared.search ? prepared.search.all : [];
    const isVague = words.some(hasPrefix);
    const expected = !isVague && PARTICULAR.some((name) => name in prepared.filter) ? await estimateOf(tx, matching) : null;
    const fewest = expected !== null && expected <= SHORT_WALK ? await lookUp(SHORT_WALK) : null;
    if (fewest) return fewest;
    const short = isVague && words.length === 1 ? SHORTEST_WALK : SHORT_WALK;
    const near = await walk(short);
    if (isFull(near)) return near;
    const estimate = expected ?? (await estimateOf(tx, matching));
    const rest = (FARTHER * short * request.limit) / near.length;
    const nearby = rest < Math.max(SHORT_WALK, Math.min(estimate, FEW)) ? await walk(Math.ceil(rest)) : [];
    if (isFull(nearby)) return nearby;
    const all = estimate <= FEW ? await lookUp(FEW) : null;
    if (all) return all;
    const far = await walk(estimate <= MANY ? LONG_WALK : 10 * LONG_WALK);
    return isFull(far) ? far : lookUpAll();
  };
  return pageOf(await search(), total, sort, request);
}

/** How many rows the planner expects of a query, from its statistics. Costs only the planning. */
async function estimateOf(tx: TenantTx, query: Expression<unknown>): Promise<number> {
  const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>`explain (format json) ${query}`.execute(tx);
  return rows[0]?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0;
}

interface Key {
  key: unknown;
  id: string;
}

/** Filters that bound the matches along a sort order. */
const BOUNDS: Record<string, readonly (keyof FindingFilter)[]> = {
  risk_score: ['risk_min'],
  severity: ['severity', 'not_severity'],
  first_seen: ['first_seen_from', 'first_seen_to'],
  last_seen: ['last_seen_from', 'last_seen_to'],
  created_at: ['created_from', 'created_to'],
  updated_at: ['updated_from', 'updated_to'],
  due_at: ['due_from', 'due_to', 'overdue'],
};

function boundsOf(filter: FindingFilter, column: string): FindingFilter {
  return Object.fromEntries(Object.entries(filter).filter(([name]) => BOUNDS[column]?.includes(name as keyof FindingFilter)));
}
