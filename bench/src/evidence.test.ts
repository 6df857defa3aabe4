import { expect, test } from 'vitest';
import { evidence } from './evidence.ts';

/** Checks that the benchmark works. The figures mean nothing while other tests run. */
test('the evidence benchmark runs', async () => {
  expect((await evidence({ findings: 20, files: 2, mebibytesEach: 1, rounds: 1 })).map(({ id }) => id)).toEqual(['P5', 'P5', 'P6']);
}, 120_000);
