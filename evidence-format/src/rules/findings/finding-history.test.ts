import { expect, test } from 'vitest';
import { newFinding, nextHistory, recordedAt, statedFrom } from './finding-history.ts';

const SEEN = '2026-01-01T00:00:00.000Z';
const at = (day: number) => `2026-02-${String(day).padStart(2, '0')}T00:00:00.000Z`;

interface Change {
  from: string;
  to: string;
  code: string;
  more?: object;
  reason?: string;
}

/** What a package says after these changes, one a day. */
function after(...changes: Change[]) {
  const events = changes.map(({ from, to, code, more, reason = null }, day) => ({
    at: at(day + 1),
    before: { status: from },
    after: { status: to, reason_code: code, ...more },
    reason,
  }));
  return statedFrom(events.reduce(nextHistory, newFinding), SEEN);
}

const claim: Change = { from: 'open', to: 'remediated', code: 'by_person', more: { status_reason: 'patched' }, reason: 'patched' };
const gone: Change = { from: 'remediated', to: 'verified', code: 'scan_absent', more: { scanned_at: '2026-02-01T12:00:00+00:00' }, reason: 'Gone.' };
const again: Change = { from: 'verified', to: 'open', code: 'scan_seen_again', more: { clock_started_at: '2026-02-02T12:00:00.5+00:00' }, reason: 'Again.' };

test('without an event, everything dates from the first sighting', () => {
  expect(after()).toEqual({ state_changed_at: SEEN, closed_at: null, state_reason: null, clock_started_at: SEEN, reopen_count: 0 });
});

test('a claim does not close a finding, and a scan closes it at the time of the scan', () => {
  expect(after(claim)).toMatchObject({ state_changed_at: at(1), closed_at: null, state_reason: 'patched' });
  const scanned = '2026-02-01T12:00:00.000Z';
  expect(after(claim, gone)).toMatchObject({ state_changed_at: scanned, closed_at: scanned, state_reason: 'Gone.', clock_started_at: SEEN });
});

test('a scan from the future closes a finding at the time of its import', () => {
  expect(after({ ...gone, more: { scanned_at: at(20) } })).toMatchObject({ closed_at: at(1) });
});

test('a finding that a scan sees again starts again, one that a person opens does not', () => {
  const seen = '2026-02-02T12:00:00.500Z';
  expect(after(claim, gone, again)).toMatchObject({ state_changed_at: seen, closed_at: null, clock_started_at: seen, reopen_count: 1 });
  expect(after(claim, { from: 'remediated', to: 'open', code: 'by_person' })).toMatchObject({ clock_started_at: SEEN, reopen_count: 1 });
});

test('a decision that is made again keeps its end and, unless it is stated, its reason', () => {
  const accepted: Change = { from: 'open', to: 'risk_accepted', code: 'by_person', more: { status_reason: 'behind a proxy' } };
  const extended: Change = { from: 'risk_accepted', to: 'risk_accepted', code: 'by_person', more: { acceptance_owner: 'Ada' } };
  expect(after(accepted, extended)).toMatchObject({ state_changed_at: at(2), closed_at: at(1), state_reason: 'behind a proxy' });
});

test('values that an event states win', () => {
  const split: Change = {
    from: 'withdrawn',
    to: 'verified',
    code: 'split',
    more: { status_changed_at: at(9), closed_at: at(8), status_reason: null },
    reason: 'two',
  };
  expect(after(split)).toMatchObject({ state_changed_at: at(9), closed_at: at(8), state_reason: null });
});

test('an ID says when the finding was recorded', () => {
  expect(recordedAt('019b78c9-0a80-7000-8000-000000000101')).toBe('2026-01-01T09:00:00.000Z');
  expect(recordedAt('019b78c9-0a80-4000-8000-000000000101')).toBeNull();
});
