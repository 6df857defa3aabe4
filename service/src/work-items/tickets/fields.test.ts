import { describe, expect, it } from 'vitest';
import { statuses } from '../items/status.ts';
import { bodyHash, changesOf, driftOf, isEcho, type Ours, sentFields, shownAfter, stateFor, statusFollowing, type Theirs } from './fields.ts';

const ours: Ours = { title: 'Upgrade log4j', body: ['All of it.'], priority: 'high', due_date: '2026-11-30', state: null };
const theirs: Theirs = {
  title: 'Upgrade log4j',
  priority: 'high',
  due_date: '2026-11-30',
  state: 'open',
  state_name: 'To Do',
  assignee: null,
  updated_at: '2026-11-15T09:30:00.000Z',
};
const everything = changesOf(ours, {});
const same = { ours, sent: sentFields(everything), shown: shownAfter(everything, theirs), theirs, status: 'open', refusal: null } as const;

describe('changesOf', () => {
  it('returns everything at first, and later only the fields that changed', () => {
    expect(everything).toEqual({ title: 'Upgrade log4j', body: ['All of it.'], priority: 'high', dueDate: '2026-11-30' });
    expect(changesOf(ours, same.sent)).toEqual({});
    expect(changesOf({ ...ours, priority: 'low', due_date: null }, same.sent)).toEqual({ priority: 'low', dueDate: null });
    expect(changesOf({ ...ours, body: ['All of it', '.'] }, same.sent)).toEqual({ body: ['All of it', '.'] });
    expect(bodyHash(['a', 'b'])).not.toBe(bodyHash(['ab']));
  });

  it('returns a state only when the work item is closed, and once', () => {
    expect(changesOf({ ...ours, state: 'done' }, same.sent)).toEqual({ state: 'done' });
    expect(changesOf({ ...ours, state: 'done' }, { ...same.sent, state: 'done' })).toEqual({});
  });
});

describe('statusFollowing', () => {
  it('never returns a closed status and never changes a closed work item', () => {
    for (const status of statuses)
      for (const state of ['open', 'in_progress', 'done', 'rejected'] as const)
        expect([null, 'open', 'in_progress', 'awaiting_verification']).toContain(statusFollowing(state, status));
    for (const status of ['verified', 'closed_with_exceptions', 'cancelled'] as const) expect(statusFollowing('open', status)).toBeNull();
  });

  it('follows the state of the ticket, except for blocked work items and rejected tickets', () => {
    expect([statusFollowing('in_progress', 'open'), statusFollowing('open', 'in_progress')]).toEqual(['in_progress', 'open']);
    expect([statusFollowing('done', 'open'), statusFollowing('done', 'blocked'), statusFollowing('done', 'awaiting_verification')]).toEqual([
      'awaiting_verification',
      'awaiting_verification',
      null,
    ]);
    expect([statusFollowing('open', 'blocked'), statusFollowing('in_progress', 'blocked'), statusFollowing('rejected', 'open')]).toEqual([null, null, null]);
  });
});

describe('isEcho', () => {
  it('ignores only the update time', () => {
    expect(isEcho(theirs, { ...theirs, updated_at: '2026-11-16T00:00:00.000Z' })).toBe(true);
    expect(isEcho(null, theirs)).toBe(false);
    for (const change of [{ title: 'x' }, { priority: null }, { due_date: null }, { state: 'done' }, { state_name: 'Later' }, { assignee: 'Ada' }] as const)
      expect(isEcho(theirs, { ...theirs, ...change })).toBe(false);
  });
});

describe('driftOf', () => {
  it('returns owned fields that people changed at the vendor', () => {
    expect(driftOf(same)).toEqual([]);
    const changed = { ...theirs, title: 'Later', priority: null, due_date: '2027-01-01' };
    expect(driftOf({ ...same, theirs: changed }).map(({ field, ours: own, theirs: other }) => [field, own, other])).toEqual([
      ['title', 'Upgrade log4j', 'Later'],
      ['priority', 'high', null],
      ['due_date', '2026-11-30', '2027-01-01'],
    ]);
  });

  it('ignores values that the vendor stored in its own form: a shortened title, a missing field', () => {
    const form = { ...theirs, title: 'Upgrade…', priority: null, due_date: null };
    const written = { ...same, theirs: form, shown: shownAfter(everything, form) };
    expect(driftOf(written)).toEqual([]);
    expect(driftOf({ ...written, ours: { ...ours, title: 'Another one' } }).map(({ field }) => field)).toEqual(['title']);
    const overruled = { ...theirs, priority: 'low' } as const;
    expect(driftOf({ ...same, theirs: overruled, shown: shownAfter(everything, overruled) }).map(({ field }) => field)).toEqual(['priority']);
  });

  it('returns a state that contradicts the status of the work item', () => {
    const at = (state: Theirs['state'], status: (typeof statuses)[number], refusal: string | null = null) =>
      driftOf({ ...same, theirs: { ...theirs, state }, status, refusal }).map(({ reason }) => reason);
    expect(at('done', 'in_progress')).toEqual(['The ticket is done, but the work item is not.']);
    expect(at('rejected', 'open')).toEqual([expect.stringContaining('rejected')]);
    expect(at('open', 'verified')).toEqual([expect.stringContaining('closed')]);
    expect(at('open', 'awaiting_verification', 'not so')).toEqual(['not so']);
    for (const status of statuses) expect(at(stateFor(status), status)).toEqual([]);
    expect([at('open', 'in_progress'), at('in_progress', 'awaiting_verification'), at('open', 'blocked')]).toEqual([[], [], []]);
  });
});
