import { spawn } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { isAlive, keyIn, postgresPid } from './folders.ts';
import { call, createKey } from './http.ts';
import { kill, rrs, type Service, start, until } from './service.ts';

/** One after the other on the same data folder: each test leaves a running service to the next. */
let service: Service;
let key = '';

beforeAll(async () => {
  service = await start();
  key = keyIn(service.dataDir);
});

interface Load {
  acknowledged: string[];
  statuses: Set<number>;
  retryAfter: Set<string | null>;
  end(): Promise<void>;
}

/** Creates keys, several at once, until it is ended; only what was acknowledged counts. */
function createKeys(url: string): Load {
  const load = { acknowledged: [] as string[], statuses: new Set<number>(), retryAfter: new Set<string | null>() };
  let over = false;
  const work = async (): Promise<void> => {
    while (!over) {
      const reply = await createKey(url, key).catch(() => null);
      if (reply === null) continue;
      load.statuses.add(reply.status);
      if (reply.status === 201) load.acknowledged.push(String(reply.body.id));
      if (reply.status === 503) load.retryAfter.add(reply.headers.get('retry-after'));
    }
  };
  const workers = Array.from({ length: 8 }, work);
  return {
    ...load,
    end: async () => {
      over = true;
      await Promise.all(workers);
    },
  };
}

async function missing(ids: readonly string[]): Promise<string[]> {
  const statuses = await Promise.all(ids.map(async (id) => (await call(service.url, `/api/v1/api-keys/${id}`, { key })).status));
  return ids.filter((_, index) => statuses[index] !== 200);
}

test.for([
  ['the service', false],
  ['the service and PostgreSQL', true],
] as const)('kill -9 of %s loses nothing that was acknowledged', async ([, both]) => {
  const { dataDir } = service;
  const postgres = postgresPid(dataDir);
  const load = createKeys(service.url);
  await until('keys were made', () => load.acknowledged.length > 60);
  service.signal('SIGKILL');
  if (both) kill(postgres);
  expect(await service.exit).toBe('SIGKILL');
  await load.end();
  expect(isAlive(postgres ?? 0)).toBe(!both);

  service = await start({ dataDir });
  expect(service.key).toBeNull();
  expect(isAlive(postgres ?? 0)).toBe(false);
  expect(await missing(load.acknowledged)).toEqual([]);
  expect((await createKey(service.url, key)).status).toBe(201);
});

test('kill -9 of PostgreSQL alone: 503 with Retry-After, then it goes on by itself', async () => {
  const first = postgresPid(service.dataDir);
  const load = createKeys(service.url);
  await until('keys were made', () => load.acknowledged.length > 60);
  kill(first);
  await until('the database is missed', () => load.statuses.has(503));
  const before = load.acknowledged.length;
  await until('keys are made again', () => load.acknowledged.length > before + 60);
  await load.end();

  expect([...load.statuses].sort()).toEqual([201, 503]);
  expect([...load.retryAfter]).toEqual([expect.stringMatching(/^\d+$/)]);
  expect(postgresPid(service.dataDir)).not.toBe(first);
  expect(await missing(load.acknowledged)).toEqual([]);
  await until('it is ready', async () => (await call(service.url, '/readyz')).body.status === 'ok');
});

test('what is left of a killed service is dealt with by a command as well', async () => {
  const { dataDir } = service;
  const postgres = postgresPid(dataDir);
  service.signal('SIGKILL');
  await service.exit;
  const listed = await rrs(['key', 'list'], { dataDir });
  expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining('first owner key') });
  expect(isAlive(postgres ?? 0)).toBe(false);
  expect(postgresPid(dataDir)).toBeNull();
});

test('a process that has the number of a dead PostgreSQL by now, as in a restarted container, is left alone', async () => {
  const cluster = join(service.dataDir, 'postgres');
  const { uid, gid } = statSync(cluster);
  const bystander = spawn('sleep', ['600'], { uid, gid, stdio: 'ignore' });
  onTestFinished(() => void bystander.kill());
  writeFileSync(join(cluster, 'postmaster.pid'), `${bystander.pid}\n`);
  expect(await rrs(['key', 'list'], { dataDir: service.dataDir })).toMatchObject({ code: 0, stderr: '' });
  expect(isAlive(bystander.pid ?? 0)).toBe(true);
});
