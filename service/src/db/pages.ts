import { type SelectQueryBuilder, sql } from 'kysely';
import type { TenantTx } from './database.ts';
import type { DB } from './types.ts';

/** Keyset lists: a page begins after the last row of the one before, so that rows inserted meanwhile move nothing. */
export const COUNT_LIMIT = 10_000;

export interface Position {
  direction: 'next' | 'prev';
  value: string | null;
  id: string;
}

export interface PageRequest {
  limit: number;
  sort: string;
  total: 'bounded' | 'exact';
  position: Position | null;
  seal: (position: Position) => string;
}

export interface Page<Row> {
  data: Row[];
  page: { limit: number; next_cursor: string | null; prev_cursor: string | null; total: { count: number; relation: 'exact' | 'at_least' } };
}

/** How a sort key of the interface is read from the rows: its column and the column's SQL type. */
export type SortColumns<Row> = Record<string, { column: keyof Row & string; type: 'timestamptz' | 'text' | 'integer' | 'smallint' | 'real' }>;

export async function fetchPage<Tables extends keyof DB, Row extends { id: string }>(
  tx: TenantTx,
  query: SelectQueryBuilder<DB, Tables, Row>,
  columns: SortColumns<Row>,
  request: PageRequest,
): Promise<Page<Row>> {
  const { limit, position } = request;
  const sort = columns[request.sort.replace(/^-/, '')];
  if (!sort) throw new Error(`no column serves the sort ${request.sort}`);
  const backwards = position?.direction === 'prev';
  const descending = request.sort.startsWith('-') !== backwards;
  const column = sql.ref(sort.column);
  const order = sql.raw(descending ? 'desc' : 'asc');
  const operator = sql.raw(descending ? '<' : '>');

  let rowsQuery = query.orderBy(sql`${column} ${order}, id ${order}`).limit(limit + 1);
  if (position) rowsQuery = rowsQuery.where(sql<boolean>`(${column}, id) ${operator} (${position.value}::${sql.raw(sort.type)}, ${position.id}::uuid)`);
  // One round trip: the connection is pipelined.
  const [rows, total] = await Promise.all([rowsQuery.execute(), count(tx, query, request.total)]);

  const more = rows.length > limit;
  const shown = (more ? rows.slice(0, limit) : rows) as Row[];
  if (backwards) shown.reverse();
  const at = (row: Row | undefined, direction: Position['direction']): string | null =>
    row === undefined ? null : request.seal({ direction, value: textOf(row[sort.column]), id: row.id });
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

async function count<Tables extends keyof DB, Row>(tx: TenantTx, query: SelectQueryBuilder<DB, Tables, Row>, mode: 'bounded' | 'exact') {
  const matching = query.clearSelect().select(sql`1`.as('one'));
  const counted = mode === 'exact' ? matching : matching.limit(COUNT_LIMIT + 1);
  const { rows } = await sql<{ count: string }>`select count(*) from (${counted}) as counted`.execute(tx);
  const found = Number(rows[0]?.count ?? 0);
  const stopped = mode === 'bounded' && found > COUNT_LIMIT;
  return { count: stopped ? COUNT_LIMIT : found, relation: stopped ? ('at_least' as const) : ('exact' as const) };
}
