import { expect, test } from 'vitest';
import { syncs } from './syncs.ts';

/** For correctness only: the figures of a machine that runs tests mean nothing. */
test('the benchmark of syncs runs, with good, slow and broken vendors', async () => {
  const results = await syncs({ findings: 200, records: 50, rounds: 1, seconds: 0.2 });
  expect(results.map(({ id, figure }) => [id, /^\d+\.\d+ × \(\d+\.\d ms against \d+\.\d ms\)$/.test(figure)])).toEqual([
    ['SYNC', true],
    ['SYNC', true],
  ]);
}, 120_000);
