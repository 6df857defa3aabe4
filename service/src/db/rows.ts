import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from './database.ts';

/** Whether the query returns rows. Planning a large statement costs milliseconds even if there is nothing for it to do. */
export async function anyRows(tx: TenantTx, query: RawBuilder<unknown>): Promise<boolean> {
  const { rows } = await sql`select from (${query}) as selected limit 1`.execute(tx);
  return rows.length > 0;
}

const SAMPLE_ROWS = 1_000;

/** The number of rows that the query selects, and an estimate of their size. Only the rows of a sample are read, so that a million rows cost one scan of an index. */
export async function countAndSize(tx: TenantTx, query: RawBuilder<unknown>): Promise<{ count: number; bytes: number }> {
  const { rows } = await sql<{ count: number; bytes: number }>`
    select counted.count::float8 as count, round(counted.count * coalesce(sampled.bytes, 0))::float8 as bytes
    from (select count(*) from (${query}) selected) counted,
      (select avg(pg_column_size(sample)) as bytes from (${query} limit ${sql.lit(SAMPLE_ROWS)}) sample) sampled`.execute(tx);
  return rows[0] ?? { count: 0, bytes: 0 };
}

/**
 * Whether `value` is a row of `rows`, by one lookup in a hash table. PostgreSQL makes a join of a plain IN, and if it expects few rows, it compares each row
 * of one side with each row of the other. What a statement has written or selected itself has no statistics.
 */
export function isAmong(value: RawBuilder<unknown>, rows: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`coalesce(${value} in (${rows}), false)`;
}
