import { spawn } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { isAlive, keyIn, postgresPid } from './folders.ts';
import { call, createKey } from './http.ts';
import { kill, rrs, type Service, start, startUsed, until } from './service.ts';

/** The tests share one data folder and run in order. Each leaves a running service for the next. */
let service: Service;
let key = '';

beforeAll(async () => {
  service = await startUsed();
  key = keyIn(service.dataDir);
});

interface Load {
  acknowledged: string[];
  statuses: Set<number>;
  retryAfter: Set<string | null>;
  stop(): Promise<void>;
}

/** Creates API keys concurrently until it is stopped, and records the acknowledged ones. */
function createKeys(url: string): Load {
  const load = { acknowledged: [] as string[], statuses: new Set<number>(), retryAfter: new Set<string | null>() };
  let stopped = false;
  const work = async (): Promise<void> => {
    while (!stopped) {
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
    stop: async () => {
      stopped = true;
      await Promise.all(workers);
    },
  };
}

async function missingKeys(ids: readonly string[]): Promise<string[]> {
  const statuses = await Promise.all(ids.map(async (id) => (await call(service.url, `/api/v1/api-keys/${id}`, { key })).status));
  return ids.filter((_, index) => statuses[index] !== 200);
}

test.for([
  ['the service', false],
  ['the service and PostgreSQL', true],
] as const)('kill -9 of %s loses no acknowledged change', async ([, both]) => {
  const { dataDir } = service;
  const postgres = postgresPid(dataDir);
  const load = createKeys(service.url);
  await until('keys are created', () => load.acknowledged.length > 60);
  service.signal('SIGKILL');
  if (both) kill(postgres);
  expect(await service.exit).toBe('SIGKILL');
  await load.stop();
  expect(isAlive(postgres ?? 0)).toBe(!both);

  service = await start({ dataDir });
  expect(service.key).toBeNull();
  expect(isAlive(postgres ?? 0)).toBe(false);
  expect(await missingKeys(load.acknowledged)).toEqual([]);
  expect((await createKey(service.url, key)).status).toBe(201);
});

test('after kill -9 of PostgreSQL alone, the service returns 503 with Retry-After and then recovers', async () => {
  const first = postgresPid(service.dataDir);
  const load = createKeys(service.url);
  await until('keys are created', () => load.acknowledged.length > 60);
  kill(first);
  await until('the service returns 503', () => load.statuses.has(503));
  const before = load.acknowledged.length;
  await until('keys are created again', () => load.acknowledged.length > before + 60);
  await load.stop();

  expect([...load.statuses].sort()).toEqual([201, 503]);
  expect([...load.retryAfter]).toEqual([expect.stringMatching(/^\d+$/)]);
  expect(postgresPid(service.dataDir)).not.toBe(first);
  expect(await missingKeys(load.acknowledged)).toEqual([]);
  await until('the service is ready', async () => (await call(service.url, '/readyz')).body.status === 'ok');
});

test.runIf(process.platform === 'linux')('PostgreSQL recovers without opening each of its files', () => {
  expect(readFileSync(join(service.dataDir, 'postgres/postmaster.opts'), 'utf8')).toContain('recovery_init_sync_method=syncfs');
});

test('a command stops the PostgreSQL that a killed service left behind', async () => {
  const { dataDir } = service;
  const postgres = postgresPid(dataDir);
  service.signal('SIGKILL');
  await service.exit;
  const listed = await rrs(['key', 'list'], { dataDir });
  expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining('first owner key') });
  expect(isAlive(postgres ?? 0)).toBe(false);
  expect(postgresPid(dataDir)).toBeNull();
});

test('a process that reuses the process id of a dead PostgreSQL, as in a restarted container, is not killed', async () => {
  const cluster = join(service.dataDir, 'postgres');
  const { uid, gid } = statSync(cluster);
  const bystander = spawn('sleep', ['600'], { uid, gid, stdio: 'ignore' });
  onTestFinished(() => void bystander.kill());
  writeFileSync(join(cluster, 'postmaster.pid'), `${bystander.pid}\n`);
  expect(await rrs(['key', 'list'], { dataDir: service.dataDir })).toMatchObject({ code: 0, stderr: '' });
  expect(isAlive(bystander.pid ?? 0)).toBe(true);
});
