import { type Expression, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { count, type Page, type PageRequest, pageOf, type SortColumns, sorted, sortOf } from '../../db/pages.ts';
import { type FindingSelect, filterFindings, ownFindings } from './filter.ts';
import type { FindingFilter, PreparedFilter } from './prepare-filter.ts';

/** How many rows along the sort order are compared first. A page of any common filter is full by then. */
const SHORT_WALK = 2_000;
const LONG_WALK = 30_000;
/** How much farther to walk than the matches of the short walk suggest, so that the page is usually full. */
const FARTHER = 1.5;
/** Matches that are looked up and sorted rather than walked to. */
const FEW = 40_000;
/** Matches that are walked to as far as this takes, because looking them up takes longer. */
const MANY = 200_000;

interface Filtered<Row> {
  /** Selects the columns of the list. */
  select: (from: FindingSelect<object>) => FindingSelect<Row>;
  /** Reads the rows with these ids, in any order. */
  readRows: (tx: TenantTx, values: { orgId: string; ids: string[] }) => Promise<Row[]>;
  orgId: string;
  prepared: PreparedFilter;
}

/**
 * Left alone, the planner walks along the index of the sort order until it has a page, assuming that matches are spread evenly. If they are all at the far
 * end, that reads the whole index. So there are two ways to find a page, walking along the sort order, which is fast if matches are many, and looking up
 * all matches, which is fast if they are few. After a short walk, the matches that it met and the planner's estimate of all of them decide. Each attempt is
 * bounded, because both can mislead.
 */
export async function fetchFilteredPage<Row extends { id: string }>(
  tx: TenantTx,
  filtered: Filtered<Row>,
  columns: SortColumns<Row>,
  request: PageRequest,
): Promise<Page<Row>> {
  const { select, readRows, orgId, prepared } = filtered;
  const sort = sortOf(columns, request);
  const key = sql<unknown>`${sql.ref(sort.column)}`.as('key');
  const matching = filterFindings(ownFindings(tx).select([key, 'findings.id']), orgId, prepared);
  const pageAmong = (keys: Expression<Key>) =>
    sorted(tx.selectFrom(sql<Key>`${keys}`.as('keys')).select('keys.id'), { ...sort, column: 'key' as const }, request);
  const bounds = { ...prepared, filter: boundsOf(prepared.filter, sort.column), search: null, otherSources: null, fewAssets: null };

  const walk = async (most: number): Promise<Row[]> => {
    // Only listed findings are in the indexes of the sort orders.
    if (prepared.unlisted) return [];
    const nearby = sorted(filterFindings(ownFindings(tx).selectAll(), orgId, bounds, 'scan'), sort, { ...request, limit: most });
    const matches = filterFindings(select(tx.selectFrom(nearby.as('findings'))), orgId, prepared, 'scan');
    return sorted(matches, sort, request).execute();
  };
  const isFull = (rows: Row[]): boolean => rows.length > request.limit;
  const rowsOf = async (ids: string[]): Promise<Row[]> => {
    const rows = ids.length === 0 ? [] : await readRows(tx, { orgId, ids });
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  };
  const lookUp = async (most: number): Promise<Row[] | null> => {
    const found = await countAndPage(tx, matching.limit(most + 1), pageAmong);
    return found.count > most ? null : rowsOf(found.ids);
  };
  // The offset keeps the planner from walking, and nothing is kept but the page: millions of matches would not fit in memory.
  const lookUpAll = async (): Promise<Row[]> => rowsOf((await pageAmong(matching.offset(sql.lit(0))).execute()).map(({ id }) => id));

  const total = await count(tx, matching, request.total);
  const search = async (): Promise<Row[]> => {
    const near = await walk(SHORT_WALK);
    if (isFull(near)) return near;
    const estimate = await estimateOf(tx, matching);
    const rest = (FARTHER * SHORT_WALK * request.limit) / near.length;
    const nearby = rest < Math.min(estimate, FEW) ? await walk(Math.ceil(rest)) : [];
    if (isFull(nearby)) return nearby;
    const few = estimate <= FEW ? await lookUp(FEW) : null;
    if (few) return few;
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

/** Counts the matches and returns the ids of the page, in its order. */
async function countAndPage(
  tx: TenantTx,
  matches: Expression<Key>,
  pageAmong: (keys: Expression<Key>) => Expression<unknown>,
): Promise<{ count: number; ids: string[] }> {
  const { rows } = await sql<{ count: number; ids: string[] }>`
    with found as materialized (${matches}) select (select count(*)::int from found) as count, array(${pageAmong(sql`(select * from found)`)}) as ids`.execute(
    tx,
  );
  return rows[0] ?? { count: 0, ids: [] };
}
