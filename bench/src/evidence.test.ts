import { expect, test } from 'vitest';
import { evidence } from './evidence.ts';

/** For correctness only: the figures of a machine that runs tests mean nothing. */
test('the benchmark of packages runs', async () => {
  expect((await evidence({ findings: 20, files: 2, mebibytesEach: 1, rounds: 1 })).map(({ id }) => id)).toEqual(['P5', 'P5', 'P6']);
}, 120_000);
