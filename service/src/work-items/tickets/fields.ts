import { createHash } from 'node:crypto';
import type { Priority, Ticket, TicketChange, TicketState } from '@rrs/connectors';
import { priorityName } from '../items/priority.ts';
import type { WorkItemRow } from '../items/read.ts';
import { type AskableStatus, isClosed, type WorkItemStatus } from '../items/status.ts';

/** Who owns which field of a ticket, and what it means when the two sides differ. All of it pure. */

/** What is ours, as it should be there. `state`: only what ends the work is written by us. */
export interface Ours {
  title: string;
  body: readonly string[];
  priority: Priority;
  due_date: string | null;
  state: TicketState | null;
}

/** What of it was written; of the text its hash. */
export interface Sent {
  title?: string;
  body?: string;
  priority?: Priority;
  due_date?: string | null;
  state?: TicketState;
  /** The end of the work that was told in a comment. */
  comment?: WorkItemStatus;
}

const ownedFields = ['title', 'priority', 'due_date'] as const;
type OwnedField = (typeof ownedFields)[number];

/** What the ticket showed right after we wrote. */
export type Shown = Partial<Pick<Theirs, OwnedField>>;

export interface Theirs {
  title: string;
  priority: Priority | null;
  due_date: string | null;
  state: TicketState;
  state_name: string;
  assignee: string | null;
  updated_at: string;
}

export const driftFields = [...ownedFields, 'state'] as const;
export interface Drift {
  field: (typeof driftFields)[number];
  ours: string | null;
  theirs: string | null;
  reason: string | null;
}

/** By it the ticket is found again when it was made and nobody heard of it. */
export function markerOf(orgId: string, itemId: string): string {
  return `rrs-${createHash('sha256').update(`${orgId} ${itemId}`).digest('hex').slice(0, 12)}`;
}

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

/** What vendors say may be longer than anybody reads, and have characters that a database does not take. */
export function storable(text: string): string {
  return text.replaceAll('\0', '').slice(0, 2_000).toWellFormed();
}

/** Threat: the address becomes a link in the console, and only some kinds of address are safe to click. */
export function safeUrl(url: string): string | null {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) ? storable(url) : null;
}

/** A ticket that says what was read, or shown after our own write, did not change, whatever its time says. */
export function isEcho(before: Theirs | null, now: Theirs): boolean {
  return before !== null && (Object.keys(now) as (keyof Theirs)[]).every((name) => name === 'updated_at' || before[name] === now[name]);
}

export function bodyHash(body: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(body)).digest('base64url');
}

/** What is to be written: only what we changed since we wrote it, so that nothing of what people did there is undone in passing. */
export function changesOf(ours: Ours, sent: Sent): TicketChange {
  return {
    ...(ours.title === sent.title ? {} : { title: ours.title }),
    ...(bodyHash(ours.body) === sent.body ? {} : { body: ours.body }),
    ...(ours.priority === sent.priority ? {} : { priority: ours.priority }),
    ...(ours.due_date === sent.due_date ? {} : { dueDate: ours.due_date }),
    ...(ours.state === null || ours.state === sent.state ? {} : { state: ours.state }),
  };
}

export function sentBy({ title, body, priority, dueDate, state }: TicketChange): Sent {
  return {
    ...(title === undefined ? {} : { title }),
    ...(body === undefined ? {} : { body: bodyHash(body) }),
    ...(priority === undefined ? {} : { priority }),
    ...(dueDate === undefined ? {} : { due_date: dueDate }),
    ...(state === undefined ? {} : { state }),
  };
}

/** Of the fields that were written, and of no others: those that people changed there stay what they are. */
export function shownAfter(change: TicketChange, theirs: Theirs): Shown {
  return {
    ...(change.title === undefined ? {} : { title: theirs.title }),
    ...(change.priority === undefined ? {} : { priority: theirs.priority }),
    ...(change.dueDate === undefined ? {} : { due_date: theirs.due_date }),
  };
}

/** Where a ticket is when the work item is here. */
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

/** Where the state of the ticket takes the work item; null: it stays. A ticket that is done is a claim, never a proof; a rejected one is for people to look at. */
export function followed(state: TicketState, status: WorkItemStatus): AskableStatus | null {
  if (isClosed(status) || state === 'rejected') return null;
  if (state === 'done') return status === 'awaiting_verification' ? null : 'awaiting_verification';
  // What a person blocked waits for that person.
  return status === 'blocked' || status === state ? null : state;
}

export function whyFollowed(state: TicketState, key: string): string {
  return {
    open: `ticket ${key} is open`,
    in_progress: `ticket ${key} is in progress`,
    done: `ticket ${key} was closed`,
    rejected: `ticket ${key} was rejected`,
  }[state];
}

interface Compared {
  ours: Ours;
  sent: Sent;
  shown: Shown;
  theirs: Theirs;
  status: WorkItemStatus;
  /** Why the work item did not follow the state. */
  refusal: string | null;
}

export function driftOf({ ours, sent, shown, theirs, status, refusal }: Compared): Drift[] {
  const fields = ownedFields.flatMap((field): Drift[] => {
    if (ours[field] === theirs[field]) return [];
    // What the vendor made of ours when it was written: a title that it cut, a field that it does not have.
    const isTheirForm = ours[field] === sent[field] && theirs[field] === shown[field] && (field === 'title' || theirs[field] === null);
    return isTheirForm ? [] : [{ field, ours: ours[field], theirs: theirs[field], reason: null }];
  });
  const state = stateDrift(theirs.state, status, refusal);
  return state ? [...fields, { field: 'state', ours: status, theirs: theirs.state, reason: refusal ?? state }] : fields;
}

function stateDrift(state: TicketState, status: WorkItemStatus, refusal: string | null): string | null {
  const isOver = state === 'done' || state === 'rejected';
  if (isClosed(status)) return isOver ? null : 'The work item is closed and the ticket is not.';
  if (state === 'rejected') return 'The ticket was rejected; somebody has to decide what that means for the work item.';
  if (state === 'done') return status === 'awaiting_verification' ? null : 'The ticket is done and the work is not.';
  return status === 'awaiting_verification' && refusal !== null ? refusal : null;
}
