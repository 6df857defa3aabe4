import { expect, test } from 'vitest';
import { histories } from './histories.ts';

/** Checks that the benchmark works. The figures mean nothing while other tests run. */
test('the benchmark of long histories runs', async () => {
  const results = await histories({ findings: 20, rounds: 1 });
  expect(results.map(({ id, figure }) => `${id} ${figure}`)).toEqual([
    expect.stringMatching(/^LARGE \d+\.\d s, \d+ MiB in its largest process$/),
    expect.stringMatching(/^LARGE \d+$/),
    expect.stringMatching(/^LARGE \d+\.\d s/),
    expect.stringMatching(/^LARGE \d+\.\d s/),
    'LARGE 10',
  ]);
}, 240_000);
