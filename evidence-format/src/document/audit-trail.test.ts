import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chainLine, TRAIL_START, verifyTrail } from './audit-trail.ts';

function trailOf(events: readonly Record<string, unknown>[]): { lines: string[]; head: string } {
  const lines: string[] = [];
  let head = TRAIL_START;
  for (const event of events) {
    const link = chainLine(event, lines.length + 1, head);
    lines.push(link.line);
    head = link.hash;
  }
  return { lines, head };
}

const events = fc.array(
  fc.record({ action: fc.string(), at: fc.constant('2026-11-15T00:00:00.000Z'), data: fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 2 }) }),
  {
    maxLength: 6,
  },
);

test('a line is canonical JSON and contains the hash of the previous line', () => {
  const first = chainLine({ b: 1, a: 'x' }, 1, TRAIL_START);
  expect(first.line).toBe(`{"a":"x","b":1,"prev":"${'0'.repeat(64)}","seq":1}`);
  expect(first.hash).toBe(hash('sha256', first.line));
  expect(() => chainLine({ seq: 1 }, 1, TRAIL_START)).toThrow('reserved');
  expect(() => chainLine({ prev: 1 }, 1, TRAIL_START)).toThrow('reserved');
});

test('a valid chain has no faults and ends with its head', async () => {
  expect(await verifyTrail([])).toEqual({ events: 0, head: TRAIL_START, faults: [] });
  await fc.assert(
    fc.asyncProperty(events, async (some) => {
      const { lines, head } = trailOf(some);
      expect(await verifyTrail(lines)).toEqual({ events: some.length, head, faults: [] });
    }),
  );
});

test('a changed, removed, added, repeated or swapped line causes a fault or changes the head', async () => {
  await fc.assert(
    fc.asyncProperty(
      events.filter((some) => some.length > 0),
      fc.nat(),
      fc.nat(),
      async (some, pick, where) => {
        const { lines, head } = trailOf(some);
        const at = pick % lines.length;
        const line = lines[at] as string;
        const position = where % line.length;
        const changed = line.slice(0, position) + (line[position] === '1' ? '2' : '1') + line.slice(position + 1);
        const tampered = [lines.with(at, changed), lines.toSpliced(at, 1), lines.toSpliced(at, 0, line), [...lines.slice(0, at), ...lines.slice(at).reverse()]];
        for (const trail of tampered) {
          if (JSON.stringify(trail) === JSON.stringify(lines)) continue;
          const result = await verifyTrail(trail);
          expect(result.faults.length > 0 || result.head !== head).toBe(true);
        }
      },
    ),
  );
});

test('each fault states its line and the problem', async () => {
  const { lines } = trailOf([{ a: 1 }, { a: 2 }, { a: 3 }]);
  const faultsOf = async (trail: string[]): Promise<string[]> => (await verifyTrail(trail)).faults.map(({ line, message }) => `${line}: ${message}`);
  expect(await faultsOf([lines[0] as string, lines[2] as string])).toEqual(['2: seq is not 2']);
  expect(await faultsOf(lines.with(0, (lines[0] as string).replace('"a":1', '"a":9')))).toEqual(['2: prev is not the hash of the previous line']);
  expect(await faultsOf(['{"seq":1, "prev":""}'])).toEqual(['1: not in canonical form']);
  expect(await faultsOf(['[]'])).toEqual(['1: not a JSON object']);
  expect(await faultsOf(['{"a":1,"a":1}'])).toEqual([expect.stringContaining('duplicate')]);
  expect(await faultsOf(['{"a":"\\ud800"}'])).toEqual([expect.stringContaining('surrogates')]);
  expect(await faultsOf([''])).toEqual([expect.stringContaining('not valid JSON')]);
});
