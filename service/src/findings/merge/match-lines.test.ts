import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pairLines } from './match-lines.ts';

describe('matching lines of a changed file', () => {
  it.each<[string, number[], number[], [number, number][]]>([
    [
      'all move down',
      [10, 20],
      [11, 21],
      [
        [0, 0],
        [1, 1],
      ],
    ],
    [
      'one that takes the line of another pushes it on',
      [10, 11],
      [11, 12],
      [
        [0, 0],
        [1, 1],
      ],
    ],
    [
      'the one that went is the one that none is near',
      [10, 20, 30],
      [12, 32],
      [
        [0, 0],
        [2, 1],
      ],
    ],
    ['what stays where it is stays the same', [10, 20], [20], [[1, 0]]],
    [
      'what is new is new',
      [10, 20],
      [10, 15, 20],
      [
        [0, 0],
        [1, 2],
      ],
    ],
    ['far away is another', [10], [61], []],
    ['fifty lines are near', [10], [60], [[0, 0]]],
    ['nothing', [], [5], []],
  ])('%s', (_, before, now, expected) => {
    expect(pairLines(before, now)).toEqual(expected);
  });

  const lines = fc.uniqueArray(fc.integer({ min: 1, max: 300 }), { maxLength: 12 }).map((all) => all.sort((a, b) => a - b));

  it('pairs no line twice, crosses no pairs, and pairs unchanged lines with themselves', () => {
    fc.assert(
      fc.property(lines, lines, (before, now) => {
        const pairs = pairLines(before, now);
        for (const [index, [b, n]] of pairs.entries()) {
          const [previousB, previousN] = pairs[index - 1] ?? [-1, -1];
          expect(b).toBeGreaterThan(previousB);
          expect(n).toBeGreaterThan(previousN);
          expect(Math.abs((before[b] ?? 0) - (now[n] ?? 0))).toBeLessThanOrEqual(50);
        }
        expect(pairLines(before, before)).toEqual(before.map((_, at) => [at, at]));
      }),
    );
  });
});
