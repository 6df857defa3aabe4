import { type RawBuilder, sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type PageRequest } from '../../db/pages.ts';
import { emit } from '../../events/emit.ts';
import { readConnection } from '../../integrations/connections/connections.ts';
import { connectionFacts } from '../../integrations/relations.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, invalidField, notFound } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { readItem } from '../items/read.ts';
import { isClosed, type WorkItemStatus } from '../items/status.ts';
import { markerOf } from './fields.ts';
import { enqueueTicket } from './jobs.ts';
import type { TicketRow } from './lease.ts';
import type { Repair } from './repair.ts';

export type TicketView = TicketRow & {
  connection_name: string;
  provider: string;
  connection_usable: boolean;
  poll_error_kind: string | null;
  poll_error: string | null;
  item_title: string;
  item_status: WorkItemStatus;
};

/** Links the work item to a ticket, which a job creates. There is one ticket per work item and connection: a repeated call returns it. */
export async function pushTicket(tx: TenantTx, actor: Actor, itemId: string, connectionId: string): Promise<TicketView> {
  const { orgId } = actor;
  const item = await readItem(tx, orgId, itemId);
  const connection = await readConnection(tx, orgId, connectionId);
  if (connection.kind !== 'ticketing') {
    const detail = `must be a connection of kind ticketing. "${connection.name}" is of kind ${connection.kind}`;
    throw invalidField({ in: 'body', path: '/connection_id', code: 'wrong_kind', detail });
  }
  const [known] = await readViews(tx, orgId, sql`t.work_item_id = ${itemId} and t.connection_id = ${connectionId}`);
  if (known) {
    if (known.status === 'failed') await enqueueTicket(tx, orgId, known.id);
    return known;
  }
  if (!connection.enabled) throw new AppError('conflict', `The connection "${connection.name}" is paused. Enable it first.`);
  const refused = pushRefused(item);
  if (refused !== null) throw new AppError('conflict', refused);
  const id = newId();
  const row = {
    org_id: orgId,
    id,
    work_item_id: item.id,
    connection_id: connection.id,
    marker: markerOf(orgId, item.id),
    // A ticket that was unlinked before the vendor confirmed it may exist.
    creating_at: sql<Date>`(select max(creating_at) from tickets where org_id = ${orgId} and work_item_id = ${item.id} and connection_id = ${connection.id})`,
    created_by: actor.name,
  };
  const added = await tx
    .insertInto('tickets')
    .values(row)
    .onConflict((conflict) => conflict.columns(['org_id', 'work_item_id', 'connection_id']).where('unlinked_at', 'is', null).doNothing())
    .executeTakeFirst();
  if (added.numInsertedOrUpdatedRows !== 0n) {
    await enqueueTicket(tx, orgId, id);
    const after = { ticket_id: id, connection_id: connection.id, connection: connection.name };
    await recordAudit(tx, actor, { action: 'work_item.ticket_pushed', objectType: 'work_item', objectId: item.id, after });
    await emit(tx, orgId, { type: 'ticket.pushed', subject: id, data: { work_item_id: item.id, connection_id: connection.id } });
  }
  const [made] = await readViews(tx, orgId, sql`t.work_item_id = ${itemId} and t.connection_id = ${connectionId}`);
  if (!made) throw notFound('ticket', id);
  return made;
}

/** Why the work item cannot be pushed to another connection. */
export function pushRefused({ status }: { status: WorkItemStatus }): string | null {
  return isClosed(status) ? `The work item is closed (${status}) and can no longer be pushed.` : null;
}

/** Ends the sync. The vendor's ticket does not change. */
export async function unlinkTicket(tx: TenantTx, actor: Actor, itemId: string, id: string): Promise<void> {
  const { orgId } = actor;
  const ticket = await readTicket(tx, orgId, itemId, id);
  const { numUpdatedRows } = await tx
    .updateTable('tickets')
    .set({ unlinked_at: sql<Date>`now()`, unlinked_by: actor.name, updated_at: sql<Date>`now()` })
    .where('org_id', '=', orgId)
    .where('id', '=', ticket.id)
    .where('unlinked_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return;
  const before = { ticket_id: ticket.id, connection: ticket.connection_name, key: ticket.external_key };
  await recordAudit(tx, actor, { action: 'work_item.ticket_unlinked', objectType: 'work_item', objectId: ticket.work_item_id, before });
  const data = { work_item_id: ticket.work_item_id, connection_id: ticket.connection_id, key: ticket.external_key };
  await emit(tx, orgId, { type: 'ticket.unlinked', subject: ticket.id, data });
}

interface RepairRequest {
  itemId: string;
  id: string;
  direction: Repair['direction'];
}

/** Requests a repair, which a job carries out. It also ends a pause. */
export async function repairTicket(tx: TenantTx, actor: Actor, { itemId, id, direction }: RepairRequest): Promise<TicketView> {
  const { orgId } = actor;
  const ticket = await readTicket(tx, orgId, itemId, id);
  assertRepairable(ticket, direction);
  const { type, id: actorId, name, memberId, person } = actor;
  const repair: Repair = { direction, by: { type, id: actorId, name, memberId, person }, requested_at: new Date().toISOString() };
  await enqueueTicket(tx, orgId, ticket.id);
  await tx
    .updateTable('tickets')
    .set({
      repair: JSON.stringify(repair),
      ...(ticket.status === 'paused' ? { status: 'linked' as const, paused_reason: null } : {}),
      writes: '[]',
      duplicates: '[]',
      updated_at: sql<Date>`now()`,
    })
    .where('org_id', '=', orgId)
    .where('id', '=', ticket.id)
    .execute();
  const after = { ticket_id: ticket.id, key: ticket.external_key, direction, drift: ticket.drift };
  await recordAudit(tx, actor, { action: 'work_item.ticket_repair_requested', objectType: 'work_item', objectId: ticket.work_item_id, after });
  return readTicket(tx, orgId, itemId, id);
}

function assertRepairable(
  { connection_name: name, connection_usable: usable, external_id, gone_at, status }: TicketView,
  direction: Repair['direction'],
): void {
  if (!usable) throw new AppError('conflict', `The connection "${name}" is paused or deleted. Enable it, or unlink the ticket.`);
  if (status === 'pushing') throw new AppError('conflict', 'The ticket is still being created. Try again in a moment.');
  if (direction === 'pull' && (external_id === null || gone_at !== null))
    throw new AppError('conflict', 'There is no ticket to pull from. Use `push` to create one, or unlink the ticket.');
}

async function readTicket(tx: TenantTx, orgId: string, itemId: string, id: string): Promise<TicketView> {
  const [ticket] = await readViews(tx, orgId, sql`t.id = ${id} and t.work_item_id = ${itemId}`);
  if (!ticket) throw notFound('ticket', id);
  return ticket;
}

/** All tickets of a work item, oldest first. */
export function ticketsOf(tx: TenantTx, orgId: string, itemId: string): Promise<TicketView[]> {
  return readViews(tx, orgId, sql`t.work_item_id = ${itemId}`);
}

export async function listTickets(tx: TenantTx, orgId: string, itemId: string, page: PageRequest) {
  await readItem(tx, orgId, itemId);
  return listViews(tx, orgId, sql`t.work_item_id = ${itemId}`, page);
}

/** Tickets that are out of sync, or may be because their vendor cannot be polled. */
export function listDrift(tx: TenantTx, orgId: string, page: PageRequest) {
  return listViews(
    tx,
    orgId,
    sql`(t.status in ('paused', 'failed') or t.gone_at is not null or t.drift <> '[]' or t.duplicates <> '[]' or p.error is not null)`,
    page,
  );
}

function viewsSql(orgId: string, which: RawBuilder<unknown>): RawBuilder<TicketView> {
  return sql<TicketView>`
    select t.*, c.name as connection_name, c.provider, c.enabled and c.deleted_at is null as connection_usable,
      p.error_kind as poll_error_kind, p.error as poll_error, w.title as item_title, w.status as item_status
    from tickets t
    join ${connectionFacts} c on c.org_id = ${orgId} and c.id = t.connection_id
    join work_items w on w.org_id = ${orgId} and w.id = t.work_item_id
    left join ticket_polls p on p.org_id = ${orgId} and p.connection_id = t.connection_id
    where t.org_id = ${orgId} and t.unlinked_at is null and ${which}`;
}

async function readViews(tx: TenantTx, orgId: string, which: RawBuilder<unknown>): Promise<TicketView[]> {
  const { rows } = await sql<TicketView>`${viewsSql(orgId, which)} order by t.created_at, t.id`.execute(tx);
  return rows;
}

function listViews(tx: TenantTx, orgId: string, which: RawBuilder<unknown>, page: PageRequest) {
  const tickets = sql<TicketView>`(${viewsSql(orgId, which)})`.as('tickets');
  const query = tx.selectFrom(tickets).selectAll();
  return fetchPage(tx, query, { created_at: { column: 'created_at', type: 'timestamptz' } }, page);
}
