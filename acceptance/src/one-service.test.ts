import { expect, test } from 'vitest';
import { call } from './http.ts';
import { newDataDir, ready, rrs, run, startUsed } from './service.ts';

/** A service that has just started may not have written its process id yet. */
const refusal = /^rrs-server: [^\n]*\(process (?:\d+|unknown)\)[^\n]* data folder [^\n]+ RRS_DATA_DIR [^\n]+\.\n$/;

test.concurrent('a second service on the same data folder is refused, and the first keeps running', async () => {
  const first = await startUsed();
  const second = await rrs(['start'], { dataDir: first.dataDir });
  expect(second).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(refusal) });
  expect(second.stderr).toContain(`process ${first.pid}`);
  expect((await call(first.url, '/readyz')).body).toMatchObject({ status: 'ok' });
  expect(await first.stop()).toBe(0);
});

test.concurrent('when several services start at the same time on an empty folder, exactly one succeeds', async () => {
  const dataDir = newDataDir();
  const all = Array.from({ length: 3 }, () => run(['start'], { dataDir }));
  const outcomes = await Promise.allSettled(all.map(ready));
  const winners = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  expect(winners).toHaveLength(1);
  for (const loser of all.filter(({ pid }) => pid !== winners[0]?.pid)) {
    expect(await loser.exit).toBe(1);
    expect(loser.stderr()).toMatch(refusal);
  }
  const [winner] = winners;
  expect((await call(winner?.url ?? '', '/api/v1/me', { key: winner?.key ?? '' })).status).toBe(200);
  expect(await winner?.stop()).toBe(0);
});
