import type { FaultKind, Ticket, TicketChange } from '@rrs/connectors';
import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { Database, TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { EventType } from '../../events/types.ts';
import { type Actor, systemActor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import { readItem, type WorkItemRow } from '../items/read.ts';
import { updateWorkItem } from '../items/update.ts';
import {
  type Drift,
  driftOf,
  followed,
  isEcho,
  oursOf,
  type Sent,
  type Shown,
  safeUrl,
  sentBy,
  shownAfter,
  storable,
  type Theirs,
  theirsOf,
  whyFollowed,
} from './fields.ts';
import { enqueueTicket } from './jobs.ts';
import { type Held, type TicketRow, writeHeld } from './lease.ts';

/** What came of asking a vendor: each note is a transaction of its own, with the audit event and the outgoing event of what changed. */

/** What we did just before the vendor answered. */
export interface Wrote {
  how: 'created' | 'found' | 'written';
  change: TicketChange;
}

export const now = sql<Date>`now()`;

/** The vendor's ticket as it is. What its people changed moves the work item, unless that is not to be moved: then the reason is kept. */
export async function noteTicket(db: Database, held: Held, read: Ticket, wrote: Wrote | null = null): Promise<Held> {
  const attempt = (refused: string | null): Promise<Held> => db.withTenant({ orgId: held.orgId }, (tx) => keepTicket(tx, held, { read, wrote, refused }));
  try {
    return await attempt(null);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return await attempt(error.message);
  }
}

/** The rules of work items have the last word. */
export function isRefusal(error: unknown): error is AppError {
  return error instanceof AppError && (error.code === 'conflict' || error.code === 'invalid_transition');
}

interface Kept {
  read: Ticket;
  wrote: Wrote | null;
  refused: string | null;
}

async function keepTicket(tx: TenantTx, held: Held, { read, wrote, refused }: Kept): Promise<Held> {
  const { orgId, ticket } = held;
  const actor = actorOf(held);
  const before = ticket.theirs as Theirs | null;
  const theirs = theirsOf(read);
  const change = wrote?.change ?? {};
  const moves = theirs.state !== (before?.state ?? 'open') && theirs.state !== change.state;
  if (moves && refused === null) await follow(tx, actor, held.item.id, read);
  const item = await readItem(tx, orgId, held.item.id);
  const kept = {
    sent: { ...(ticket.sent as Sent), ...sentBy(change) },
    shown: { ...(ticket.shown as Shown), ...shownAfter(change, theirs) },
    refusal: moves ? refused : change.state === undefined ? ticket.refusal : null,
  };
  const drift = driftOf({ ...kept, ours: oursOf(item, held.body), theirs, status: item.status });
  const changed = before === null || isEcho(before, theirs) ? [] : namesOf(before, theirs, change, kept.sent);
  const isNews = wrote !== null || changed.length > 0 || ticket.status === 'failed' || ticket.gone_at !== null;
  const row = await writeHeld(tx, held, {
    ...(ticket.status === 'paused' ? {} : { status: 'linked' as const }),
    external_id: storable(read.id),
    external_key: storable(read.key),
    url: safeUrl(read.url),
    sent: JSON.stringify(kept.sent),
    shown: JSON.stringify(kept.shown),
    theirs: JSON.stringify(theirs),
    refusal: kept.refusal,
    drift: JSON.stringify(drift),
    gone_at: null,
    error_kind: null,
    error: null,
    failures: 0,
    retry_at: null,
    changes_read: ticket.changes_announced,
    read_at: now,
    ...(wrote && wrote.how !== 'found' ? { written_at: now } : {}),
    ...(isNews ? { updated_at: now } : {}),
  });
  const after = { ...held, ticket: row, item };
  await tellWritten(tx, after, wrote);
  if (before !== null && changed.length > 0) await tellChanged(tx, after, { before, theirs, names: changed });
  await tellDrift(tx, after, ticket.drift as Drift[]);
  return after;
}

async function follow(tx: TenantTx, actor: Actor, itemId: string, { state, key }: Ticket): Promise<void> {
  const { status } = await readItem(tx, actor.orgId, itemId);
  const to = followed(state, status);
  if (to !== null) await updateWorkItem(tx, actor, { id: itemId, patch: { status: to, reason: whyFollowed(state, key) }, check: () => {} });
}

const shownNames = ['title', 'priority', 'due_date', 'state', 'state_name', 'assignee'] as const;

/** What they changed. What we just wrote is not that, nor what equals what we wrote before: some vendors show the old a little longer. */
function namesOf(before: Theirs, theirs: Theirs, change: TicketChange, sent: Sent): (keyof Theirs)[] {
  const written = new Set<string>([...Object.keys(sentBy(change)), ...(change.state === undefined ? [] : ['state_name'])]);
  const late = (['title', 'priority', 'due_date'] as const).filter((name) => sent[name] === theirs[name]);
  return shownNames.filter((name) => before[name] !== theirs[name] && !written.has(name) && !late.some((one) => one === name));
}

function actorOf({ orgId, connection }: Pick<Held, 'orgId' | 'connection'>): Actor {
  return systemActor(orgId, connection.name);
}

async function tellWritten(tx: TenantTx, held: Held, wrote: Wrote | null): Promise<void> {
  if (wrote === null) return;
  const { external_key: key, url } = held.ticket;
  const fields = Object.keys(sentBy(wrote.change));
  if (wrote.how === 'written') await tell(tx, held, { action: 'ticket_written', event: 'ticket.updated', after: { key, by: 'work_item', fields } });
  else await tell(tx, held, { action: 'ticket_linked', event: 'ticket.linked', after: { key, url, found: wrote.how === 'found' } });
}

async function tellChanged(tx: TenantTx, held: Held, { before, theirs, names }: { before: Theirs; theirs: Theirs; names: (keyof Theirs)[] }): Promise<void> {
  const side = (from: Theirs) => Object.fromEntries(names.map((name) => [name, from[name]]));
  const said = { key: held.ticket.external_key, by: 'vendor' };
  await tell(tx, held, { action: 'ticket_changed', event: 'ticket.updated', before: side(before), after: { ...said, ...side(theirs) } });
}

async function tellDrift(tx: TenantTx, held: Held, before: readonly Drift[]): Promise<void> {
  const drift = held.ticket.drift as Drift[];
  if (drift.length === 0 || JSON.stringify(drift) === JSON.stringify(before)) return;
  await tell(tx, held, { action: 'ticket_drifted', event: 'ticket.drifted', after: { key: held.ticket.external_key, drift } });
}

interface Told {
  action: string;
  event: EventType;
  before?: Record<string, unknown>;
  after: Record<string, unknown>;
}

/** On the timeline of the work item, and outside. */
async function tell(tx: TenantTx, held: Held, { action, event, before, after }: Told): Promise<void> {
  const { ticket, connection } = held;
  const about = { ticket_id: ticket.id, ...after };
  const audited = { action: `work_item.${action}`, objectType: 'work_item', objectId: ticket.work_item_id, ...(before ? { before } : {}), after: about };
  await recordAudit(tx, actorOf(held), audited);
  const data = { work_item_id: ticket.work_item_id, connection_id: connection.id, ...after, ...(before ? { before } : {}) };
  await emit(tx, held.orgId, { type: event, subject: ticket.id, data });
}

/** Without the vendor: the work item alone may have made a difference. */
export async function noteItem(db: Database, held: Held): Promise<Held> {
  return db.withTenant({ orgId: held.orgId }, async (tx) => {
    const item = await readItem(tx, held.orgId, held.item.id);
    const drift = driftNow(held.ticket, item, held.body);
    const repair = JSON.stringify(held.ticket.repair);
    const changes = JSON.stringify(drift) !== JSON.stringify(held.ticket.drift);
    const row = await writeHeld(tx, held, {
      drift: JSON.stringify(drift),
      item_version: held.item.version,
      repair: sql<string>`case when repair = ${repair}::jsonb then null else repair end`,
      ...(changes ? { updated_at: now } : {}),
    });
    const after = { ...held, ticket: row, item };
    await tellDrift(tx, after, held.ticket.drift as Drift[]);
    return after;
  });
}

export function driftNow(ticket: TicketRow, item: WorkItemRow, body: readonly string[]): Drift[] {
  const theirs = ticket.theirs as Theirs | null;
  if (theirs === null) return [];
  const { sent, shown, refusal } = ticket as { sent: Sent; shown: Shown; refusal: string | null };
  return driftOf({ ours: oursOf(item, body), sent, shown, theirs, status: item.status, refusal });
}

export async function noteGone(db: Database, held: Held): Promise<Held> {
  const { ticket } = held;
  return db.withTenant({ orgId: held.orgId }, async (tx) => {
    const known = { changes_read: ticket.changes_announced, read_at: now, error_kind: null, error: null, failures: 0, retry_at: null };
    const status = ticket.status === 'failed' ? ({ status: 'linked' } as const) : {};
    const row = await writeHeld(tx, held, { ...known, ...status, ...(ticket.gone_at === null ? { gone_at: now, updated_at: now } : {}) });
    const after = { ...held, ticket: row };
    if (ticket.gone_at === null) await tell(tx, after, { action: 'ticket_gone', event: 'ticket.gone', after: { key: ticket.external_key } });
    return after;
  });
}

export interface Failure {
  kind: FaultKind | 'service';
  message: string;
  retryAt: Date | null;
}

/** In words, on the ticket; and once more later. */
export async function noteFailure(db: Database, held: Held, { kind, message: said, retryAt }: Failure): Promise<void> {
  const { ticket } = held;
  const message = storable(said);
  await db.withTenant({ orgId: held.orgId }, async (tx) => {
    if (retryAt !== null) await enqueueTicket(tx, held.orgId, ticket.id, retryAt);
    const isNews = ticket.error !== message;
    const row = await writeHeld(tx, held, {
      ...(ticket.status === 'paused' ? {} : { status: 'failed' as const }),
      error_kind: kind,
      error: message,
      failures: ticket.failures + 1,
      retry_at: retryAt,
      ...(isNews ? { updated_at: now } : {}),
    });
    if (isNews)
      await tell(tx, { ...held, ticket: row }, { action: 'ticket_failed', event: 'ticket.failed', after: { key: row.external_key, kind, error: message } });
  });
}

export async function notePause(db: Database, held: Held, reason: string): Promise<Held> {
  return db.withTenant({ orgId: held.orgId }, async (tx) => {
    const row = await writeHeld(tx, held, {
      status: 'paused',
      paused_reason: reason,
      error_kind: null,
      error: null,
      failures: 0,
      retry_at: null,
      updated_at: now,
    });
    const after = { ...held, ticket: row };
    await tell(tx, after, { action: 'ticket_paused', event: 'ticket.paused', after: { key: row.external_key, reason } });
    return after;
  });
}

/** Columns that nobody is told of. */
export async function noteQuietly(db: Database, held: Held, columns: Parameters<typeof writeHeld>[2]): Promise<Held> {
  const ticket = await db.withTenant({ orgId: held.orgId }, (tx) => writeHeld(tx, held, columns));
  return { ...held, ticket };
}
