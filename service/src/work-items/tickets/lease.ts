import { type Selectable, sql, type UpdateObject } from 'kysely';
import type { Database, TenantTx } from '../../db/database.ts';
import type { DB } from '../../db/types.ts';
import type { ConnectionRow } from '../../integrations/connections/connections.ts';
import { newId } from '../../shared/ids.ts';
import { readItem, type WorkItemRow } from '../items/read.ts';
import { bodyOf } from './text.ts';

export type TicketRow = Selectable<DB['tickets']>;

/** A ticket that one worker has to itself, beside what it belongs to. */
export interface Held {
  orgId: string;
  lease: string;
  ticket: TicketRow;
  item: WorkItemRow;
  body: string[];
  connection: ConnectionRow;
}

/** Longer than a worker may take, so that who finds it expired knows that the other one is gone. */
const LEASE = '5 minutes';

export async function holdTicket(db: Database, orgId: string, id: string): Promise<Held | 'busy' | null> {
  const lease = newId();
  return db.withTenant({ orgId }, async (tx) => {
    const ticket = await tx
      .updateTable('tickets')
      .set({ lease_id: lease, leased_until: sql<Date>`now() + ${LEASE}::interval` })
      .where('org_id', '=', orgId)
      .where('id', '=', id)
      .where('unlinked_at', 'is', null)
      .where(sql<boolean>`(leased_until is null or leased_until < now())`)
      .returningAll()
      .executeTakeFirst();
    if (!ticket) {
      const other = await tx.selectFrom('tickets').select('id').where('org_id', '=', orgId).where('id', '=', id).where('unlinked_at', 'is', null).execute();
      return other.length > 0 ? 'busy' : null;
    }
    const item = await readItem(tx, orgId, ticket.work_item_id);
    const connection = await tx
      .selectFrom('connections')
      .selectAll()
      .where('org_id', '=', orgId)
      .where('id', '=', ticket.connection_id)
      .executeTakeFirstOrThrow();
    return { orgId, lease, ticket, item, body: await bodyOf(tx, orgId, item), connection };
  });
}

export async function letGo(db: Database, { orgId, lease, ticket }: Held): Promise<void> {
  await db.withTenant({ orgId }, (tx) =>
    tx
      .updateTable('tickets')
      .set({ lease_id: null, leased_until: null })
      .where('org_id', '=', orgId)
      .where('id', '=', ticket.id)
      .where('lease_id', '=', lease)
      .execute(),
  );
}

/** For a service that is alone on its database: whoever held a ticket before it started is dead. */
export async function letAllGo(db: Database): Promise<void> {
  await db.withSystem((tx) => tx.updateTable('tickets').set({ lease_id: null, leased_until: null }).where('lease_id', 'is not', null).execute());
}

/** It was unlinked, or another worker has it: what this one did is not noted any more. */
export class TicketLost extends Error {
  constructor() {
    super('the ticket is held by another worker, or unlinked');
    this.name = 'TicketLost';
  }
}

export async function writeHeld(tx: TenantTx, held: Held, columns: UpdateObject<DB, 'tickets'>): Promise<TicketRow> {
  const ticket = await tx
    .updateTable('tickets')
    .set(columns)
    .where('org_id', '=', held.orgId)
    .where('id', '=', held.ticket.id)
    .where('lease_id', '=', held.lease)
    .where('unlinked_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  if (!ticket) throw new TicketLost();
  return ticket;
}
