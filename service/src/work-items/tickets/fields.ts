import { createHash } from 'node:crypto';
import type { Priority, Ticket, TicketChange, TicketState } from '@rrs/connectors';
import type { Static } from 'typebox';
import { storable } from '../../shared/storable.ts';
import { priorityName } from '../items/priority.ts';
import type { WorkItemRow } from '../items/read.ts';
import { isClosed, type SettableStatus, type WorkItemStatus } from '../items/status.ts';
import { ownedFields, type TicketDrift } from '../schemas-tickets.ts';

/** Which side owns which field of a ticket, and what differences mean. Pure functions. */

/** The values that the work item wants in the ticket. `state` is only set once the work item is closed. */
export interface Ours {
  title: string;
  body: readonly string[];
  priority: Priority;
  due_date: string | null;
  state: TicketState | null;
}

/** The values that were last written. `body` is a hash. */
export interface Sent {
  title?: string;
  body?: string;
  priority?: Priority;
  due_date?: string | null;
  state?: TicketState;
  /** The closed status that a comment has announced. */
  comment?: WorkItemStatus;
}

type OwnedField = (typeof ownedFields)[number];

/** The values that the ticket had right after the last write. */
export type Shown = Partial<Pick<Theirs, OwnedField>>;

/** The ticket as last read. */
export interface Theirs {
  title: string;
  priority: Priority | null;
  due_date: string | null;
  state: TicketState;
  state_name: string;
  assignee: string | null;
  updated_at: string;
}

export type Drift = Static<typeof TicketDrift>;

/** A marker in the ticket's text. It identifies the ticket if the vendor created it but the response was lost. */
export function markerOf(orgId: string, itemId: string): string {
  return `rrs-${createHash('sha256').update(`${orgId} ${itemId}`).digest('hex').slice(0, 12)}`;
}

/** All markers in a text. */
export const MARKER = /rrs-[0-9a-f]{12}/g;

export function oursOf(item: Pick<WorkItemRow, 'title' | 'priority' | 'due_at' | 'status'>, body: readonly string[]): Ours {
  const due: Date | number = item.due_at;
  return {
    title: item.title,
    body,
    priority: priorityName(item.priority),
    due_date: due instanceof Date ? due.toISOString().slice(0, 10) : null,
    state: isClosed(item.status) ? stateFor(item.status) : null,
  };
}

export function theirsOf({ title, priority, dueDate, state, stateName, assignee, updatedAt }: Ticket): Theirs {
  return {
    title: storable(title),
    priority,
    due_date: dueDate,
    state,
    state_name: storable(stateName),
    assignee: assignee === null ? null : storable(assignee),
    updated_at: updatedAt.toISOString(),
  };
}

/** Threat: clients show the URL as a link, and schemes such as `javascript:` are not safe to click. */
export function safeUrl(url: string): string | null {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) ? storable(url) : null;
}

/** Whether a ticket has the same content as before. Its update time is ignored, because the service's own writes change it too. */
export function isEcho(before: Theirs | null, now: Theirs): boolean {
  return before !== null && (Object.keys(now) as (keyof Theirs)[]).every((name) => name === 'updated_at' || before[name] === now[name]);
}

export function bodyHash(body: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(body)).digest('base64url');
}

/** The fields to write: only those that changed here since the last write, so that changes of people at the vendor are not undone by accident. */
export function changesOf(ours: Ours, sent: Sent): TicketChange {
  return {
    ...(ours.title === sent.title ? {} : { title: ours.title }),
    ...(bodyHash(ours.body) === sent.body ? {} : { body: ours.body }),
    ...(ours.priority === sent.priority ? {} : { priority: ours.priority }),
    ...(ours.due_date === sent.due_date ? {} : { dueDate: ours.due_date }),
    ...(ours.state === null || ours.state === sent.state ? {} : { state: ours.state }),
  };
}

export function sentFields({ title, body, priority, dueDate, state }: TicketChange): Sent {
  return {
    ...(title === undefined ? {} : { title }),
    ...(body === undefined ? {} : { body: bodyHash(body) }),
    ...(priority === undefined ? {} : { priority }),
    ...(dueDate === undefined ? {} : { due_date: dueDate }),
    ...(state === undefined ? {} : { state }),
  };
}

/** Covers only the fields that were just written. The others may contain changes of people at the vendor. */
export function shownAfter(change: TicketChange, theirs: Theirs): Shown {
  return {
    ...(change.title === undefined ? {} : { title: theirs.title }),
    ...(change.priority === undefined ? {} : { priority: theirs.priority }),
    ...(change.dueDate === undefined ? {} : { due_date: theirs.due_date }),
  };
}

/** The ticket state that corresponds to a work item status. */
export function stateFor(status: WorkItemStatus): TicketState {
  const states: Record<WorkItemStatus, TicketState> = {
    open: 'open',
    in_progress: 'in_progress',
    blocked: 'in_progress',
    awaiting_verification: 'done',
    verified: 'done',
    closed_with_exceptions: 'done',
    cancelled: 'rejected',
  };
  return states[status];
}

/** The status that the work item takes when a ticket has this state, or null for no change. A done ticket is a claim, not a proof. A rejected one needs a person. */
export function statusFollowing(state: TicketState, status: WorkItemStatus): SettableStatus | null {
  if (isClosed(status) || state === 'rejected') return null;
  if (state === 'done') return status === 'awaiting_verification' ? null : 'awaiting_verification';
  // Only a person can end a block.
  return status === 'blocked' || status === state ? null : state;
}

export function followReason(state: TicketState, key: string): string {
  return {
    open: `ticket ${key} is open`,
    in_progress: `ticket ${key} is in progress`,
    done: `ticket ${key} was closed`,
    rejected: `ticket ${key} was rejected`,
  }[state];
}

interface Comparison {
  ours: Ours;
  sent: Sent;
  shown: Shown;
  theirs: Theirs;
  status: WorkItemStatus;
  /** Why the work item did not follow the ticket's state. */
  refusal: string | null;
}

export function driftOf({ ours, sent, shown, theirs, status, refusal }: Comparison): Drift[] {
  const fields = ownedFields.flatMap((field): Drift[] => {
    if (ours[field] === theirs[field]) return [];
    // The vendor stored the written value in its own form: a shortened title, or nothing because it lacks the field.
    const isVendorForm = ours[field] === sent[field] && theirs[field] === shown[field] && (field === 'title' || theirs[field] === null);
    return isVendorForm ? [] : [{ field, ours: ours[field], theirs: theirs[field], reason: null }];
  });
  const state = stateDrift(theirs.state, status, refusal);
  return state ? [...fields, { field: 'state', ours: status, theirs: theirs.state, reason: refusal ?? state }] : fields;
}

function stateDrift(state: TicketState, status: WorkItemStatus, refusal: string | null): string | null {
  const isOver = state === 'done' || state === 'rejected';
  if (isClosed(status)) return isOver ? null : 'The work item is closed, but the ticket is not.';
  if (state === 'rejected') return 'The ticket was rejected. Decide what this means for the work item.';
  if (state === 'done') return status === 'awaiting_verification' ? null : 'The ticket is done, but the work item is not.';
  return status === 'awaiting_verification' && refusal !== null ? refusal : null;
}
