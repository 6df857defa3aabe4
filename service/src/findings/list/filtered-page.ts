import { type Expression, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { COUNT_LIMIT, count, type Page, type PageRequest, pageOf, type SortColumns, sorted, sortOf } from '../../db/pages.ts';
import { type FindingSelect, filterFindings, ownFindings } from './filter.ts';
import type { FindingFilter, PreparedFilter } from './prepare-filter.ts';

/** How many rows along the order are searched for matches before all matches are fetched. */
const WALKED = 100_000;

interface Filtered<Row> {
  all: FindingSelect<Row>;
  orgId: string;
  prepared: PreparedFilter;
}

/**
 * The planner walks along the index of the sort order until it has a page, assuming that matches are spread evenly. If they are all at the far end,
 * that reads the whole index. So matches are fetched first and sorted if they are few. If they are many, a short walk along the index usually finds a page.
 */
export async function fetchFilteredPage<Row extends { id: string }>(
  tx: TenantTx,
  { all, orgId, prepared }: Filtered<Row>,
  columns: SortColumns<Row>,
  request: PageRequest,
): Promise<Page<Row>> {
  const sort = sortOf(columns, request);
  const byKey = { ...sort, column: 'key' as const };
  const key = sql<unknown>`${sql.ref(sort.column)}`.as('key');
  const matching = filterFindings(ownFindings(tx).select([key, 'findings.id']), orgId, prepared);
  const pageAmong = (keys: Expression<Key>) => sorted(tx.selectFrom(sql<Key>`${keys}`.as('keys')).select('keys.id'), byKey, request);

  const few = await countAndPage(tx, matching.limit(COUNT_LIMIT + 1), pageAmong);
  const total = await count(tx, matching, request.total);
  if (few.count <= COUNT_LIMIT) return pageOf(await rowsOf(all, few.ids), total, sort, request);

  const bounds = { ...prepared, filter: boundsOf(prepared.filter, sort.column), search: null, otherSources: null };
  const nearby = sorted(filterFindings(ownFindings(tx).selectAll(), orgId, bounds, 'scan'), sort, { ...request, limit: WALKED });
  const matches = filterFindings(tx.selectFrom(nearby.as('findings')).select([key, 'findings.id']), orgId, prepared, 'scan');
  // Only listed findings are in the indexes of the sort orders.
  const page = prepared.unlisted ? [] : await pageAmong(sql`(${matches})`).execute();
  const ids = page.length > request.limit ? page.map(({ id }) => id) : (await countAndPage(tx, matching, pageAmong)).ids;
  return pageOf(await rowsOf(all, ids), total, sort, request);
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

async function rowsOf<Row extends { id: string }>(all: FindingSelect<Row>, ids: string[]): Promise<Row[]> {
  if (ids.length === 0) return [];
  const rows = await all.where('findings.id', 'in', ids).execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
