import { type SelectQueryBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { COUNT_LIMIT, count, type Page, type PageRequest, pageOf, type Sort, type SortColumns, sorted, sortOf } from '../../db/pages.ts';
import type { DB } from '../../db/types.ts';
import { type FindingFilter, filterFindings, ownFindings } from './filter.ts';

/** So far along the order the matches are looked for before all of them are. */
const WALKED = 100_000;

interface Filtered<Row> {
  all: SelectQueryBuilder<DB, 'findings', Row>;
  orgId: string;
  filter: FindingFilter;
}

/**
 * The planner walks along the index of the sort until it has a page, as if what is wanted were spread evenly; where it is all at the far
 * end, that is the whole index. So few matches are found first and then sorted; many are met on a short walk, or else sorted too.
 */
export async function fetchFilteredPage<Row extends { id: string }>(
  tx: TenantTx,
  { all, orgId, filter }: Filtered<Row>,
  columns: SortColumns<Row>,
  request: PageRequest,
): Promise<Page<Row>> {
  const sort = sortOf(columns, request);
  const along: Sort<{ key: unknown }> = { ...sort, column: 'key' };
  const keys = (from: Findings): Keys => from.select([sql.ref(sort.column).as('key'), 'findings.id']);
  const matching = filterFindings(keys(ownFindings(tx)), orgId, filter);
  const pageAmong = (keys: Keys): Keys => sorted(tx.selectFrom(keys.as('findings')).select('id') as unknown as Keys, along, request);

  const few = await countAndPage(tx, matching.limit(COUNT_LIMIT + 1), pageAmong);
  if (few.count <= COUNT_LIMIT) return pageOf(await rowsOf(all, few.ids), { count: few.count, relation: 'exact' }, sort, request);

  const total = request.total === 'exact' ? await count(tx, matching, 'exact') : ({ count: COUNT_LIMIT, relation: 'at_least' } as const);
  const near = sorted(filterFindings(ownFindings(tx).selectAll(), orgId, boundsOf(filter, sort.column), 'along'), sort as never, { ...request, limit: WALKED });
  const met = await pageAmong(filterFindings(keys(tx.selectFrom(near.as('findings')) as unknown as Findings), orgId, filter, 'along')).execute();
  const ids = met.length > request.limit ? met.map(({ id }) => id) : (await countAndPage(tx, matching, pageAmong)).ids;
  return pageOf(await rowsOf(all, ids), total, sort, request);
}

/** Of the filter, what says where along the order the matches begin and end. */
const BOUNDS: Record<string, readonly (keyof FindingFilter)[]> = {
  risk_score: ['risk_min'],
  severity: ['severity'],
  first_seen: ['first_seen_from', 'first_seen_to'],
  last_seen: ['last_seen_from', 'last_seen_to'],
  created_at: ['created_from', 'created_to'],
  updated_at: ['updated_from', 'updated_to'],
  due_at: ['due_from', 'due_to', 'overdue'],
};

function boundsOf(filter: FindingFilter, column: string): FindingFilter {
  return Object.fromEntries(Object.entries(filter).filter(([name]) => BOUNDS[column]?.includes(name as keyof FindingFilter)));
}

type Findings = ReturnType<typeof ownFindings>;
type Keys = SelectQueryBuilder<DB, 'findings', { key: unknown; id: string }>;

/** How many there are, and which of them are on the page, in the order of the page. */
async function countAndPage(tx: TenantTx, matches: Keys, pageAmong: (keys: Keys) => Keys): Promise<{ count: number; ids: string[] }> {
  const found = tx.selectFrom(sql`found`.as('findings')).selectAll() as unknown as Keys;
  const { rows } = await sql<{ count: number; ids: string[] }>`
    with found as materialized (${matches}) select (select count(*)::int from found) as count, array(${pageAmong(found)}) as ids`.execute(tx);
  return rows[0] ?? { count: 0, ids: [] };
}

async function rowsOf<Row extends { id: string }>(all: SelectQueryBuilder<DB, 'findings', Row>, ids: string[]): Promise<Row[]> {
  if (ids.length === 0) return [];
  const rows = (await all.where('findings.id', 'in', ids).execute()) as Row[];
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
