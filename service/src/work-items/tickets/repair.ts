import type { Database } from '../../db/database.ts';
import { type Actor, systemActor } from '../../shared/actor.ts';
import { readItem } from '../items/read.ts';
import { updateWorkItem, type WorkItemPatch } from '../items/update.ts';
import { followed, oursOf, type Sent, type Shown, sentBy, type Theirs, whyFollowed } from './fields.ts';
import { type Held, writeHeld } from './lease.ts';
import { driftNow, isRefusal, now } from './notes.ts';

export const repairDirections = ['push', 'pull'] as const;

export interface Repair {
  direction: (typeof repairDirections)[number];
  by: Pick<Actor, 'type' | 'id' | 'name' | 'memberId'>;
  requested_at: string;
}

/** What differs is taken over from the ticket, in the name of whoever asked for it. */
export async function takeOver(db: Database, held: Held, { by }: Repair): Promise<Held> {
  const { status, ...fields } = patchOf(held);
  const full = status === undefined ? fields : { ...fields, status, reason: whyFollowed((held.ticket.theirs as Theirs).state, held.ticket.external_key ?? '') };
  const actor: Actor = { ...systemActor(held.orgId, by.name), ...by };
  try {
    return await apply(db, held, { actor, patch: full, refusal: null });
  } catch (error) {
    if (!isRefusal(error) || status === undefined) throw error;
    return apply(db, held, { actor, patch: fields, refusal: error.message });
  }
}

interface Taking {
  actor: Actor;
  patch: WorkItemPatch;
  refusal: string | null;
}

async function apply(db: Database, held: Held, { actor, patch, refusal }: Taking): Promise<Held> {
  const { orgId, ticket, body } = held;
  return db.withTenant({ orgId }, async (tx) => {
    if (Object.keys(patch).length > 0) await updateWorkItem(tx, actor, { id: held.item.id, patch, check: () => {} });
    const item = await readItem(tx, orgId, held.item.id);
    const ours = oursOf(item, body);
    const { title, priority, due_date } = ticket.theirs as Theirs;
    // Both sides agree now: what was taken over is not written back.
    const agreed = sentBy({
      ...(ours.title === title ? { title } : {}),
      ...(ours.priority === priority ? { priority } : {}),
      ...(ours.due_date === due_date ? { dueDate: due_date } : {}),
    });
    const sent = { ...(ticket.sent as Sent), ...agreed };
    const shown = { ...(ticket.shown as Shown), ...agreed };
    const row = { ...ticket, sent, shown, refusal };
    const drift = driftNow(row, item, body);
    const kept = { sent: JSON.stringify(sent), shown: JSON.stringify(shown), refusal, drift: JSON.stringify(drift), updated_at: now };
    return { ...held, item, ticket: await writeHeld(tx, held, kept) };
  });
}

function patchOf({ ticket, item, body }: Held): WorkItemPatch {
  const theirs = ticket.theirs as Theirs;
  const differing = new Set(driftNow(ticket, item, body).map(({ field }) => field));
  const status = differing.has('state') ? followed(theirs.state, item.status) : null;
  return {
    ...(differing.has('title') && theirs.title.trim() !== '' ? { title: theirs.title.slice(0, 500) } : {}),
    ...(differing.has('priority') && theirs.priority !== null ? { priority: theirs.priority } : {}),
    // A day ends with its last second.
    ...(differing.has('due_date') ? { due_at: theirs.due_date === null ? null : `${theirs.due_date}T23:59:59.000Z` } : {}),
    ...(status === null ? {} : { status }),
  };
}
