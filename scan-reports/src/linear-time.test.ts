import { expect, test } from 'vitest';
import type { ReportFormat } from './contract.ts';
import { sarif } from './formats/sarif/index.ts';
import { attacksOn, growsTooFast, slowness, type Target, targets, timeOf } from './testing/attacks.ts';
import { readAll } from './testing/reading.ts';

/** One attack on each string field of each format. `npm run test:attack -- --long fields` tries all. */
test('no field of a report takes more than linear time', async () => {
  const slow: (string | null)[] = [];
  for (const [index, target] of targets().entries()) for (const attack of attacksOn(target, index, 1)) slow.push(await slowness(attack));
  expect(slow.length).toBeGreaterThan(2_000);
  expect(slow.filter((found) => found !== null)).toEqual([]);
}, 120_000);

function planted(read: (text: string) => unknown): Target {
  const format: ReportFormat = {
    ...sarif,
    async *read(input) {
      for await (const chunk of input.open()) read(Buffer.from(chunk).toString());
      yield* [];
    },
  };
  return { format, field: 'planted', filename: 'a.json', make: (change) => change('http://a') };
}

const slashes = (target: Target) => attacksOn(target, 0).filter(({ unit }) => unit === '/');

test('a quadratic expression is found', async () => {
  const [appended] = slashes(planted((text) => text.replace(/\/+$/, '')));
  expect(appended && (await slowness(appended))).toContain('8000 characters');
});

test('a linear expression is not reported', async () => {
  const [appended] = slashes(planted((text) => text.replace(/(?<!\/)\/+$/, '')));
  expect(appended && (await slowness(appended))).toBeNull();
});

test('times that are too short to compare are not reported, because a busy machine changes them', () => {
  expect([growsTooFast(1, 6), growsTooFast(50, 100), growsTooFast(50, 200)]).toEqual([false, false, true]);
});

test('a message that repeats a long argument stays short', async () => {
  const message = { text: '{0}'.repeat(30_000), arguments: ['A'.repeat(30_000)] };
  const report = { version: '2.1.0', runs: [{ tool: { driver: { name: 't' } }, results: [{ ruleId: 'r', message }] }] };
  const bytes = Buffer.from(JSON.stringify(report));
  const open = async function* () {
    yield bytes;
  };
  const before = process.memoryUsage().heapUsed;
  const { observations } = await readAll(sarif, { filename: 'a.sarif', open });
  expect(observations[0]?.description ?? observations[0]?.title).toMatch(/^A+…$/);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 1024 * 1024);
  const target = { format: sarif, field: 'message', filename: 'a.sarif', make: () => bytes.toString() };
  const [attack] = attacksOn(target, 0, 1);
  expect(attack && (await timeOf(attack, 1))).toBeLessThan(1_000);
});
