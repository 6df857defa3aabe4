import { type SelectQueryBuilder, sql } from 'kysely';
import type { TenantTx } from './database.ts';

/** Keyset paging: a page begins after the last row of the previous one, so rows that are inserted meanwhile do not shift it. */
export const COUNT_LIMIT = 10_000;

export interface Position {
  direction: 'next' | 'prev';
  value: string | null;
  id: string;
}

/** How the rows of all pages are counted. Nobody waits for a count that they did not ask for. */
export const totals = ['none', 'bounded', 'exact'] as const;
export type TotalMode = (typeof totals)[number];
type Total = { count: number; relation: 'exact' | 'at_least' } | null;

export interface PageRequest {
  limit: number;
  sort: string;
  total: TotalMode;
  position: Position | null;
  seal: (position: Position) => string;
}

export interface Page<Row> {
  data: Row[];
  page: { limit: number; next_cursor: string | null; prev_cursor: string | null; total: Total };
}

export function presentPage<Row, Shown>({ data, page }: Page<Row>, present: (row: Row) => Shown): Page<Shown> {
  return { data: data.map(present), page };
}

/** The column behind a sort key of the API, and its SQL type. */
export type SortColumns<Row> = Record<string, { column: keyof Row & string; type: 'timestamptz' | 'text' | 'integer' | 'smallint' | 'real' }>;

/** Any query: over a table, a view or a sub-query. */
type Query<Database, Tables extends keyof Database, Row> = SelectQueryBuilder<Database, Tables, Row>;

/** Fetches the rows and the total, if it is asked for, in one round trip: the connection is pipelined. */
export async function fetchPage<Database, Tables extends keyof Database, Row extends { id: string }>(
  tx: TenantTx,
  query: Query<Database, Tables, Row>,
  columns: SortColumns<Row>,
  request: PageRequest,
): Promise<Page<Row>> {
  const sort = sortOf(columns, request);
  const [rows, total] = await Promise.all([sorted(query, sort, request).execute(), count(tx, query, request.total)]);
  return pageOf(rows as Row[], total, sort, request);
}

export function sortOf<Row>(columns: SortColumns<Row>, { sort, position }: PageRequest) {
  const key = columns[sort.replace(/^-/, '')];
  if (!key) throw new Error(`no column is declared for the sort key ${sort}`);
  const backwards = position?.direction === 'prev';
  return { ...key, backwards, descending: sort.startsWith('-') !== backwards };
}

type Sort<Row> = ReturnType<typeof sortOf<Row>>;

interface Order {
  column: string;
  type: string;
  descending: boolean;
}

export function sorted<Database, Tables extends keyof Database, Row>(
  query: Query<Database, Tables, Row>,
  { column, type, descending }: Order,
  { limit, position }: PageRequest,
) {
  const key = sql.ref(column);
  const order = sql.raw(descending ? 'desc' : 'asc');
  const rows = query.orderBy(sql`${key} ${order}, id ${order}`).limit(sql.lit(limit + 1));
  if (!position) return rows;
  const operator = sql.raw(descending ? '<' : '>');
  return rows.where(sql<boolean>`(${key}, id) ${operator} (${position.value}::${sql.raw(type)}, ${position.id}::uuid)`);
}

export function pageOf<Row extends { id: string }>(rows: Row[], total: Total, { column, backwards }: Sort<Row>, request: PageRequest): Page<Row> {
  const { limit, position, seal } = request;
  const more = rows.length > limit;
  const shown = more ? rows.slice(0, limit) : rows;
  if (backwards) shown.reverse();
  const at = (row: Row | undefined, direction: Position['direction']): string | null =>
    row === undefined ? null : seal({ direction, value: textOf(row[column]), id: row.id });
  return {
    data: shown,
    page: {
      limit,
      next_cursor: backwards || more ? at(shown.at(-1), 'next') : null,
      prev_cursor: (backwards && more) || (!backwards && position) ? at(shown[0], 'prev') : null,
      total,
    },
  };
}

function textOf(value: unknown): string | null {
  if (value === null) return null;
  return value instanceof Date ? value.toISOString() : String(value);
}

export async function count<Database, Tables extends keyof Database, Row>(tx: TenantTx, query: Query<Database, Tables, Row>, mode: TotalMode): Promise<Total> {
  if (mode === 'none') return null;
  const matching = query.clearSelect().select(sql`1`.as('one'));
  const counted = mode === 'exact' ? matching : matching.limit(COUNT_LIMIT + 1);
  const { rows } = await sql<{ count: string }>`select count(*) from (${counted}) as counted`.execute(tx);
  const found = Number(rows[0]?.count ?? 0);
  const stopped = mode === 'bounded' && found > COUNT_LIMIT;
  return { count: stopped ? COUNT_LIMIT : found, relation: stopped ? 'at_least' : 'exact' };
}
