import type { TrailEvent } from '../../document/decisions.ts';
import type { FindingFacts } from '../../document/finding.ts';
import { fieldOf, textOf } from '../trail-values.ts';

/** What the events about a finding say about its state. The service writes packages from it, and the verifier computes it again. */
export interface FindingHistory {
  state: string;
  /** When the state was last set. Null if it is still the first one. */
  changedAt: string | null;
  closedAt: string | null;
  reason: string | null;
  /** When a scan last opened the finding again, which starts its deadline again. */
  reopenedAt: string | null;
  reopenCount: number;
}

export const newFinding: FindingHistory = { state: 'open', changedAt: null, closedAt: null, reason: null, reopenedAt: null, reopenCount: 0 };

export type FindingEvent = Pick<TrailEvent, 'at' | 'before' | 'after' | 'reason'>;

/** These states are open for deadlines. */
const OPEN: ReadonlySet<string> = new Set(['open', 'in_progress', 'remediated']);
/** Opening a finding in one of these states again counts as a reopening. */
const DONE: ReadonlySet<unknown> = new Set(['remediated', 'verified', 'withdrawn']);
/** The words of whoever decided stay until they are changed. All other changes have a reason of their own. */
const BY_PEOPLE: ReadonlySet<unknown> = new Set(['by_person', 'by_connection', 'acceptance_approved']);
/** A scan closes a finding at its own time, which is not later than its import. */
const BY_SCAN: ReadonlySet<unknown> = new Set([
  'scan_absent',
  'acceptance_fixed',
  'source_fixed',
  'source_retracted',
  'check_retired',
  'asset_gone',
  'track_ended',
]);

/** The history after one more event. Events that set no state change nothing. */
export function nextHistory(known: FindingHistory, { at, before, after, reason }: FindingEvent): FindingHistory {
  const state = fieldOf(after, 'status');
  if (typeof state !== 'string') return known;
  const code = fieldOf(after, 'reason_code');
  const isReopened = code === 'scan_seen_again';
  const scanned = timeOf(after, 'scanned_at');
  const byScan = BY_SCAN.has(code) && scanned !== null ? earlier(scanned, at) : null;
  const reopenedAt = isReopened ? (timeOf(after, 'clock_started_at') ?? scanned ?? at) : known.reopenedAt;
  const changedAt = timeOf(after, 'status_changed_at') ?? byScan ?? (isReopened ? reopenedAt : null) ?? at;
  const isRestated = byScan === null && fieldOf(before, 'status') === state;
  const stated = fieldOf(after, 'closed_at') === undefined ? undefined : timeOf(after, 'closed_at');
  const closedAt = OPEN.has(state) ? null : (stated ?? (isRestated ? known.closedAt : null) ?? changedAt);
  const words = fieldOf(after, 'status_reason');
  const counts = isReopened || (state === 'open' && (code === 'by_person' || code === 'by_connection') && DONE.has(fieldOf(before, 'status')));
  return {
    state,
    changedAt,
    closedAt,
    reason: words === undefined ? (BY_PEOPLE.has(code) ? known.reason : reason) : textOf(after, 'status_reason'),
    reopenedAt,
    reopenCount: known.reopenCount + (counts ? 1 : 0),
  };
}

type FromHistory = Pick<FindingFacts, 'state_changed_at' | 'closed_at' | 'state_reason' | 'clock_started_at' | 'reopen_count'>;

/** What a package says about the state of a finding that was first seen then. */
export function statedFrom({ changedAt, closedAt, reason, reopenedAt, reopenCount }: FindingHistory, firstSeen: string): FromHistory {
  return {
    state_changed_at: changedAt ?? firstSeen,
    closed_at: closedAt,
    state_reason: reason,
    clock_started_at: reopenedAt !== null && reopenedAt > firstSeen ? reopenedAt : firstSeen,
    reopen_count: reopenCount,
  };
}

function earlier(one: string, other: string): string {
  return one < other ? one : other;
}

/** PostgreSQL writes times in JSON in another form. */
function timeOf(value: unknown, name: string): string | null {
  const text = textOf(value, name);
  const time = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/** IDs of findings are UUIDs of version 7, which begin with the time at which the service recorded the finding. Null for another ID. */
export function recordedAt(id: string): string | null {
  return id[14] === '7' ? new Date(Number.parseInt(`${id.slice(0, 8)}${id.slice(9, 13)}`, 16)).toISOString() : null;
}
