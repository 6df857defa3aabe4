import type { Static } from 'typebox';
import type { Database } from '../../db/database.ts';
import { type Actor, systemActor } from '../../shared/actor.ts';
import { readItem } from '../items/read.ts';
import { updateWorkItem, type WorkItemPatch } from '../items/update.ts';
import type { TicketRepair } from '../schemas-tickets.ts';
import { followState } from './claims.ts';
import { followReason, oursOf, type Sent, type Shown, sentFields, statusFollowing, type Theirs } from './fields.ts';
import { type LeasedTicket, writeLeased } from './lease.ts';
import { currentDrift, isRefusal, now } from './outcomes.ts';

export interface Repair {
  direction: Static<typeof TicketRepair>['direction'];
  by: Pick<Actor, 'type' | 'id' | 'name' | 'memberId' | 'person'>;
  requested_at: string;
}

/** Copies differing fields from the ticket to the work item, on behalf of the person who requested the repair. */
export async function pullFromTicket(db: Database, leased: LeasedTicket, { by }: Repair): Promise<LeasedTicket> {
  const { status, ...fields } = patchOf(leased);
  const full =
    status === undefined ? fields : { ...fields, status, reason: followReason((leased.ticket.theirs as Theirs).state, leased.ticket.external_key ?? '') };
  const actor: Actor = { ...systemActor(leased.orgId, by.name), ...by };
  try {
    return await applyPatch(db, leased, { actor, patch: full, refusal: null });
  } catch (error) {
    if (!isRefusal(error) || status === undefined) throw error;
    return applyPatch(db, leased, { actor, patch: fields, refusal: error.message });
  }
}

interface Pull {
  actor: Actor;
  patch: WorkItemPatch;
  refusal: string | null;
}

async function applyPatch(db: Database, leased: LeasedTicket, { actor, patch, refusal }: Pull): Promise<LeasedTicket> {
  const { orgId, ticket, body } = leased;
  return db.withTenant({ orgId }, async (tx) => {
    const { status, reason: _, ...fields } = patch;
    if (status !== undefined) await followState(tx, actor, leased.item.id, { state: (ticket.theirs as Theirs).state, key: ticket.external_key ?? '' });
    if (Object.keys(fields).length > 0) await updateWorkItem(tx, actor, { id: leased.item.id, patch: fields, check: () => {} });
    const item = await readItem(tx, orgId, leased.item.id);
    const ours = oursOf(item, body);
    const { title, priority, due_date } = ticket.theirs as Theirs;
    // Both sides agree now, so these fields must not be written back to the ticket.
    const agreed = sentFields({
      ...(ours.title === title ? { title } : {}),
      ...(ours.priority === priority ? { priority } : {}),
      ...(ours.due_date === due_date ? { dueDate: due_date } : {}),
    });
    const sent = { ...(ticket.sent as Sent), ...agreed };
    const shown = { ...(ticket.shown as Shown), ...agreed };
    const row = { ...ticket, sent, shown, refusal };
    const drift = currentDrift(row, item, body);
    const columns = { sent: JSON.stringify(sent), shown: JSON.stringify(shown), refusal, drift: JSON.stringify(drift), updated_at: now };
    return { ...leased, item, ticket: await writeLeased(tx, leased, columns) };
  });
}

function patchOf({ ticket, item, body }: LeasedTicket): WorkItemPatch {
  const theirs = ticket.theirs as Theirs;
  const differing = new Set(currentDrift(ticket, item, body).map(({ field }) => field));
  const status = differing.has('state') ? statusFollowing(theirs.state, item.status) : null;
  return {
    ...(differing.has('title') && theirs.title.trim() !== '' ? { title: theirs.title.slice(0, 500) } : {}),
    ...(differing.has('priority') && theirs.priority !== null ? { priority: theirs.priority } : {}),
    // A due date ends with the last second of the day in UTC.
    ...(differing.has('due_date') ? { due_at: theirs.due_date === null ? null : `${theirs.due_date}T23:59:59.000Z` } : {}),
    ...(status === null ? {} : { status }),
  };
}
