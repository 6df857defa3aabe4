import { type Expression, type RawBuilder, sql } from 'kysely';
import type { Tx } from '../db/database.ts';
import { newId } from '../shared/ids.ts';
import type { EventType } from './types.ts';

export interface OutgoingEvent {
  type: EventType;
  /** The id of the object that changed. */
  subject: string;
  data: Record<string, unknown>;
}

/** Call it in the transaction of the change, so that subscribers receive exactly the changes that were committed. */
export async function emit(tx: Tx, orgId: string, ...outgoing: OutgoingEvent[]): Promise<void> {
  if (outgoing.length === 0) return;
  await tx
    .insertInto('events')
    .values(outgoing.map(({ type, subject, data }) => ({ org_id: orgId, id: newId(), type, subject, data: JSON.stringify(data) })))
    .execute();
}

/** Emits one event per row of a query that yields `subject text` and `data jsonb`. See `emitSql` for the type. */
export async function emitAll(tx: Tx, orgId: string, type: EventType | Expression<EventType>, rows: RawBuilder<unknown>): Promise<void> {
  await emitSql(orgId, type, rows).execute(tx);
}

/**
 * Returns the `insert` of `emitAll` as SQL, for a common table expression of the statement that makes the changes.
 * The type is either the same for all rows, or an expression over other columns of `rows`.
 */
export function emitSql(orgId: string, type: EventType | Expression<EventType>, rows: RawBuilder<unknown>): RawBuilder<unknown> {
  const typeSql = typeof type === 'string' ? sql`${type}::text` : type;
  return sql`
    insert into events (org_id, id, type, subject, data)
    select ${orgId}::uuid, new_id(), ${typeSql}, subject, data from (${rows}) emitted`;
}
