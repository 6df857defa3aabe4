import { beforeEach, expect, it } from 'vitest';
import { forgetLookups, lastLookup } from './last-lookup.ts';

beforeEach(forgetLookups);

const few = { count: 3, sort: '-risk_score' };
const many = { count: Number.POSITIVE_INFINITY, sort: '-risk_score' };

it('knows the last lookup of each filter of an organization', () => {
  expect(lastLookup('ours', { q: 'openssl' }).last).toBeUndefined();
  lastLookup('ours', { q: 'openssl' }).remember(few);
  const known = [lastLookup('ours', { q: 'openssl' }), lastLookup('theirs', { q: 'openssl' }), lastLookup('ours', { q: 'openssl', kev: true })];
  expect(known.map(({ last }) => last)).toEqual([few, undefined, undefined]);
  lastLookup('ours', { q: 'openssl' }).remember(many);
  expect(lastLookup('ours', { q: 'openssl' }).last).toEqual(many);
  lastLookup('ours', { q: 'openssl' }).forget();
  expect(lastLookup('ours', { q: 'openssl' }).last).toBeUndefined();
});

it('forgets what was looked up longest ago', () => {
  for (let n = 0; n <= 5_000; n++) {
    lastLookup('ours', { q: `word ${n}` }).remember(few);
    lastLookup('ours', { q: 'often' }).remember(few);
  }
  expect(['often', 'word 0', 'word 1', 'word 5000'].map((q) => lastLookup('ours', { q }).last)).toEqual([few, undefined, undefined, few]);
});
