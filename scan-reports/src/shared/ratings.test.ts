import { expect, test } from 'vitest';
import { epssOf, fixStateOf, maturityOf, ratingOf, uniqueRatings } from './ratings.ts';

const vector = 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H';

test.each([
  [vector, 9.8, undefined, [{ vector, score: 9.8 }]],
  [vector, null, undefined, [{ vector }]],
  [vector, 0, '3.1', [{ vector, score: 0 }]],
  [undefined, '7.5', '2.0', [{ score: 7.5, version: '2.0' }]],
  ['', 7.5, undefined, [{ score: 7.5 }]],
  [null, 0, '3.1', []],
  [null, -1, undefined, []],
  [null, 75, undefined, []],
  [null, 'high', undefined, []],
  [undefined, undefined, '3.1', []],
])('ratingOf(%s, %s, %s)', (given, score, version, expected) => {
  expect(ratingOf(given, score, version)).toEqual(expected);
});

test('of equal ratings only the first is kept, and a bare score only if no vector has it', () => {
  const other = { vector: 'AV:N/AC:L/Au:N/C:P/I:P/A:P', score: 7.5 };
  const own = { vector, score: 9.8 };
  expect(uniqueRatings([own, other, { vector, score: 1 }, { score: 7.5 }, { score: 5, version: '3.1' }, { score: 5, version: '3.1' }])).toEqual([
    own,
    other,
    { score: 5, version: '3.1' },
  ]);
  expect(uniqueRatings([])).toEqual([]);
});

test.each([
  [0.97, 0.999, '2026-11-15', { score: 0.97, percentile: 0.999, date: '2026-11-15' }],
  ['0.00075', undefined, undefined, { score: 0.00075 }],
  ['97.2%', '99 %', '2026-11-15T00:00:00Z', { score: 0.972, percentile: 0.99, date: '2026-11-15' }],
  [0, 0, 'yesterday', { score: 0, percentile: 0 }],
  [0.5, 50, undefined, { score: 0.5 }],
  [97.2, 0.5, undefined, undefined],
  [-1, 0.5, undefined, undefined],
  [undefined, 0.5, undefined, undefined],
  ['1.2.3%', undefined, undefined, undefined],
])('epssOf(%s, %s, %s)', (score, percentile, date, expected) => {
  expect(epssOf(score, percentile, date)).toEqual(expected);
});

test.each([
  ['Not Defined', undefined],
  ['Unproven', 'unreported'],
  ['Proof of Concept', 'proof_of_concept'],
  ['PROOF_OF_CONCEPT', 'proof_of_concept'],
  ['Functional', 'functional'],
  ['High', 'functional'],
  ['Mature', 'functional'],
  ['Attacked', 'attacked'],
  ['constructor', undefined],
  [undefined, undefined],
])('maturityOf(%s)', (word, expected) => {
  expect(maturityOf(word)).toBe(expected);
});

test.each([
  ['fixed', 'available'],
  ['affected', 'not_available'],
  ['wont-fix', 'will_not_fix'],
  ['end_of_life', 'end_of_life'],
  ['under_investigation', undefined],
  [undefined, undefined],
])('fixStateOf(%s)', (word, expected) => {
  expect(fixStateOf(word)).toBe(expected);
});
