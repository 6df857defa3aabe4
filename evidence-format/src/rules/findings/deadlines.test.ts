import { expect, test } from 'vitest';
import type { FindingFacts } from '../../document/finding.ts';
import type { PolicyVersion } from '../../document/scope.ts';
import { findingFacts, on } from '../../testing/sample-facts.ts';
import { dueAt, withinSla } from './deadlines.ts';

const policy = (from: string, days: Partial<PolicyVersion['sla']>): PolicyVersion => ({
  effective_from: on(from),
  changed_by: null,
  sla: { critical: 15, high: 30, medium: 90, low: 180, info: null, unknown: 90, kev: 14, ...days },
  four_eyes: false,
  brake: { findings: 50, share: 0.2 },
  source_ranking: [],
  retention: { reports: 1_095, runs: 365 },
});
const open: Partial<FindingFacts> = { closed_at: null };

const cases: [string, Partial<FindingFacts>, PolicyVersion[], string | null][] = [
  ['the policy in force at the start counts', open, [policy('01-01', {})], on('03-31')],
  ['loosening it never helps', open, [policy('01-01', {}), policy('03-05', { high: 3650 })], on('03-31')],
  ['a tighter one takes effect on its own date', open, [policy('01-01', {}), policy('03-05', { high: 10 })], on('03-15')],
  ['tightening it late does not move an earlier deadline', open, [policy('01-01', {}), policy('03-30', { high: 10 })], on('03-31')],
  ['a policy from before the start does not count', open, [policy('01-01', { high: 1 }), policy('02-01', {})], on('03-31')],
  ['a policy from after the end does not count', {}, [policy('01-01', {}), policy('03-11', { high: 1 })], on('03-31')],
  ['a deadline that a later policy introduces', open, [policy('01-01', { high: null }), policy('03-05', {})], '2026-04-04T12:00:00.000Z'],
  ['no policy has a deadline', { severity_source: 'info', severity: 'info' }, [policy('01-01', {})], null],
  ['the severity of the source counts', { severity: 'low', severity_source: 'critical' }, [policy('01-01', {})], on('03-16')],
  ['known exploitation counts', { kev: true, severity_source: 'low' }, [policy('01-01', {})], on('03-15')],
  [
    'known exploitation takes effect on the day it was listed',
    { kev: true, kev_since: on('03-20'), severity_source: 'low' },
    [policy('01-01', {})],
    on('04-03'),
  ],
  ['a finding without a severity has a deadline', { severity_source: 'unknown' }, [policy('01-01', { unknown: 10 })], on('03-11')],
  ['the clock of a reopened finding', { ...open, clock_started_at: on('03-06') }, [policy('01-01', {})], on('04-05')],
  ['without a policy there is no deadline', {}, [], null],
];

test.each(cases)('%s', (_, overrides, policies, due) => {
  expect(dueAt(findingFacts(1, overrides), policies, on('03-12'))).toBe(due);
});

test.each([
  ['closed in time', on('03-10'), 'remediated', true],
  ['closed late', on('04-10'), 'remediated', false],
  ['closed in time but not proven', on('03-10'), 'active', false],
  ['open and late', null, 'active', false],
] as const)('a finding that is %s', (_, closed_at, standing, within) => {
  expect(withinSla(on('03-31'), { closed_at }, { standing, asOf: on('05-01') })).toBe(within);
  expect(withinSla(null, { closed_at }, { standing, asOf: on('05-01') })).toBeNull();
});
