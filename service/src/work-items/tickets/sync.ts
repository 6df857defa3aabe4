import { ConnectorError, type TicketChange, type TicketDraft, type TicketState } from '@rrs/connectors';
import type { Database } from '../../db/database.ts';
import { type OpenTicketing, openTicketing, type TicketVendors } from '../../integrations/connections/ticketing.ts';
import type { JobContext } from '../../jobs/jobs.ts';
import { isClosed } from '../items/status.ts';
import { changesOf, type Ours, oursOf, type Sent, stateFor, type Theirs } from './fields.ts';
import { enqueueTicket } from './jobs.ts';
import { type Held, holdTicket, letGo, TicketLost } from './lease.ts';
import { noteFailure, noteGone, noteItem, notePause, noteQuietly, noteTicket } from './notes.ts';
import { type Repair, takeOver } from './repair.ts';
import { closingComment, workItemUrl } from './text.ts';

export interface TicketSyncing extends TicketVendors {
  publicUrl(): string;
}

/** One that is held by another worker is looked at again after so long. */
const BUSY_MS = 10_000;
/** For all that is asked of the vendor at a time; well within the lease. */
const LONGEST_MS = 150_000;
const WINDOW_MS = 3_600_000;
const MOST_WRITES = 10;
/** A text that keeps changing, as when findings are added one by one, is written this often at the most. */
const TEXT_EVERY_MS = 600_000;
const RETRY_MS = { first: 60_000, most: 3_600_000 };

/** Whatever it is that moved, this brings the two sides in step: it looks at what there is and does what is missing. */
export async function bringInStep(syncing: TicketSyncing, { db, signal, lastAttempt }: JobContext, orgId: string, id: string): Promise<void> {
  const held = await holdTicket(db, orgId, id);
  if (held === null) return;
  if (held === 'busy') return db.withTenant({ orgId }, (tx) => enqueueTicket(tx, orgId, id, new Date(Date.now() + BUSY_MS)));
  const timeout = AbortSignal.timeout(LONGEST_MS);
  try {
    await attempt(syncing, db, held, AbortSignal.any([signal, timeout]));
  } catch (error) {
    if (error instanceof TicketLost) return;
    const tooSlow = timeout.aborted && !signal.aborted;
    const fault = error instanceof ConnectorError ? error : tooSlow ? tookTooLong(held) : null;
    if (fault) await unlessLost(noteFailure(db, held, { kind: fault.kind, message: fault.message, retryAt: retryAt(held) }));
    else {
      if (lastAttempt && !signal.aborted) await unlessLost(noteFailure(db, held, { ...ownFault, retryAt: retryAt(held) }));
      throw error;
    }
  } finally {
    // A lease that cannot be given back ends by itself.
    await letGo(db, held).catch(() => {});
  }
}

const ownFault = {
  kind: 'service',
  message: 'Keeping the ticket in step failed several times because of a fault in this service; its log has the details.',
} as const;

function tookTooLong({ connection }: Held): ConnectorError {
  return new ConnectorError('unavailable', `${connection.name} took longer than ${LONGEST_MS / 1000} seconds.`);
}

async function unlessLost(noting: Promise<unknown>): Promise<void> {
  await noting.catch((error: unknown) => {
    if (!(error instanceof TicketLost)) throw error;
  });
}

function retryAt({ ticket: { failures } }: Held): Date {
  return new Date(Date.now() + Math.min(RETRY_MS.first * 2 ** failures, RETRY_MS.most) * (0.9 + Math.random() / 5));
}

async function attempt(syncing: TicketSyncing, db: Database, held: Held, signal: AbortSignal): Promise<void> {
  const { connection, ticket } = held;
  if (connection.deleted_at !== null) {
    const message = `The connection "${connection.name}" was deleted. Unlink the ticket, or push the work item to another connection.`;
    return noteFailure(db, held, { kind: 'configuration', message, retryAt: null });
  }
  // When it is enabled again, the next poll finds what was left undone.
  if (!connection.enabled) return;
  const reads = ticket.changes_announced > ticket.changes_read || ticket.repair !== null;
  const writes = ticket.status !== 'paused' && ticket.gone_at === null && Object.keys(changesOf(oursNow(held), ticket.sent as Sent)).length > 0;
  if (ticket.external_id !== null && !reads && !writes && ticket.status !== 'failed') {
    await noteItem(db, held);
    return;
  }
  const vendor = await openTicketing(syncing, connection, signal);
  await noteItem(db, await contact(syncing, db, held, vendor));
}

const oursNow = ({ item, body }: Held): Ours => oursOf(item, body);

async function contact(syncing: TicketSyncing, db: Database, held: Held, vendor: OpenTicketing): Promise<Held> {
  const repair = held.ticket.repair as Repair | null;
  const { external_id: externalId, gone_at: goneAt } = held.ticket;
  if (externalId === null || (goneAt !== null && repair?.direction === 'push')) {
    return write(syncing, db, await findOrCreate(syncing, db, held, vendor), vendor);
  }
  const read = await vendor.connector.read(vendor.context, externalId);
  if (read === null) return noteGone(db, held);
  const known = await noteTicket(db, held, read);
  return write(syncing, db, repair?.direction === 'pull' ? await takeOver(db, known, repair) : known, vendor);
}

/** An attempt before this one may have made it and died, or never heard the answer. */
async function findOrCreate(syncing: TicketSyncing, db: Database, held: Held, { connector, context }: OpenTicketing): Promise<Held> {
  const found = await connector.find(context, held.ticket.marker);
  const unsent = await noteQuietly(db, held, unmade(held));
  if (found !== null) return noteTicket(db, unsent, found, { how: 'found', change: {} });
  const { title, body, priority, due_date } = oursNow(held);
  const draft: TicketDraft = { key: held.ticket.marker, title, body, priority, dueDate: due_date, url: workItemUrl(syncing.publicUrl(), held.item.id) };
  const counted = await countWrite(db, unsent);
  const created = await connector.create(context, draft);
  return noteTicket(db, counted, created, { how: 'created', change: { title, body, priority, dueDate: due_date } });
}

/** Nothing is known of it, or what was known is of one that is gone. */
function unmade({ ticket }: Held) {
  const status = ticket.status === 'linked' ? ({ status: 'pushing' } as const) : {};
  return { ...status, sent: '{}', shown: '{}', external_id: null, external_key: null, url: null, theirs: null, drift: '[]', refusal: null };
}

async function write(syncing: TicketSyncing, db: Database, held: Held, { connector, context }: OpenTicketing): Promise<Held> {
  const { ticket, item } = held;
  const { external_id: externalId } = ticket;
  const change = plan(held);
  if (externalId === null || ticket.status === 'paused' || Object.keys(change).length === 0) return held;
  const wait = waitForText(held, change);
  if (wait !== null) {
    await db.withTenant({ orgId: held.orgId }, (tx) => enqueueTicket(tx, held.orgId, ticket.id, wait));
    return held;
  }
  if (recentWrites(held).length >= MOST_WRITES) return notePause(db, held, pauseReason(held));
  let counted = await countWrite(db, held);
  // Before it is closed: many vendors take nothing more after that.
  if (change.state !== undefined && isClosed(item.status) && (ticket.sent as Sent).comment !== item.status) {
    await connector.comment(context, externalId, closingComment(item, workItemUrl(syncing.publicUrl(), item.id)));
    counted = await noteQuietly(db, counted, { sent: JSON.stringify({ ...(ticket.sent as Sent), comment: item.status }) });
  }
  const answer = await connector.update(context, externalId, change);
  return noteTicket(db, counted, answer, { how: 'written', change });
}

/** What was changed here since; for a repair everything that is ours, and the state that goes with the work item. */
function plan(held: Held): TicketChange {
  const { ticket, item } = held;
  const repair = ticket.repair as Repair | null;
  const theirs = ticket.theirs as Theirs | null;
  if (repair?.direction !== 'push') return changesOf(oursNow(held), ticket.sent as Sent);
  const wanted: TicketState = stateFor(item.status);
  return { ...changesOf({ ...oursNow(held), state: null }, {}), ...(theirs?.state === wanted ? {} : { state: wanted }) };
}

function waitForText({ ticket }: Held, change: TicketChange): Date | null {
  if (Object.keys(change).join() !== 'body' || ticket.written_at === null) return null;
  const at = ticket.written_at.getTime() + TEXT_EVERY_MS;
  return at > Date.now() ? new Date(at) : null;
}

function recentWrites({ ticket }: Held): string[] {
  return (ticket.writes as string[]).filter((at) => Date.parse(at) > Date.now() - WINDOW_MS);
}

/** Before it is done, so that one that dies on the way counts as well. */
function countWrite(db: Database, held: Held): Promise<Held> {
  return noteQuietly(db, held, { writes: JSON.stringify([...recentWrites(held), new Date().toISOString()]) });
}

function pauseReason({ ticket }: Held): string {
  return `Ticket ${ticket.external_key} was written to ${MOST_WRITES} times within an hour, which looks like two systems that answer each other. Nothing more is written until somebody repairs the ticket.`;
}
