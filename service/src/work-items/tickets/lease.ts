import { type Selectable, sql, type UpdateObject } from 'kysely';
import type { Database, TenantTx } from '../../db/database.ts';
import type { DB } from '../../db/types.ts';
import { type ConnectionRow, findStoredConnection } from '../../integrations/connections/connections.ts';
import { newId } from '../../shared/ids.ts';
import { readItem, type WorkItemRow } from '../items/read.ts';
import { ticketBody } from './text.ts';

export type TicketRow = Selectable<DB['tickets']>;

/** A ticket that this worker has leased, with its work item and connection. */
export interface LeasedTicket {
  orgId: string;
  lease: string;
  ticket: TicketRow;
  item: WorkItemRow;
  body: string[];
  connection: ConnectionRow;
}

/** Longer than a worker may take, so an expired lease means that its worker is gone. */
const LEASE_DURATION = '5 minutes';

/**
 * Leases of this process that may still be recorded, by ticket, because the database went away before they were released. Nobody works under them, so the
 * next attempt takes them over. Otherwise the ticket would wait until they expire.
 */
const unreleased = new Map<string, string[]>();
const remember = (ticket: string, lease: string): void => void unreleased.set(ticket, [...(unreleased.get(ticket) ?? []), lease]);

/** Returns `busy` if another worker has the lease, and null if the ticket is unlinked. */
export async function leaseTicket(db: Database, orgId: string, id: string): Promise<LeasedTicket | 'busy' | null> {
  const lease = newId();
  const own = unreleased.get(id) ?? [];
  try {
    const leased = await db.withTenant({ orgId }, (tx) => lockTicket(tx, { orgId, id, lease, own }));
    unreleased.delete(id);
    return leased;
  } catch (error) {
    // It may have been committed.
    remember(id, lease);
    throw error;
  }
}

interface Wanted {
  orgId: string;
  id: string;
  lease: string;
  own: readonly string[];
}

async function lockTicket(tx: TenantTx, { orgId, id, lease, own }: Wanted): Promise<LeasedTicket | 'busy' | null> {
  const ticket = await tx
    .updateTable('tickets')
    .set({ lease_id: lease, leased_until: sql<Date>`now() + ${LEASE_DURATION}::interval` })
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .where('unlinked_at', 'is', null)
    .where(sql<boolean>`(leased_until is null or leased_until < now() or lease_id = any(${own}::uuid[]))`)
    .returningAll()
    .executeTakeFirst();
  if (!ticket) {
    const other = await tx.selectFrom('tickets').select('id').where('org_id', '=', orgId).where('id', '=', id).where('unlinked_at', 'is', null).execute();
    return other.length > 0 ? 'busy' : null;
  }
  const item = await readItem(tx, orgId, ticket.work_item_id);
  const connection = await findStoredConnection(tx, orgId, ticket.connection_id);
  if (!connection) throw new Error(`the connection ${ticket.connection_id} of a ticket does not exist`);
  return { orgId, lease, ticket, item, body: await ticketBody(tx, orgId, item), connection };
}

/** If the database cannot be told, the next attempt of this process takes the lease over, and those of others wait until it expires. */
export async function releaseTicket(db: Database, { orgId, lease, ticket }: LeasedTicket): Promise<void> {
  try {
    await db.withTenant({ orgId }, (tx) =>
      tx
        .updateTable('tickets')
        .set({ lease_id: null, leased_until: null })
        .where('org_id', '=', orgId)
        .where('id', '=', ticket.id)
        .where('lease_id', '=', lease)
        .execute(),
    );
  } catch {
    remember(ticket.id, lease);
  }
}

/** For a service that is the only process on its database: when it starts, all earlier workers are gone. */
export async function releaseTicketLeases(db: Database): Promise<void> {
  await db.withSystem((tx) => tx.updateTable('tickets').set({ lease_id: null, leased_until: null }).where('lease_id', 'is not', null).execute());
}

/** The ticket was unlinked or another worker has leased it. This worker must write nothing more. */
export class LeaseLost extends Error {
  constructor() {
    super('another worker has leased the ticket, or it was unlinked');
    this.name = 'LeaseLost';
  }
}

export async function writeLeased(tx: TenantTx, leased: LeasedTicket, columns: UpdateObject<DB, 'tickets'>): Promise<TicketRow> {
  const ticket = await tx
    .updateTable('tickets')
    .set(columns)
    .where('org_id', '=', leased.orgId)
    .where('id', '=', leased.ticket.id)
    .where('lease_id', '=', leased.lease)
    .where('unlinked_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  if (!ticket) throw new LeaseLost();
  return ticket;
}
