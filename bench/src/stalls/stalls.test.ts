import { expect, test } from 'vitest';
import { stalls } from './stalls.ts';

/** Checks that the benchmark works. The figures mean nothing while other tests run. */
test('the benchmark of stalls runs', async () => {
  const results = await stalls({ mebibytes: 4, sealed: 50, scores: 2_000, findings: 200 });
  expect(results.map(({ id, figure }) => [id, /^\d+(?:\.\d)? (?:ms|× \(\d+\.\d s vs \d+\.\d s\))$/.test(figure)])).toEqual([
    ['LONG', true],
    ['LONG', true],
    ['LONG', true],
    ['LONG', true],
    ['EPSS', true],
  ]);
}, 240_000);
