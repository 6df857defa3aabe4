import { expect, test } from 'vitest';
import { foundation } from './foundation.ts';
import { resultTable } from './results.ts';

/** Checks that the benchmark works. The figures mean nothing while other tests run. */
test('the foundation benchmark runs and its results make a table', async () => {
  const results = await foundation({ rounds: 1, seconds: 0.2 });
  expect(results.map(({ id }) => id)).toEqual(['ME', 'P7', 'P7']);
  expect(resultTable(results)).toMatch(/\| ME \| .* \| \d+\.\d+ × \(\d+\/s vs \d+\/s\) \|/);
});
