import { expect, test } from 'vitest';
import { imports, largeReport } from './imports.ts';
import { lists } from './lists.ts';

/** Checks that the benchmark works. The figures mean nothing while other tests run. */
test('the import benchmark runs', async () => {
  expect((await imports({ findings: 200, rounds: 1 })).map(({ id }) => id)).toEqual(['P1', 'P2', 'P2', 'P7']);
  expect((await largeReport({ mebibytes: 4 })).map(({ id }) => id)).toEqual(['MEM']);
}, 60_000);

test('the list benchmark runs', async () => {
  const results = await lists({ small: 200, large: 1_000, organizations: 2, seconds: 0.1, tries: 1, every: 10 });
  expect(results.map(({ id }) => id)).toEqual(['P3', 'P3', 'P3', 'P3', 'P4', 'P8']);
}, 120_000);
