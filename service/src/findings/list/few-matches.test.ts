import { beforeEach, expect, it } from 'vitest';
import { fewMatches, forgetFewMatches } from './few-matches.ts';

beforeEach(forgetFewMatches);

it('knows the filters of an organization that had few matches when they were last looked up', () => {
  expect(fewMatches('ours', { q: 'openssl' }).areLikely).toBe(false);
  fewMatches('ours', { q: 'openssl' }).learn(true);
  const known = [fewMatches('ours', { q: 'openssl' }), fewMatches('theirs', { q: 'openssl' }), fewMatches('ours', { q: 'openssl', kev: true })];
  expect(known.map(({ areLikely }) => areLikely)).toEqual([true, false, false]);
  expect(known.map(({ areUnlikely }) => areUnlikely)).toEqual([false, false, false]);
  fewMatches('ours', { q: 'openssl' }).learn(false);
  expect(fewMatches('ours', { q: 'openssl' })).toMatchObject({ areLikely: false, areUnlikely: true });
});

it('forgets what was looked up longest ago', () => {
  for (let n = 0; n <= 5_000; n++) {
    fewMatches('ours', { q: `word ${n}` }).learn(true);
    fewMatches('ours', { q: 'often' }).learn(true);
  }
  expect(['often', 'word 0', 'word 1', 'word 5000'].map((q) => fewMatches('ours', { q }).areLikely)).toEqual([true, false, false, true]);
});
