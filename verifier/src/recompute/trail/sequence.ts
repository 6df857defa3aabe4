import { type EvidenceDocument, type TrailEvent, textOf } from '@rrs/evidence-format';
import { isBackdated } from '../contradictions.ts';
import { type Fault, TRAIL } from '../fault.ts';
import { later } from '../time-order.ts';

/** Whether the events can have happened in the order of the audit trail. Each number is that of the first event that cannot. */
export interface Sequence {
  /** Time and ID of the last event. */
  last: string;
  lastId: string;
  /** By finding or work item: its last state. */
  states: Map<string, string>;
  /** Members who were added, and everybody who acted before. */
  members: Set<string>;
  /** What happened that happens to a thing only once. */
  once: Set<string>;
  faults: Map<string, number>;
}

export function emptySequence(): Sequence {
  return { last: '', lastId: '', states: new Map(), members: new Set(), once: new Set(), faults: new Map() };
}

/** What happens to the object of the event only once, and the field of `after` that names the object if the event has another one. */
const ONCE: ReadonlyMap<string, string | null> = new Map([
  ['artifact.added', null],
  ['connection.created', null],
  ['import.confirmed', null],
  ['import.created', null],
  ['import.discarded', null],
  ['member.added', null],
  ['member.removed', null],
  ['package.ready', null],
  ['package.requested', null],
  ['pipeline_trust.created', null],
  ['work_item.approved', 'approval_id'],
  ['work_item.created', null],
  ['work_item.rejected', 'approval_id'],
]);
const STATEFUL: ReadonlySet<string> = new Set(['finding', 'work_item']);

/** Adds the next event. */
export function addToSequence(sequence: Sequence, { id, at, action, actor, object, before, after }: TrailEvent, seq: number): void {
  const { last, lastId, states, members, once, faults } = sequence;
  const fail = (what: string): void => void (faults.has(what) || faults.set(what, seq));
  if (at < last) fail('is earlier than the event before it');
  if (id === lastId) fail('has the ID of the event before it');
  if (isBackdated(id, at)) fail('states an earlier time than the one in its ID');
  Object.assign(sequence, { last: at, lastId: id });
  if (actor.person !== null) members.add(actor.person);
  // Somebody may join by signing in for the first time, which is an act of the new member.
  if (action === 'member.added' && actor.person !== object.id && members.has(object.id)) fail('adds a member who had acted before');
  const named = ONCE.get(action);
  if (named !== undefined) {
    const what = `${action} ${named === null ? object.id : textOf(after, named)}`;
    if (once.has(what)) fail('repeats what happens only once');
    once.add(what);
  }
  if (!STATEFUL.has(object.type)) return;
  const [was, is] = [textOf(before, 'status'), textOf(after, 'status')];
  if (was !== null && was !== (states.get(object.id) ?? 'open')) fail('begins in another state than the one in which the event before it ended');
  if (is !== null) states.set(object.id, is);
}

export function* sequenceFaults({ as_of }: EvidenceDocument, { last, faults }: Sequence): Generator<Fault> {
  for (const [what, seq] of faults) yield { code: 'time_order', file: TRAIL, detail: `Event ${seq} ${what}.` };
  if (last > later(as_of))
    yield { code: 'time_order', file: TRAIL, detail: 'The last event is later than as_of.', expected: `at or before ${as_of}`, actual: last };
}
