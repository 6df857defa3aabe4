import { expect, it } from 'vitest';
import { type Form, patchOf, rebase } from './policy.ts';

const before: Form = {
  name: 'Acme',
  numbers: { 'sla.critical': '15', 'sla.info': '', 'brake.share': '20', 'brake.count': '50' },
  fourEyes: false,
  trackNames: [],
  trackDays: '30',
  ranking: [],
  frameworks: [],
};

it('sends nothing if nothing changed', () => {
  expect(patchOf(before, { ...before, trackNames: [] })).toEqual({});
});

it('sends only what changed: an empty deadline is none, and shares are fractions', () => {
  const form = { ...before, numbers: { ...before.numbers, 'sla.critical': '', 'sla.info': '365', 'brake.share': '12.5' }, fourEyes: true };
  expect(patchOf(before, form)).toEqual({ policy: { sla: { critical: null, info: 365 }, brake: { share: 0.125 }, four_eyes: true } });
});

it('keeps own changes on top of those of somebody else', () => {
  const mine = { ...before, fourEyes: true, numbers: { ...before.numbers, 'sla.critical': '7' } };
  const theirs = { ...before, name: 'Renamed', numbers: { ...before.numbers, 'brake.count': '10' } };
  const after = rebase(before, mine, theirs);
  expect(after).toEqual({ ...before, name: 'Renamed', fourEyes: true, numbers: { ...before.numbers, 'sla.critical': '7', 'brake.count': '10' } });
  expect(patchOf(theirs, after)).toEqual({ policy: { sla: { critical: 7 }, four_eyes: true } });
});
