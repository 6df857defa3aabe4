import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { keyIn, temporaryFolder } from './folders.ts';
import { call, createKey } from './http.ts';
import { ready, rrs, run, start, startUsed, until } from './service.ts';

/** The embedded server of one service is the shared server of the others. Its superuser creates the databases, and its login uses them. */
let serverUrl = '';
let superuserUrl = '';

beforeAll(async () => {
  const { dataDir } = await startUsed();
  serverUrl = readFileSync(join(dataDir, 'postgres.url'), 'utf8').trim();
  superuserUrl = serverUrl.replace('//rrs_login@', '//rrs_admin@');
});

async function emptyDatabase(name: string): Promise<string> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  await client.query(`create database ${name} owner rrs_login`);
  await client.end();
  return serverUrl.replace(/\/rrs\?/, `/${name}?`);
}

test('two API processes and two workers can start at the same time on an empty database', async () => {
  const env = { DATABASE_URL: await emptyDatabase('four'), RRS_KEYS_DIR: join(temporaryFolder(), 'keys') };
  const apis = Array.from({ length: 2 }, () => run(['api'], { env }));
  const workers = Array.from({ length: 2 }, () => run(['worker'], { env }));
  const services = await Promise.all(apis.map(ready));
  for (const worker of workers) await until(`a worker runs ${worker.stderr()}`, () => worker.exited() || worker.stdout().includes('the worker is running'));
  expect([...apis, ...workers].filter((process) => process.exited()).map((process) => process.stderr())).toEqual([]);

  const printed = services.filter((service) => service.key !== null);
  expect(printed).toHaveLength(1);
  const [first] = printed;
  const key = first?.key ?? '';
  expect(keyIn(first?.dataDir ?? '')).toBe(key);
  for (const { url } of services) expect((await call(url, '/api/v1/me', { key })).status).toBe(200);
  expect((await call(first?.url ?? '', '/readyz')).body).toMatchObject({ status: 'ok', checks: { worker: 'ok' } });

  for (const { url } of services) {
    const { body } = await createKey(url, key);
    const everywhere = () => Promise.all(services.map(async (other) => (await call(other.url, '/api/v1/me', { key: String(body.key) })).status));
    expect(new Set(await everywhere())).toEqual(new Set([200]));
    expect((await call(url, `/api/v1/api-keys/${body.id}`, { key, method: 'DELETE' })).status).toBe(204);
    expect(new Set(await everywhere())).toEqual(new Set([401]));
  }
  for (const process of [...apis, ...workers]) process.signal('SIGTERM');
  expect(await Promise.all([...apis, ...workers].map((process) => process.exit))).toEqual(Array(4).fill(0));
});

test('the API works without a worker and reports it, and a separate worker serves its own health', async () => {
  const env = { DATABASE_URL: await emptyDatabase('degraded'), RRS_KEYS_DIR: join(temporaryFolder(), 'keys'), RRS_WORKER_PORT: '0' };
  const api = await start({ args: ['api'], env });
  const alone = await call(api.url, '/readyz');
  expect(alone.status).toBe(200);
  expect(alone.body).toEqual({ status: 'degraded', checks: { database: 'ok', migrations: 'ok', worker: 'missing' } });

  const worker = run(['worker'], { env });
  await until('the API sees the worker', async () => (await call(api.url, '/readyz')).body.status === 'ok');
  const url = await until('the worker logs its URL', () => /"url":"(http[^"]+)","msg":"started"/.exec(worker.stderr())?.[1]);
  expect((await call(url, '/readyz')).body).toMatchObject({ status: 'ok' });
  expect((await fetch(`${url}/metrics`)).status).toBe(200);
  expect((await call(url, '/api/v1/me', { key: api.key })).status).toBe(404);

  worker.signal('SIGTERM');
  expect(await worker.exit).toBe(0);
  await until('the API misses the worker', async () => (await call(api.url, '/readyz')).body.status === 'degraded');
});

test('processes share the signing keys, a process with other keys is refused, and keys can be rotated while the service runs', async () => {
  const shared = { DATABASE_URL: await emptyDatabase('signing'), RRS_KEYS_DIR: join(temporaryFolder(), 'keys') };
  const { url } = await start({ args: ['api'], env: shared });
  const published = async () => (await call(url, '/api/v1/riskops-evidence/keys')).body.keys as { key_id: string; valid_to: string | null }[];
  const first = await published();
  expect(first.map(({ valid_to }) => valid_to)).toEqual([null, null, null]);

  const alone = run(['worker'], { env: { DATABASE_URL: shared.DATABASE_URL } });
  expect(await alone.exit).toBe(1);
  expect(alone.stderr()).toMatch(/^rrs-server: [^\n]*\/package\.pem[^\n]*SHA256:[^\n]*RRS_KEYS_DIR[^\n]*\n$/m);

  const listed = await rrs(['keys', 'list'], { env: shared });
  expect(listed.code).toBe(0);
  for (const { key_id } of first) expect(listed.stdout).toContain(key_id);
  expect(await rrs(['keys', 'rotate', 'now'], { env: shared })).toMatchObject({ code: 1, stderr: expect.stringContaining('now') });
  expect(await rrs(['keys', 'rotate'], { env: shared })).toMatchObject({ code: 0, stdout: expect.stringContaining('SHA256:') });
  const after = await published();
  expect(after.filter(({ valid_to }) => valid_to === null)).toHaveLength(3);
  expect(
    after
      .filter(({ valid_to }) => valid_to !== null)
      .map(({ key_id }) => key_id)
      .sort(),
  ).toEqual(first.map(({ key_id }) => key_id).sort());
  const again = await start({ args: ['api'], env: shared });
  expect((await call(again.url, '/healthz')).status).toBe(200);
});

test('commands use the shared database', async () => {
  const env = { DATABASE_URL: await emptyDatabase('commands') };
  expect(await rrs(['migrate'], { env })).toMatchObject({ code: 0, stdout: expect.stringMatching(/ version \d+\b/) });
  expect(await rrs(['org', 'create', 'acme'], { env })).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[0-9a-f-]{36}\n$/) });
});

test('a process waits at start until the server has a free connection', async () => {
  const env = { DATABASE_URL: await emptyDatabase('crowded') };
  const clients: pg.Client[] = [];
  try {
    await openAllConnections(clients);
    const api = run(['api'], { env });
    await until('the process waits', async () => {
      await openAllConnections(clients);
      return api.exited() || api.stderr().includes('connections');
    });
    await Promise.all(clients.splice(0).map((client) => client.end()));
    const { url, key } = await ready(api);
    expect((await call(url, '/api/v1/me', { key })).status).toBe(200);
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
});

async function openAllConnections(clients: pg.Client[]): Promise<void> {
  for (;;) {
    const client = new pg.Client({ connectionString: superuserUrl });
    client.on('error', () => {});
    try {
      await client.connect();
    } catch {
      return;
    }
    clients.push(client);
  }
}
