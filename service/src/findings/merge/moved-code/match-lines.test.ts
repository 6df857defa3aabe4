import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pairLines, pairSpots, type Spot } from './match-lines.ts';

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

describe('matching code of one kind in a changed file', () => {
  const spots = (...all: (number | [line: number, snippet: string])[]): Spot[] =>
    all.map((one) => (typeof one === 'number' ? { line: one, snippet: null } : { line: one[0], snippet: one[1] }));

  const decided = (line: number, snippet: string | null = null): Spot => ({ line, snippet, isDecided: true });

  it.each<[string, Spot[], Spot[], [number, number][]]>([
    ['the same code is found anywhere', spots([10, 'a'], [20, 'b']), spots([900, 'a']), [[0, 0]]],
    [
      'the same code is found where others changed places',
      spots([10, 'a'], [20, 'b']),
      spots([10, 'b'], [20, 'a']),
      [
        [0, 1],
        [1, 0],
      ],
    ],
    ['as much as before is the same at any distance', spots(10), spots(900), [[0, 0]]],
    ['other code far away is another', spots([10, 'a']), spots([900, 'b']), []],
    ['changed code nearby is the same', spots([10, 'a']), spots([12, 'b']), [[0, 0]]],
    ['less than before is not matched far away', spots(10, 20), spots(900), []],
    ['more than before is not matched far away', spots(10), spots(900, 910), []],
    ['what is left of less than before is not what was decided about', [decided(10), ...spots(30)], spots(12), [[1, 0]]],
    ['what is left is what was decided about if the rest is far away', [decided(10), ...spots(500)], spots(12), [[0, 0]]],
    [
      'what was decided about moves if as much is left as before',
      [decided(10), ...spots(30)],
      spots(12, 32),
      [
        [0, 0],
        [1, 1],
      ],
    ],
    ['changed code nearby is another than what was decided about', [decided(10, 'a')], spots([12, 'b']), []],
    ['the same code is the one that was decided about', [decided(10, 'a'), ...spots([30, 'b'])], spots([12, 'a']), [[0, 0]]],
  ])('%s', (_, before, now, expected) => {
    expect(pairSpots(before, now)).toEqual(expected);
  });
});
