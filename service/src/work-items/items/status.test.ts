import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowed, type FindingCounts, isClosed, mayMove, rollUp, settableStatuses, statuses } from './status.ts';

const status = fc.constantFrom(...statuses);
const few = fc.nat({ max: 2 });
const counts: fc.Arbitrary<FindingCounts> = fc.record({ open: few, in_progress: few, remediated: few, verified: few, excepted: few, aside: few });
const none: FindingCounts = { open: 0, in_progress: 0, remediated: 0, verified: 0, excepted: 0, aside: 0 };
const total = (given: FindingCounts) => Object.values(given).reduce((sum, count) => sum + count, 0);
const active = ({ open, in_progress, remediated }: FindingCounts) => open + in_progress + remediated;

describe('status transitions', () => {
  it('never leave the three closed statuses', () => {
    expect(statuses.filter(isClosed)).toEqual(['verified', 'closed_with_exceptions', 'cancelled']);
    for (const closed of statuses.filter(isClosed)) expect([...allowed(closed, 'person'), ...allowed(closed, 'findings')]).toEqual([]);
  });

  it('let people reach exactly the settable statuses, and findings never block, cancel or reopen', () => {
    expect(new Set(statuses.flatMap((from) => allowed(from, 'person')))).toEqual(new Set(settableStatuses));
    expect(new Set(statuses.flatMap((from) => allowed(from, 'findings')))).toEqual(
      new Set(['in_progress', 'awaiting_verification', 'verified', 'closed_with_exceptions']),
    );
  });
});

describe('rollUp', () => {
  it('makes only transitions that are allowed for findings', () => {
    fc.assert(
      fc.property(status, counts, (from, given) => {
        const to = rollUp(from, given);
        expect(to === from || mayMove(from, to, 'findings')).toBe(true);
      }),
    );
  });

  it('is idempotent', () => {
    fc.assert(fc.property(status, counts, (from, given) => rollUp(rollUp(from, given), given) === rollUp(from, given)));
  });

  it('never changes a closed work item or one without findings', () => {
    fc.assert(fc.property(fc.constantFrom(...statuses.filter(isClosed)), counts, (from, given) => rollUp(from, given) === from));
    for (const from of statuses) expect(rollUp(from, none)).toBe(from);
  });

  it('closes an open work item exactly when no finding is active: as verified if at least one is verified and none is excepted, otherwise with exceptions', () => {
    fc.assert(
      fc.property(fc.constantFrom(...statuses.filter((each) => !isClosed(each))), counts, (from, given) => {
        const to = rollUp(from, given);
        expect(isClosed(to)).toBe(total(given) > 0 && active(given) === 0);
        if (isClosed(to)) expect(to).toBe(given.verified > 0 && given.excepted === 0 ? 'verified' : 'closed_with_exceptions');
      }),
    );
  });

  it('awaits verification exactly when all active findings are remediated, unless a person blocked the work item', () => {
    fc.assert(
      fc.property(fc.constantFrom('open', 'in_progress', 'awaiting_verification'), counts, (from, given) => {
        fc.pre(total(given) > 0);
        expect(rollUp(from, given) === 'awaiting_verification').toBe(active(given) > 0 && given.open + given.in_progress === 0);
      }),
    );
    expect(rollUp('blocked', { ...none, remediated: 1 })).toBe('blocked');
  });

  it.each([
    ['open', { ...none, open: 2 }, 'open'],
    ['open', { ...none, open: 2, excepted: 1 }, 'open'],
    ['open', { ...none, open: 1, in_progress: 1 }, 'in_progress'],
    ['open', { ...none, open: 1, remediated: 1 }, 'in_progress'],
    ['in_progress', { ...none, open: 2 }, 'in_progress'],
    ['awaiting_verification', { ...none, open: 1, remediated: 3 }, 'in_progress'],
    ['awaiting_verification', { ...none, open: 1 }, 'in_progress'],
    ['blocked', { ...none, verified: 2 }, 'verified'],
    ['open', { ...none, excepted: 2 }, 'closed_with_exceptions'],
    ['open', { ...none, verified: 1, aside: 1 }, 'verified'],
    ['open', { ...none, aside: 1 }, 'closed_with_exceptions'],
    ['cancelled', { ...none, verified: 2 }, 'cancelled'],
  ] as const)('turns %s with %j into %s', (from, given, to) => expect(rollUp(from, given)).toBe(to));
});
