import { expect, test } from 'vitest';
import { syncs } from './syncs.ts';

/** Checks that the benchmark works. The figures mean nothing while other tests run. */
test('the sync benchmark runs with fast, slow and broken vendors', async () => {
  const results = await syncs({ findings: 200, records: 50, rounds: 1, seconds: 0.2 });
  expect(results.map(({ id, figure }) => [id, /^\d+\.\d+ × \(\d+\.\d ms vs \d+\.\d ms\)$/.test(figure)])).toEqual([
    ['SYNC', true],
    ['SYNC', true],
  ]);
}, 120_000);
