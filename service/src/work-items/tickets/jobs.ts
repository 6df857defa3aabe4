import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { declareJob, enqueue, enqueueAll } from '../../jobs/jobs.ts';
import { storable } from './fields.ts';

/** Brings a work item and its ticket in step, whatever it is that moved. The vendor may keep it waiting. */
export const syncTicket = declareJob<TicketJob>('sync_ticket', { maxAttempts: 10, kind: 'io' });
/** Asks a vendor which tickets changed, for messages that never came. */
export const pollTickets = declareJob<{ org_id: string; connection_id: string }>('poll_tickets', { maxAttempts: 1, kind: 'io' });
export const startTicketPolls = declareJob<Record<string, never>>('start_ticket_polls', { maxAttempts: 1 });

interface TicketJob {
  org_id: string;
  ticket_id: string;
}

const keyOf = ({ ticket_id }: TicketJob): string => `ticket ${ticket_id}`;

/**
 * However much happens to a ticket, one job waits for it. Jobs of one key wait for each other's transactions, so everyone who also writes the
 * ticket's row enqueues first and writes then; and those who change work items come before both.
 */
export async function enqueueTicket(tx: TenantTx, orgId: string, ticketId: string, runAt?: Date): Promise<void> {
  const job = { org_id: orgId, ticket_id: ticketId };
  await enqueue(tx, syncTicket, job, { key: keyOf(job), ...(runAt === undefined ? {} : { runAt }) });
}

export async function enqueueTickets(tx: TenantTx, orgId: string, ticketIds: readonly string[]): Promise<void> {
  const jobs = ticketIds.map((ticket_id) => ({ org_id: orgId, ticket_id }));
  await enqueueAll(tx, syncTicket, jobs, keyOf);
}

/** What changed about work items has to be told to their tickets. */
export async function followWithTickets(tx: TenantTx, orgId: string, itemIds: readonly string[]): Promise<void> {
  const tickets = await tx
    .selectFrom('tickets')
    .select('id')
    .where('org_id', '=', orgId)
    .where(sql<boolean>`work_item_id = any(${itemIds as string[]}::uuid[])`)
    .where('unlinked_at', 'is', null)
    .orderBy('id')
    .execute();
  await enqueueTickets(
    tx,
    orgId,
    tickets.map(({ id }) => id),
  );
}

export interface ChangedTicket {
  orgId: string;
  connectionId: string;
  /** The vendor's. */
  externalIds: readonly string[];
}

/** A vendor says that tickets changed. It is not taken at its word: each is read again. */
export async function hearOfTickets(tx: TenantTx, { orgId, connectionId, externalIds }: ChangedTicket): Promise<void> {
  const tickets = await tx
    .selectFrom('tickets')
    .select('id')
    .where('org_id', '=', orgId)
    .where('connection_id', '=', connectionId)
    .where(sql<boolean>`external_id = any(${externalIds.map(storable)}::text[])`)
    .where('unlinked_at', 'is', null)
    .orderBy('id')
    .execute();
  await readAgain(
    tx,
    orgId,
    tickets.map(({ id }) => id),
  );
}

/** Ids in order. */
export async function readAgain(tx: TenantTx, orgId: string, ticketIds: readonly string[]): Promise<void> {
  if (ticketIds.length === 0) return;
  await enqueueTickets(tx, orgId, ticketIds);
  await sql`update tickets set changes_announced = changes_announced + 1 where org_id = ${orgId} and id = any(${ticketIds as string[]}::uuid[])`.execute(tx);
}
