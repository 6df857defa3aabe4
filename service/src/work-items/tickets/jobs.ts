import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { declareJob, enqueue, enqueueAll } from '../../jobs/jobs.ts';
import { storable } from '../../shared/storable.ts';

/** Syncs a work item and its ticket, whichever side changed. It mostly waits for the vendor. */
export const syncTicket = declareJob<TicketJob>('sync_ticket', { maxAttempts: 10, kind: 'io' });
/** Polls a vendor for changed tickets, because webhooks can get lost. */
export const pollTickets = declareJob<{ org_id: string; connection_id: string }>('poll_tickets', { maxAttempts: 1, kind: 'io' });
export const startTicketPolls = declareJob<Record<string, never>>('start_ticket_polls', { maxAttempts: 1 });

interface TicketJob {
  org_id: string;
  ticket_id: string;
}

const keyOf = ({ ticket_id }: TicketJob): string => `ticket ${ticket_id}`;

/**
 * A ticket has at most one queued job. Adding a job with the same key waits for other transactions that did so. To avoid deadlocks,
 * a transaction changes work items first, then enqueues, then writes the ticket's row.
 */
export async function enqueueTicket(tx: TenantTx, orgId: string, ticketId: string, runAt?: Date): Promise<void> {
  const job = { org_id: orgId, ticket_id: ticketId };
  await enqueue(tx, syncTicket, job, { key: keyOf(job), ...(runAt === undefined ? {} : { runAt }) });
}

export async function enqueueTickets(tx: TenantTx, orgId: string, ticketIds: readonly string[]): Promise<void> {
  const jobs = ticketIds.map((ticket_id) => ({ org_id: orgId, ticket_id }));
  await enqueueAll(tx, syncTicket, jobs, keyOf);
}

/** Queues a sync of all tickets of work items that changed. */
export async function queueTicketSyncs(tx: TenantTx, orgId: string, itemIds: readonly string[]): Promise<void> {
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

interface ChangedTickets {
  orgId: string;
  connectionId: string;
  /** The vendor's ids. */
  externalIds: readonly string[];
}

/** Queues reads of tickets that a vendor reports as changed. The report itself is not trusted. */
export async function queueTicketReads(tx: TenantTx, { orgId, connectionId, externalIds }: ChangedTickets): Promise<void> {
  const tickets = await tx
    .selectFrom('tickets')
    .select('id')
    .where('org_id', '=', orgId)
    .where('connection_id', '=', connectionId)
    .where(sql<boolean>`external_id = any(${externalIds.map((text) => storable(text))}::text[])`)
    .where('unlinked_at', 'is', null)
    .orderBy('id')
    .execute();
  await requestReads(
    tx,
    orgId,
    tickets.map(({ id }) => id),
  );
}

/** Makes the next sync of each ticket read it from the vendor. The ids must be sorted, so that concurrent callers lock rows in the same order. */
export async function requestReads(tx: TenantTx, orgId: string, ticketIds: readonly string[]): Promise<void> {
  if (ticketIds.length === 0) return;
  await enqueueTickets(tx, orgId, ticketIds);
  await sql`update tickets set changes_announced = changes_announced + 1 where org_id = ${orgId} and id = any(${ticketIds as string[]}::uuid[])`.execute(tx);
}
