import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Conclusion, FINDING_STATES, type FindingState, GAP_CODES, SEVERITIES } from './evidence.ts';
import { concludeFrom, countsOf, gradeOf, reasonsOf, weightOf } from './rules.ts';

const cases: [FindingState[], Conclusion][] = [
  [[], 'not_remediated'],
  [['verified'], 'remediated'],
  [['verified', 'withdrawn'], 'remediated'],
  [['withdrawn'], 'not_remediated'],
  [['verified', 'risk_accepted'], 'partially_remediated'],
  [['verified', 'false_positive'], 'partially_remediated'],
  [['verified', 'remediated'], 'partially_remediated'],
  [['verified', 'open', 'risk_accepted'], 'partially_remediated'],
  [['risk_accepted'], 'risk_accepted'],
  [['risk_accepted', 'false_positive', 'withdrawn'], 'risk_accepted'],
  [['false_positive', 'withdrawn'], 'false_positive'],
  [['false_positive', 'open'], 'not_remediated'],
  [['risk_accepted', 'in_progress'], 'not_remediated'],
  [['remediated'], 'not_remediated'],
];

test.each(cases)('%j leads to the conclusion %s', (states, conclusion) => {
  expect(concludeFrom(states.map((state) => ({ state })))).toBe(conclusion);
});

test('matches the table of the documentation for every set of states', () => {
  const sets = Array.from({ length: 2 ** FINDING_STATES.length }, (_, mask) => FINDING_STATES.filter((_state, bit) => mask & (1 << bit)));
  for (const states of sets) {
    const has = (...some: FindingState[]): boolean => some.some((state) => states.includes(state));
    const only = (...some: FindingState[]): boolean => states.length > 0 && states.every((state) => some.includes(state));
    const active = has('open', 'in_progress', 'remediated');
    const rows: [boolean, Conclusion][] = [
      [states.length === 0, 'not_remediated'],
      [has('verified') && only('verified', 'withdrawn'), 'remediated'],
      [!active && has('verified') && has('risk_accepted', 'false_positive'), 'partially_remediated'],
      [!active && !has('verified') && has('risk_accepted'), 'risk_accepted'],
      [has('false_positive') && only('false_positive', 'withdrawn'), 'false_positive'],
      [only('withdrawn'), 'not_remediated'],
      [active && has('verified'), 'partially_remediated'],
    ];
    const matching = rows.filter(([matches]) => matches).map(([, conclusion]) => conclusion);
    expect(matching.length, states.join()).toBeLessThanOrEqual(1);
    expect(concludeFrom(states.map((state) => ({ state }))), states.join()).toBe(matching[0] ?? 'not_remediated');
  }
});

const findings = fc.array(fc.record({ state: fc.constantFrom(...FINDING_STATES), severity: fc.constantFrom(...SEVERITIES) }), { maxLength: 8 });

test('an active finding prevents a finished conclusion, and order and repetition do not matter', () => {
  fc.assert(
    fc.property(findings, fc.constantFrom<FindingState>('open', 'in_progress', 'remediated'), (some, active) => {
      expect(['partially_remediated', 'not_remediated']).toContain(concludeFrom([...some, { state: active }]));
      expect(concludeFrom([...some, ...some].reverse())).toBe(concludeFrom(some));
    }),
  );
});

test('counts add up and contain every key', () => {
  fc.assert(
    fc.property(findings, (some) => {
      const counts = countsOf(some);
      expect(counts.findings).toBe(some.length);
      expect(Object.keys(counts.by_status)).toEqual([...FINDING_STATES]);
      expect(Object.keys(counts.by_severity)).toEqual([...SEVERITIES]);
      for (const tally of [counts.by_status, counts.by_severity]) expect(Object.values(tally).reduce((sum, count) => sum + count, 0)).toBe(some.length);
    }),
  );
  expect(countsOf([{ state: 'open', severity: 'high' }]).by_status.open).toBe(1);
});

test('the grade depends on the number of kinds of major gaps', () => {
  const gap = (code: (typeof GAP_CODES)[number]) => ({ code, weight: weightOf(code, { fourEyes: false }) });
  expect(gradeOf([])).toBe('A');
  expect(gradeOf([gap('no_timestamp'), gap('no_artifact')])).toBe('B');
  expect(gradeOf([gap('no_rescan'), gap('no_rescan'), gap('no_artifact')])).toBe('C');
  expect(gradeOf([gap('no_rescan'), gap('unfinished')])).toBe('D');
});

test('a missing approval is a major gap if the organization requires four eyes', () => {
  expect(weightOf('no_approval', { fourEyes: false })).toBe('minor');
  expect(weightOf('no_approval', { fourEyes: true })).toBe('major');
  expect(GAP_CODES.filter((code) => weightOf(code, { fourEyes: false }) === 'major')).toEqual([
    'unfinished',
    'no_findings',
    'unlinked_active',
    'no_rescan',
    'approver_is_author',
    'rejected',
  ]);
});

test('reasons state the number of findings per state', () => {
  expect(reasonsOf([])).toEqual(['No finding is linked to the work item.']);
  expect(reasonsOf([{ state: 'verified' }, { state: 'open' }, { state: 'verified' }])).toEqual([
    '1 of 3 findings is open.',
    '2 of 3 findings are verified as remediated.',
  ]);
});
