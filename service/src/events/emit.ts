import type { Tx } from '../db/database.ts';
import { newId } from '../shared/ids.ts';
import type { EventType } from './types.ts';

export interface OutgoingEvent {
  type: EventType;
  /** The id of the object it is about. */
  subject: string;
  data: Record<string, unknown>;
}

/** In the transaction of the change, so that what is told outside is exactly what happened. */
export async function emit(tx: Tx, orgId: string, ...outgoing: OutgoingEvent[]): Promise<void> {
  if (outgoing.length === 0) return;
  await tx
    .insertInto('events')
    .values(outgoing.map(({ type, subject, data }) => ({ org_id: orgId, id: newId(), type, subject, data: JSON.stringify(data) })))
    .execute();
}
