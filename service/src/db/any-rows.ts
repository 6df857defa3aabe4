import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from './database.ts';

/** Whether the query returns rows. Planning a large statement costs milliseconds even if there is nothing for it to do. */
export async function anyRows(tx: TenantTx, query: RawBuilder<unknown>): Promise<boolean> {
  const { rows } = await sql`select from (${query}) as selected limit 1`.execute(tx);
  return rows.length > 0;
}
