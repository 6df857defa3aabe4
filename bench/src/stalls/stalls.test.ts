import { expect, test } from 'vitest';
import { epssFiles } from './scores.ts';
import { stalls } from './stalls.ts';

/** Checks that the benchmarks work. The figures mean nothing while other tests run. */
test('the benchmark of stalls runs', async () => {
  const results = await stalls({ mebibytes: 4, sealed: 50, files: 2, mebibytesEach: 1 });
  expect(results.map(({ id, figure }) => [id, /^\d+ ms$/.test(figure)])).toEqual([
    ['LONG', true],
    ['LONG', true],
    ['LONG', true],
  ]);
}, 240_000);

test('the benchmark of EPSS files runs', async () => {
  const results = await epssFiles({ scores: 2_000, findings: 200 });
  expect(results.map(({ id, figure }) => [id, /^\d+(?:\.\d)? (?:ms$|× \(\d+\.\d s vs \d+\.\d s)/.test(figure)])).toEqual([
    ['LONG', true],
    ['EPSS', true],
    ['EPSS', true],
  ]);
}, 240_000);
