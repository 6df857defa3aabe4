import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { keyFile, keyIn, postgresPid } from './folders.ts';
import { call } from './http.ts';
import { kill, newDataDir, rrs, run, start, until } from './service.ts';

const moments: [string, (dataDir: string) => boolean][] = [
  ['PostgreSQL begins to make its cluster', (dataDir) => leftovers(dataDir).length > 0],
  ['the cluster is there', (dataDir) => existsSync(join(dataDir, 'postgres'))],
  ['PostgreSQL starts', (dataDir) => postgresPid(dataDir) !== null],
  ['the migration begins', (dataDir) => existsSync(join(dataDir, 'postgres.url'))],
  ['the first key is written', (dataDir) => existsSync(keyFile(dataDir))],
];

function leftovers(dataDir: string): string[] {
  return existsSync(dataDir) ? readdirSync(dataDir).filter((name) => name.startsWith('postgres.new')) : [];
}

async function expectUsable(dataDir: string): Promise<void> {
  const service = await start({ dataDir });
  const key = keyIn(dataDir);
  if (service.key !== null) expect(service.key).toBe(key);
  expect((await call(service.url, '/api/v1/me', { key })).body).toMatchObject({ role: 'owner' });
  expect(await service.stop()).toBe(0);
}

test.concurrent.for(moments)('killed when %s, the next start works', async ([, reached]) => {
  const dataDir = newDataDir();
  const killed = run(['start'], { dataDir });
  await until('the moment', () => reached(dataDir));
  await delay(Math.random() * 50);
  killed.signal('SIGKILL');
  await killed.exit;
  await expectUsable(dataDir);
});

test.concurrent('killed again and again at random, with and without PostgreSQL, it starts in the end', async () => {
  const dataDir = newDataDir();
  for (let attempt = 0; attempt < 4; attempt++) {
    const killed = run(['start'], { dataDir });
    await delay(100 + Math.random() * 1900);
    killed.signal('SIGKILL');
    if (attempt % 2 === 1) kill(postgresPid(dataDir));
    await killed.exit;
  }
  await expectUsable(dataDir);
  // What was running on its own when its service was killed may have stayed for one more start.
  if (leftovers(dataDir).length > 0) await rrs(['org', 'list'], { dataDir });
  expect(leftovers(dataDir)).toEqual([]);
});
