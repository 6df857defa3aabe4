import type { TicketChange } from '@rrs/connectors';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { EventType } from '../../events/types.ts';
import { type Actor, systemActor } from '../../shared/actor.ts';
import { type Drift, sentFields, type Theirs } from './fields.ts';
import type { LeasedTicket } from './lease.ts';

/** Changes that come from a ticket are attributed to its connection. */
export function connectionActor({ orgId, connection }: Pick<LeasedTicket, 'orgId' | 'connection'>): Actor {
  return systemActor(orgId, connection.name);
}

interface Announcement {
  action: 'ticket_written' | 'ticket_linked' | 'ticket_changed' | 'ticket_drifted' | 'ticket_gone' | 'ticket_failed' | 'ticket_paused';
  event: EventType;
  before?: Record<string, unknown>;
  after: Record<string, unknown>;
}

/** Writes an audit event, which appears on the timeline of the work item, and an outgoing event. */
export async function announce(tx: TenantTx, leased: LeasedTicket, { action, event, before, after }: Announcement): Promise<void> {
  const { ticket, connection } = leased;
  const audited = {
    action: `work_item.${action}` as const,
    objectType: 'work_item',
    objectId: ticket.work_item_id,
    ...(before ? { before } : {}),
    after: { ticket_id: ticket.id, ...after },
  };
  await recordAudit(tx, connectionActor(leased), audited);
  const data = { work_item_id: ticket.work_item_id, connection_id: connection.id, ...after, ...(before ? { before } : {}) };
  await emit(tx, leased.orgId, { type: event, subject: ticket.id, data });
}

/** What the service wrote just before the vendor's response. `found`: an existing ticket was linked and nothing was written. */
export interface VendorWrite {
  how: 'created' | 'found' | 'written';
  change: TicketChange;
}

export async function announceWrite(tx: TenantTx, leased: LeasedTicket, write: VendorWrite | null): Promise<void> {
  if (write === null) return;
  const { external_key: key, url, theirs } = leased.ticket;
  const fields = Object.keys(sentFields(write.change));
  if (write.how === 'written') await announce(tx, leased, { action: 'ticket_written', event: 'ticket.updated', after: { key, by: 'work_item', fields } });
  else {
    // Evidence counts the assignee of a ticket as somebody who does the work.
    const { assignee } = theirs as Theirs;
    const after = { key, url, found: write.how === 'found', ...(assignee === null ? {} : { assignee }) };
    await announce(tx, leased, { action: 'ticket_linked', event: 'ticket.linked', after });
  }
}

interface VendorChange {
  before: Theirs;
  theirs: Theirs;
  names: (keyof Theirs)[];
}

export async function announceVendorChange(tx: TenantTx, leased: LeasedTicket, { before, theirs, names }: VendorChange): Promise<void> {
  const changedFields = (from: Theirs) => Object.fromEntries(names.map((name) => [name, from[name]]));
  const after = { key: leased.ticket.external_key, by: 'vendor', ...changedFields(theirs) };
  await announce(tx, leased, { action: 'ticket_changed', event: 'ticket.updated', before: changedFields(before), after });
}

/** Announces drift only if it differs from the previous drift. */
export async function announceDrift(tx: TenantTx, leased: LeasedTicket, previous: readonly Drift[]): Promise<void> {
  const drift = leased.ticket.drift as Drift[];
  if (drift.length === 0 || JSON.stringify(drift) === JSON.stringify(previous)) return;
  await announce(tx, leased, { action: 'ticket_drifted', event: 'ticket.drifted', after: { key: leased.ticket.external_key, drift } });
}
