import { type RawBuilder, sql } from 'kysely';

/**
 * Whether `value` is a row of `rows`, by one lookup in a hash table. PostgreSQL makes a join of a plain IN, and if it expects few rows, it compares each row
 * of one side with each row of the other. What a statement has written or selected itself has no statistics.
 */
export function isAmong(value: RawBuilder<unknown>, rows: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`coalesce(${value} in (${rows}), false)`;
}
