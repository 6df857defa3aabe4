import { expect, test } from 'vitest';
import { foundation } from './foundation.ts';
import { resultTable } from './results.ts';

/** For correctness only: the figures of a machine that runs tests mean nothing. */
test('the benchmark of the foundation runs and fills its table', async () => {
  const results = await foundation({ rounds: 1, seconds: 0.2 });
  expect(results.map(({ id }) => id)).toEqual(['ME', 'P7', 'P7']);
  expect(resultTable(results)).toMatch(/\| ME \| .* \| \d+\.\d+ × \(\d+\/s against \d+\/s\) \|/);
});
