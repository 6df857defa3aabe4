import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from './database.ts';

const BATCH = 500;

/** Reads the rows of a query in batches, so that memory does not grow with their number. A transaction can read only one query this way at a time. */
export async function* readWithCursor<T>(tx: TenantTx, query: RawBuilder<T>): AsyncGenerator<T> {
  // PostgreSQL plans a cursor for fast first rows by default. Every row is read here, and such a plan can be far slower for that.
  await sql`set local cursor_tuple_fraction = 1`.execute(tx);
  await sql`declare batches no scroll cursor for ${query}`.execute(tx);
  for (let last = false; !last; ) {
    const { rows } = await sql<T>`fetch ${sql.lit(BATCH)} from batches`.execute(tx);
    yield* rows;
    last = rows.length < BATCH;
  }
  await sql`close batches`.execute(tx);
}
