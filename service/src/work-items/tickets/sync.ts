import { ConnectorError, type TicketChange, type TicketDraft, type TicketState } from '@rrs/connectors';
import type { Database } from '../../db/database.ts';
import { type OpenTicketing, openTicketing, type TicketVendors } from '../../integrations/connections/ticketing.ts';
import type { JobContext } from '../../jobs/jobs.ts';
import { isClosed } from '../items/status.ts';
import { assertSearchable, CreationUnconfirmed } from './creation.ts';
import { changesOf, type Ours, oursOf, type Sent, stateFor, type Theirs } from './fields.ts';
import { enqueueTicket } from './jobs.ts';
import { type LeasedTicket, LeaseLost, leaseTicket, releaseTicket } from './lease.ts';
import { recordFailure, recordGone, recordItemState, recordPause, recordTicket, writeSilently } from './outcomes.ts';
import { pullFromTicket, type Repair } from './repair.ts';
import { closingComment, workItemUrl } from './text.ts';

export interface TicketSyncDeps extends TicketVendors {
  publicUrl(): string;
}

/** Delay before a ticket that another worker has leased is tried again. */
const BUSY_DELAY_MS = 10_000;
/** Time limit of one sync. Well within the lease. */
const TIMEOUT_MS = 150_000;
/** Most writes per ticket within the window. More look like a loop with another system, and the ticket is paused. */
const MAX_WRITES = 10;
const WRITE_WINDOW_MS = 3_600_000;
/** Shortest time between two writes that only change the text, as when findings are added one by one. */
const TEXT_INTERVAL_MS = 600_000;
const RETRY_MS = { first: 60_000, most: 3_600_000 };

/** Compares work item and ticket and does what is missing, whichever side changed. */
export async function syncLinkedTicket(deps: TicketSyncDeps, { db, signal, lastAttempt }: JobContext, orgId: string, id: string): Promise<void> {
  const leased = await leaseTicket(db, orgId, id);
  if (leased === null) return;
  if (leased === 'busy') return db.withTenant({ orgId }, (tx) => enqueueTicket(tx, orgId, id, new Date(Date.now() + BUSY_DELAY_MS)));
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    await syncLeased(deps, db, leased, AbortSignal.any([signal, timeout]));
  } catch (error) {
    if (error instanceof LeaseLost) return;
    const timedOut = timeout.aborted && !signal.aborted;
    const fault = error instanceof ConnectorError ? error : timedOut ? timeoutError(leased) : null;
    const retry = fault instanceof CreationUnconfirmed ? fault.retryAt : retryAt(leased);
    if (fault) await ignoreLostLease(recordFailure(db, leased, { kind: fault.kind, message: fault.message, retryAt: retry }));
    else {
      if (lastAttempt && !signal.aborted) await ignoreLostLease(recordFailure(db, leased, { ...internalError, retryAt: retryAt(leased) }));
      throw error;
    }
  } finally {
    await releaseTicket(db, leased);
  }
}

const internalError = {
  kind: 'service',
  message: 'Internal error: all attempts to sync the ticket failed. See the service log.',
} as const;

function timeoutError({ connection }: LeasedTicket): ConnectorError {
  return new ConnectorError('unavailable', `${connection.name} did not respond within ${TIMEOUT_MS / 1000} seconds.`);
}

async function ignoreLostLease(writing: Promise<unknown>): Promise<void> {
  await writing.catch((error: unknown) => {
    if (!(error instanceof LeaseLost)) throw error;
  });
}

function retryAt({ ticket: { failures } }: LeasedTicket): Date {
  return new Date(Date.now() + Math.min(RETRY_MS.first * 2 ** failures, RETRY_MS.most) * (0.9 + Math.random() / 5));
}

async function syncLeased(deps: TicketSyncDeps, db: Database, leased: LeasedTicket, signal: AbortSignal): Promise<void> {
  const { connection, ticket } = leased;
  if (connection.deleted_at !== null) {
    const message = `The connection "${connection.name}" was deleted. Unlink the ticket, or push the work item to another connection.`;
    return recordFailure(db, leased, { kind: 'configuration', message, retryAt: null });
  }
  // After the connection is enabled again, the next poll queues what was left undone.
  if (!connection.enabled) return;
  const reads = ticket.changes_announced > ticket.changes_read || ticket.repair !== null;
  const writes = ticket.status !== 'paused' && ticket.gone_at === null && Object.keys(changesOf(oursNow(leased), ticket.sent as Sent)).length > 0;
  if (ticket.external_id !== null && !reads && !writes && ticket.status !== 'failed') {
    await recordItemState(db, leased);
    return;
  }
  const vendor = await openTicketing(deps, connection, signal);
  await recordItemState(db, await contactVendor(deps, db, leased, vendor));
}

const oursNow = ({ item, body }: LeasedTicket): Ours => oursOf(item, body);

async function contactVendor(deps: TicketSyncDeps, db: Database, leased: LeasedTicket, vendor: OpenTicketing): Promise<LeasedTicket> {
  const repair = leased.ticket.repair as Repair | null;
  const { external_id: externalId, gone_at: goneAt } = leased.ticket;
  if (externalId === null || (goneAt !== null && repair?.direction === 'push')) {
    return writeChanges(deps, db, await findOrCreate(deps, db, leased, vendor), vendor);
  }
  const read = await vendor.connector.read(vendor.context, externalId);
  if (read === null) return recordGone(db, leased);
  const known = await recordTicket(db, leased, read);
  return writeChanges(deps, db, repair?.direction === 'pull' ? await pullFromTicket(db, known, repair) : known, vendor);
}

/** Looks for the marker first: an earlier attempt may have created the ticket and stopped before it stored the response. */
async function findOrCreate(deps: TicketSyncDeps, db: Database, leased: LeasedTicket, { connector, context }: OpenTicketing): Promise<LeasedTicket> {
  const found = await connector.find(context, leased.ticket.marker);
  const reset = await writeSilently(db, leased, resetColumns(leased));
  if (found !== null) return recordTicket(db, reset, found, { how: 'found', change: {} });
  assertSearchable(leased);
  const { title, body, priority, due_date } = oursNow(leased);
  const draft: TicketDraft = { key: leased.ticket.marker, title, body, priority, dueDate: due_date, url: workItemUrl(deps.publicUrl(), leased.item.id) };
  const counted = await writeSilently(db, reset, { creating_at: new Date() });
  const created = await connector.create(context, draft);
  return recordTicket(db, counted, created, { how: 'created', change: { title, body, priority, dueDate: due_date } });
}

/** Clears what is known about a previous ticket that was deleted at the vendor. */
function resetColumns({ ticket }: LeasedTicket) {
  const status = ticket.status === 'linked' ? ({ status: 'pushing' } as const) : {};
  return { ...status, sent: '{}', shown: '{}', external_id: null, external_key: null, url: null, theirs: null, drift: '[]', refusal: null };
}

async function writeChanges(deps: TicketSyncDeps, db: Database, leased: LeasedTicket, { connector, context }: OpenTicketing): Promise<LeasedTicket> {
  const { ticket, item } = leased;
  const { external_id: externalId } = ticket;
  const change = plannedChange(leased);
  if (externalId === null || ticket.status === 'paused' || Object.keys(change).length === 0) return leased;
  const writeAt = delayedUntil(leased, change);
  if (writeAt !== null) {
    await db.withTenant({ orgId: leased.orgId }, (tx) => enqueueTicket(tx, leased.orgId, ticket.id, writeAt));
    return leased;
  }
  if (recentWrites(leased).length >= MAX_WRITES) return recordPause(db, leased, pauseReason(leased));
  let counted = await countWrite(db, leased);
  // The comment comes first, because many vendors accept none on closed tickets.
  if (change.state !== undefined && isClosed(item.status) && (ticket.sent as Sent).comment !== item.status) {
    await connector.comment(context, externalId, closingComment(item, workItemUrl(deps.publicUrl(), item.id)));
    counted = await writeSilently(db, counted, { sent: JSON.stringify({ ...(ticket.sent as Sent), comment: item.status }) });
  }
  const updated = await connector.update(context, externalId, change);
  return recordTicket(db, counted, updated, { how: 'written', change });
}

/** The fields that changed since the last write. A repair with `push` writes all owned fields and the state that corresponds to the work item. */
function plannedChange(leased: LeasedTicket): TicketChange {
  const { ticket, item } = leased;
  const repair = ticket.repair as Repair | null;
  const theirs = ticket.theirs as Theirs | null;
  if (repair?.direction !== 'push') return changesOf(oursNow(leased), ticket.sent as Sent);
  const wanted: TicketState = stateFor(item.status);
  return { ...changesOf({ ...oursNow(leased), state: null }, {}), ...(theirs?.state === wanted ? {} : { state: wanted }) };
}

/** Null if the change can be written now. */
function delayedUntil({ ticket }: LeasedTicket, change: TicketChange): Date | null {
  if (Object.keys(change).join() !== 'body' || ticket.written_at === null) return null;
  const at = ticket.written_at.getTime() + TEXT_INTERVAL_MS;
  return at > Date.now() ? new Date(at) : null;
}

function recentWrites({ ticket }: LeasedTicket): string[] {
  return (ticket.writes as string[]).filter((at) => Date.parse(at) > Date.now() - WRITE_WINDOW_MS);
}

/**
 * Counts only writes that follow a change at the vendor: two systems that answer each other take turns, while people can edit a work item as often as
 * they like. Counts before writing, so that a write of a worker that dies is counted too.
 */
async function countWrite(db: Database, leased: LeasedTicket): Promise<LeasedTicket> {
  const { vendor_changed_at: changed, written_at: written } = leased.ticket;
  if (changed === null || (written !== null && changed <= written)) return leased;
  return writeSilently(db, leased, { writes: JSON.stringify([...recentWrites(leased), new Date().toISOString()]) });
}

function pauseReason({ ticket }: LeasedTicket): string {
  return `Ticket ${ticket.external_key} was changed at the vendor and then written ${MAX_WRITES} times within an hour, which suggests a loop with another system. Writing stops until you repair the ticket.`;
}
