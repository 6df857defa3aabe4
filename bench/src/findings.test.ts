import { expect, test } from 'vitest';
import { imports, largeReport } from './imports.ts';
import { growth } from './lists/growth.ts';
import { lists } from './lists/lists.ts';

/** Checks that the benchmark works. The figures mean nothing while other tests run. */
test('the import benchmark runs', async () => {
  expect((await imports({ findings: 200, rounds: 1 })).map(({ id }) => id)).toEqual(['P1', 'P2', 'P2', 'P7', 'WAIT']);
  expect((await largeReport({ mebibytes: 4 })).map(({ id }) => id)).toEqual(['MEM']);
}, 60_000);

test('the list benchmark runs', async () => {
  const results = await lists({ findings: 1_000, others: 1, small: 200, seconds: 0.1, tries: 1, every: 40 });
  expect(results.map(({ id }) => id)).toEqual(['P3', 'P3', 'P3', 'P3', 'P3', 'P4', 'P8']);
}, 120_000);

test('the growth benchmark runs', async () => {
  expect((await growth({ findings: [200, 400], imported: 50, every: 100, tries: 1 })).map(({ id }) => id)).toEqual(['GROWTH', 'GROWTH', 'GROWTH', 'GROWTH']);
}, 120_000);
