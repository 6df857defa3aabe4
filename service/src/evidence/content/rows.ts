import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';

const AT_ONCE = 500;

/** The rows of one query, some hundred at a time: however many there are, few of them are held. One such reading at a time in a transaction. */
export async function* rowsOf<T>(tx: TenantTx, query: RawBuilder<T>): AsyncGenerator<T> {
  // All rows will be asked for: planned for the first few, the reading of all could take for ever.
  await sql`set local cursor_tuple_fraction = 1`.execute(tx);
  await sql`declare these no scroll cursor for ${query}`.execute(tx);
  for (let last = false; !last; ) {
    const { rows } = await sql<T>`fetch ${sql.lit(AT_ONCE)} from these`.execute(tx);
    yield* rows;
    last = rows.length < AT_ONCE;
  }
  await sql`close these`.execute(tx);
}
