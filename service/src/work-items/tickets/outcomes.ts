import type { FaultKind, Ticket, TicketChange } from '@rrs/connectors';
import { sql } from 'kysely';
import type { Database, TenantTx } from '../../db/database.ts';
import { AppError } from '../../shared/errors.ts';
import { storable } from '../../shared/storable.ts';
import { readItem, type WorkItemRow } from '../items/read.ts';
import { announce, announceDrift, announceVendorChange, announceWrite, connectionActor, type VendorWrite } from './announce.ts';
import { followState } from './claims.ts';
import { type Drift, driftOf, isEcho, oursOf, type Sent, type Shown, safeUrl, sentFields, shownAfter, type Theirs, theirsOf } from './fields.ts';
import { enqueueTicket } from './jobs.ts';
import { type LeasedTicket, type TicketRow, writeLeased } from './lease.ts';

/** Outcomes of contacting a vendor. Each is stored in one transaction with its audit event and outgoing event. */

export const now = sql<Date>`now()`;

/** Stores the ticket as the vendor returned it. A state change at the vendor moves the work item. If the work item refuses, the reason is stored. */
export async function recordTicket(db: Database, leased: LeasedTicket, read: Ticket, write: VendorWrite | null = null): Promise<LeasedTicket> {
  const attempt = (refusal: string | null): Promise<LeasedTicket> =>
    db.withTenant({ orgId: leased.orgId }, (tx) => storeTicket(tx, leased, { read, write, refusal }));
  try {
    return await attempt(null);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return await attempt(error.message);
  }
}

/** Whether the rules of work items refused a change. */
export function isRefusal(error: unknown): error is AppError {
  return error instanceof AppError && (error.code === 'conflict' || error.code === 'invalid_transition');
}

interface VendorResponse {
  read: Ticket;
  write: VendorWrite | null;
  refusal: string | null;
}

async function storeTicket(tx: TenantTx, leased: LeasedTicket, { read, write, refusal }: VendorResponse): Promise<LeasedTicket> {
  const { orgId, ticket } = leased;
  const before = ticket.theirs as Theirs | null;
  const theirs = theirsOf(read);
  const change = write?.change ?? {};
  const moves = theirs.state !== (before?.state ?? 'open') && theirs.state !== change.state;
  if (moves && refusal === null) await followState(tx, connectionActor(leased), leased.item.id, read);
  const item = await readItem(tx, orgId, leased.item.id);
  const known = {
    sent: { ...(ticket.sent as Sent), ...sentFields(change) },
    shown: { ...(ticket.shown as Shown), ...shownAfter(change, theirs) },
    refusal: moves ? refusal : change.state === undefined ? ticket.refusal : null,
  };
  const drift = driftOf({ ...known, ours: oursOf(item, leased.body), theirs, status: item.status });
  const changed = before === null || isEcho(before, theirs) ? [] : changedByVendor(before, theirs, change, known.sent);
  const hasNews = write !== null || changed.length > 0 || ticket.status === 'failed' || ticket.gone_at !== null;
  const row = await writeLeased(tx, leased, {
    ...(ticket.status === 'paused' ? {} : { status: 'linked' as const }),
    external_id: storable(read.id),
    external_key: storable(read.key),
    url: safeUrl(read.url),
    sent: JSON.stringify(known.sent),
    shown: JSON.stringify(known.shown),
    theirs: JSON.stringify(theirs),
    refusal: known.refusal,
    drift: JSON.stringify(drift),
    gone_at: null,
    error_kind: null,
    error: null,
    failures: 0,
    retry_at: null,
    changes_read: ticket.changes_announced,
    read_at: now,
    ...(write && write.how !== 'found' ? { written_at: now } : {}),
    ...(write && write.how !== 'written' ? { creating_at: null } : {}),
    ...(changed.length > 0 ? { vendor_changed_at: now } : {}),
    ...(hasNews ? { updated_at: now } : {}),
  });
  const after = { ...leased, ticket: row, item };
  await announceWrite(tx, after, write);
  if (before !== null && changed.length > 0) await announceVendorChange(tx, after, { before, theirs, names: changed });
  await announceDrift(tx, after, ticket.drift as Drift[]);
  return after;
}

const comparedNames = ['title', 'priority', 'due_date', 'state', 'state_name', 'assignee'] as const;

/** Fields that people changed at the vendor. Leaves out what the service wrote, also earlier, because some vendors return old values for a while. */
function changedByVendor(before: Theirs, theirs: Theirs, change: TicketChange, sent: Sent): (keyof Theirs)[] {
  const written = new Set<string>([...Object.keys(sentFields(change)), ...(change.state === undefined ? [] : ['state_name'])]);
  const writtenEarlier = (['title', 'priority', 'due_date'] as const).filter((name) => sent[name] === theirs[name]);
  return comparedNames.filter((name) => before[name] !== theirs[name] && !written.has(name) && !writtenEarlier.some((one) => one === name));
}

/** Stores drift that arose from a change of the work item alone, and marks its version and a finished repair as processed. */
export async function recordItemState(db: Database, leased: LeasedTicket): Promise<LeasedTicket> {
  return db.withTenant({ orgId: leased.orgId }, async (tx) => {
    const item = await readItem(tx, leased.orgId, leased.item.id);
    const drift = currentDrift(leased.ticket, item, leased.body);
    const repair = JSON.stringify(leased.ticket.repair);
    const hasNews = JSON.stringify(drift) !== JSON.stringify(leased.ticket.drift);
    const row = await writeLeased(tx, leased, {
      drift: JSON.stringify(drift),
      item_version: leased.item.version,
      repair: sql<string>`case when repair = ${repair}::jsonb then null else repair end`,
      ...(hasNews ? { updated_at: now } : {}),
    });
    const after = { ...leased, ticket: row, item };
    await announceDrift(tx, after, leased.ticket.drift as Drift[]);
    return after;
  });
}

export function currentDrift(ticket: TicketRow, item: WorkItemRow, body: readonly string[]): Drift[] {
  const theirs = ticket.theirs as Theirs | null;
  if (theirs === null) return [];
  const { sent, shown, refusal } = ticket as { sent: Sent; shown: Shown; refusal: string | null };
  return driftOf({ ours: oursOf(item, body), sent, shown, theirs, status: item.status, refusal });
}

/** The vendor no longer has the ticket. */
export async function recordGone(db: Database, leased: LeasedTicket): Promise<LeasedTicket> {
  const { ticket } = leased;
  return db.withTenant({ orgId: leased.orgId }, async (tx) => {
    const read = { changes_read: ticket.changes_announced, read_at: now, error_kind: null, error: null, failures: 0, retry_at: null };
    const status = ticket.status === 'failed' ? ({ status: 'linked' } as const) : {};
    const row = await writeLeased(tx, leased, { ...read, ...status, ...(ticket.gone_at === null ? { gone_at: now, updated_at: now } : {}) });
    const after = { ...leased, ticket: row };
    if (ticket.gone_at === null) await announce(tx, after, { action: 'ticket_gone', event: 'ticket.gone', after: { key: ticket.external_key } });
    return after;
  });
}

export interface Failure {
  kind: FaultKind | 'service';
  message: string;
  retryAt: Date | null;
}

export async function recordFailure(db: Database, leased: LeasedTicket, failure: Failure): Promise<void> {
  const { kind, retryAt } = failure;
  const { ticket } = leased;
  const message = storable(failure.message);
  await db.withTenant({ orgId: leased.orgId }, async (tx) => {
    if (retryAt !== null) await enqueueTicket(tx, leased.orgId, ticket.id, retryAt);
    const hasNews = ticket.error !== message;
    const row = await writeLeased(tx, leased, {
      ...(ticket.status === 'paused' ? {} : { status: 'failed' as const }),
      error_kind: kind,
      error: message,
      failures: ticket.failures + 1,
      retry_at: retryAt,
      ...(hasNews ? { updated_at: now } : {}),
    });
    if (!hasNews) return;
    await announce(tx, { ...leased, ticket: row }, { action: 'ticket_failed', event: 'ticket.failed', after: { key: row.external_key, kind, error: message } });
  });
}

export async function recordPause(db: Database, leased: LeasedTicket, reason: string): Promise<LeasedTicket> {
  return db.withTenant({ orgId: leased.orgId }, async (tx) => {
    const row = await writeLeased(tx, leased, {
      status: 'paused',
      paused_reason: reason,
      error_kind: null,
      error: null,
      failures: 0,
      retry_at: null,
      updated_at: now,
    });
    const after = { ...leased, ticket: row };
    await announce(tx, after, { action: 'ticket_paused', event: 'ticket.paused', after: { key: row.external_key, reason } });
    return after;
  });
}

/** Writes columns without an audit event or outgoing event. */
export async function writeSilently(db: Database, leased: LeasedTicket, columns: Parameters<typeof writeLeased>[2]): Promise<LeasedTicket> {
  const ticket = await db.withTenant({ orgId: leased.orgId }, (tx) => writeLeased(tx, leased, columns));
  return { ...leased, ticket };
}
