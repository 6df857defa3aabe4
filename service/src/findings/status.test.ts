import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowed, type By, isClosed, mayMove, reopenedByScan, type Status, statuses, verifiedByScan } from './status.ts';

/** The documented transitions, line by line. */
const DESIGN: readonly [from: readonly Status[], to: Status, by: readonly By[]][] = [
  [['open'], 'in_progress', ['person']],
  [['in_progress'], 'open', ['person']],
  [['open', 'in_progress'], 'remediated', ['person']],
  [['remediated'], 'verified', ['scan', 'person']],
  [['open', 'in_progress'], 'verified', ['scan']],
  [['remediated', 'verified', 'withdrawn'], 'open', ['scan', 'person']],
  [['open', 'in_progress', 'remediated'], 'risk_accepted', ['person']],
  [['risk_accepted'], 'open', ['system', 'person']],
  [['risk_accepted'], 'verified', ['scan', 'system']],
  [['open', 'in_progress', 'remediated'], 'false_positive', ['person']],
  [['false_positive'], 'open', ['person', 'system']],
  [['open', 'in_progress', 'remediated'], 'withdrawn', ['person', 'system']],
];
const everyone: readonly By[] = ['person', 'scan', 'system'];
const designed = (from: Status, to: Status, by: By): boolean =>
  DESIGN.some(([froms, target, who]) => froms.includes(from) && target === to && who.includes(by));

describe('status transitions', () => {
  it.each(statuses.flatMap((from) => statuses.map((to) => [from, to] as const)))('%s → %s is allowed as documented', (from, to) => {
    for (const by of everyone) expect(mayMove(from, to, by), by).toBe(designed(from, to, by));
  });

  it('lists exactly the allowed transitions', () => {
    for (const from of statuses) for (const by of everyone) expect(allowed(from, by)).toEqual(statuses.filter((to) => mayMove(from, to, by)));
  });

  it('let a scan reopen and verify but never override a decision', () => {
    expect(reopenedByScan).toEqual(['remediated', 'verified', 'withdrawn']);
    expect(verifiedByScan).toEqual(['open', 'in_progress', 'remediated', 'risk_accepted']);
    expect(allowed('risk_accepted', 'scan')).toEqual(['verified']);
    expect(allowed('false_positive', 'scan')).toEqual([]);
  });

  it('have no dead end for people, and a closed status can only become open', () => {
    for (const from of statuses) expect(allowed(from, 'person')).not.toEqual([]);
    for (const from of statuses.filter(isClosed)) expect(allowed(from, 'person')).toEqual(['open']);
  });

  it('never leave the table', () => {
    const step = fc.tuple(fc.constantFrom(...statuses), fc.constantFrom(...everyone));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let status: Status = 'open';
        for (const [to, by] of steps) {
          if (!mayMove(status, to, by)) continue;
          expect(designed(status, to, by)).toBe(true);
          status = to;
        }
        expect(statuses).toContain(status);
      }),
    );
  });
});
