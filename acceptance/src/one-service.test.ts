import { expect, test } from 'vitest';
import { call } from './http.ts';
import { newDataDir, ready, rrs, run, start } from './service.ts';

const refusal = /^rrs: Another service \(process \d+\) is using the data folder \S+\. Stop it first, or set RRS_DATA_DIR to another folder\.\n$/;

test.concurrent('a second service on the data folder is refused in one sentence, and the first goes on', async () => {
  const first = await start();
  const second = await rrs(['start'], { dataDir: first.dataDir });
  expect(second).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(refusal) });
  expect(second.stderr).toContain(`process ${first.pid}`);
  expect((await call(first.url, '/readyz')).body).toMatchObject({ status: 'ok' });
  expect(await first.stop()).toBe(0);
});

test.concurrent('of several started at the same moment on an empty folder, exactly one wins', async () => {
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
