import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { withClient } from '../db/connection/with-client.ts';
import { declareJob, enqueue } from '../jobs/jobs.ts';
import { createCuttableDatabase } from '../testing/fakes/postgres-proxy.ts';
import { call, startApi, type TestApi } from '../testing/http/api.ts';
import { startApp } from '../testing/http/app.ts';
import { useReceiver, webhooksOf } from '../testing/integrations/webhooks.ts';
import { createMemoryLog } from '../testing/log.ts';
import { createTestDatabase } from '../testing/postgres.ts';
import { startReplica } from '../testing/replica.ts';
import { readConfig } from './config.ts';
import { createLog } from './log.ts';
import { createMetrics, installHealth, installMetrics } from './operations.ts';
import { startParts } from './parts.ts';

let api: TestApi;
let database: Awaited<ReturnType<typeof createCuttableDatabase>>;
const memory = createMemoryLog();

beforeAll(async () => {
  database = await createCuttableDatabase();
  api = await startApi({ database, log: memory.log, config: { RRS_OUTBOUND_ALLOW: '127.0.0.1' } });
});
afterAll(() => api?.close());

const beat = (age: string) =>
  api.db.withSystem((tx) =>
    sql`insert into worker_heartbeats (worker_id, seen_at) values ('w', now() - ${age}::interval) on conflict (worker_id) do update set seen_at = excluded.seen_at`.execute(
      tx,
    ),
  );

async function whileAway(check: () => Promise<void>): Promise<void> {
  await database.cut();
  try {
    await check();
  } finally {
    await database.mend();
  }
}

async function ready() {
  const { status, body, headers } = await api.call('GET', '/readyz');
  return { status, body, retryAfter: headers.get('retry-after') };
}

describe('/healthz', () => {
  it('reports that the process is alive, whatever else is not', async () => {
    expect(await api.call('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
    await whileAway(async () => expect((await api.call('GET', '/healthz')).status).toBe(200));
  });
});

describe('/readyz', () => {
  it('is degraded without a worker, and ok with a recent heartbeat', async () => {
    expect(await ready()).toEqual({
      status: 200,
      retryAfter: null,
      body: { status: 'degraded', checks: { database: 'ok', migrations: 'ok', worker: 'missing' } },
    });
    await beat('1 second');
    expect(await ready()).toEqual({ status: 200, retryAfter: null, body: { status: 'ok', checks: { database: 'ok', migrations: 'ok', worker: 'ok' } } });
    await beat('31 seconds');
    expect((await ready()).body).toMatchObject({ status: 'degraded' });
  });

  it('is unavailable while the database is down, and recovers with it', async () => {
    await beat('1 second');
    await whileAway(async () => {
      const checks = { database: 'unreachable', migrations: 'unknown', worker: 'unknown' };
      expect(await ready()).toEqual({ status: 503, retryAfter: '2', body: { status: 'unavailable', checks } });
    });
    expect((await ready()).status).toBe(200);
  });

  it('is unavailable if a worker is required and none is alive', async () => {
    await beat('31 seconds');
    const operations = { db: api.db, metrics: createMetrics(api.db), schemaVersion: 1, needsWorker: true };
    const worker = await startApp((app) => installHealth(app, operations));
    onTestFinished(() => worker.app.close());
    expect((await fetch(`${worker.url}/readyz`)).status).toBe(503);
    await beat('1 second');
    expect((await fetch(`${worker.url}/readyz`)).status).toBe(200);
  });

  it('is unavailable while migrations are pending', async () => {
    await withClient(api.databaseUrl, async (client) => {
      const { rows } = await client.query('delete from rrs.schema_migrations returning *');
      expect(await ready()).toMatchObject({ status: 503, body: { status: 'unavailable', checks: { database: 'ok', migrations: 'pending' } } });
      for (const { version, name, checksum } of rows) {
        const row = [version, name, checksum, 1];
        await client.query('insert into rrs.schema_migrations (version, name, checksum, min_compatible_version) values ($1, $2, $3, $4)', row);
      }
    });
    expect((await ready()).status).toBe(200);
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('a first start', () => {
  it.each(['printed', 'chosen'] as const)('is ready only when the first key works, if it is %s', async (kind) => {
    const { url: databaseUrl, drop } = await createTestDatabase();
    const dataDir = await mkdtemp(join(tmpdir(), 'rrs-ready-'));
    const stops: (() => Promise<unknown>)[] = [() => rm(dataDir, { recursive: true }), drop];
    onTestFinished(async () => {
      for (const stop of stops.toReversed()) await stop();
    });
    const chosen = kind === 'chosen' ? { RRS_BOOTSTRAP_API_KEY: 'rrs_chosen-by-the-operator-0123456789abcdef' } : {};
    const ports = [await freePort(), await freePort()];
    const { config } = readConfig({
      ...chosen,
      HOST: '127.0.0.1',
      PORT: `${ports[0]}`,
      RRS_METRICS_PORT: `${ports[1]}`,
      RRS_DATA_DIR: dataDir,
      RRS_CONSOLE: 'off',
    });
    const readyOn = (port: number) =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    const blocked = await withClient(databaseUrl, async (client) => {
      // The last moment at which there is no key: the transaction that creates it waits.
      await client.query(`select pg_advisory_lock(hashtext('rrs first organization'))`);
      const starting = startParts({ role: 'api', config, log: createLog('silent'), databaseUrl, stops });
      const waiting = `select 1 from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())`;
      await expect.poll(async () => (await client.query(waiting)).rowCount, { timeout: 20_000 }).toBe(1);
      expect(await Promise.all(ports.map(readyOn))).toEqual([false, false]);
      return { starting };
    });
    // The end of the connection released the lock.
    await expect.poll(() => readyOn(ports[0] ?? 0), { timeout: 20_000, interval: 1 }).toBe(true);
    const as = chosen.RRS_BOOTSTRAP_API_KEY ?? (await readFile(join(dataDir, 'first-owner-key'), 'utf8')).trim();
    expect(await call(`http://127.0.0.1:${ports[0]}`, 'GET', '/api/v1/me', { as })).toMatchObject({ status: 200, body: { role: 'owner' } });
    const { firstOwner } = await blocked.starting;
    expect(firstOwner?.key).toBe(kind === 'chosen' ? null : as);
    expect(await readyOn(ports[1] ?? 0)).toBe(true);
  });
});

describe('the metrics', () => {
  it('require the token of the operator, if there is one', async () => {
    const operations = { db: api.db, metrics: createMetrics(api.db), metricsToken: 'a-token-of-the-scraper', schemaVersion: 1, needsWorker: false };
    const { app, url } = await startApp((server) => installMetrics(server, operations));
    onTestFinished(() => app.close());
    const status = async (authorization?: string) => (await fetch(`${url}/metrics`, { headers: authorization === undefined ? {} : { authorization } })).status;
    expect(await Promise.all([status(), status('Bearer another'), status('Bearer a-token-of-the-scrape'), status('Basic a-token-of-the-scraper')])).toEqual(
      Array(4).fill(401),
    );
    expect(await status('Bearer a-token-of-the-scraper')).toBe(200);
  });

  it('are not on the port of the API if they have a port of their own', async () => {
    const replica = await startReplica(api.databaseUrl, { RRS_METRICS_PORT: '0' });
    onTestFinished(() => replica.close());
    expect([(await fetch(`${replica.url}/metrics`)).status, (await fetch(`${replica.url}/readyz`)).status]).toEqual([404, 200]);
  });
});

describe('while the database is down', () => {
  it('requests get 503 with Retry-After, and work again afterwards', async () => {
    const requests = [
      ['GET', '/api/v1/me', undefined],
      ['GET', '/api/v1/audit-events', undefined],
      ['PATCH', '/api/v1/organization', { name: 'never' }],
      ['POST', '/api/v1/sessions', { email: 'a@example.com', password: 'x' }],
    ] as const;
    await whileAway(async () => {
      for (const [method, path, body] of requests) {
        const answer = await api.call(method, path, { as: api.ours.owner, ...(body ? { body } : {}) });
        expect.soft(answer.status, path).toBe(503);
        expect.soft(answer.headers.get('retry-after')).toBe('5');
        expect.soft(answer.body).toMatchObject({ code: 'unavailable', request_id: answer.headers.get('x-request-id') });
        expect.soft(JSON.stringify(answer.body)).not.toMatch(/ENOENT|ECONN|rrs-proxy|socket/);
      }
      expect((await api.call('GET', '/api/v1/openapi.json')).status).toBe(200);
      expect((await api.call('GET', '/api/v1/me')).status).toBe(401);
    });
    expect(memory.lines()).toContainEqual(expect.objectContaining({ level: 50, msg: expect.stringContaining('The database is not available') }));
    expect((await api.call('GET', '/api/v1/organization', { as: api.ours.owner })).body).toMatchObject({ name: 'ours' });
  });
});

describe('/metrics', () => {
  async function series(): Promise<{ text: string; value: (line: string) => number }> {
    const { status, headers, body } = await api.call('GET', '/metrics');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    const text = String(body);
    return {
      text,
      value: (line) =>
        Number(
          text
            .split('\n')
            .find((candidate) => candidate.startsWith(line))
            ?.slice(line.length),
        ),
    };
  }

  it('counts requests by method, route and status, never by their URL', async () => {
    const line = 'rrs_http_request_duration_seconds_count{method="GET",route="/api/v1/members/:id",status="404"}';
    const before = (await series()).value(line) || 0;
    await api.call('GET', '/api/v1/members/01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11', { as: api.ours.owner });
    await api.call('GET', '/somewhere/else-entirely');
    const { text, value } = await series();
    expect(value(line)).toBe(before + 1);
    expect(value('rrs_http_request_duration_seconds_count{method="GET",route="none",status="404"}')).toBeGreaterThan(0);
    expect(text).not.toMatch(/else-entirely|01994f3e/);
  });

  it('contains the pools, the jobs and the event loop', async () => {
    await api.db.withTenant({ orgId: api.ours.id }, (tx) => enqueue(tx, declareJob('waiting'), {}, { runAt: new Date(Date.now() + 3_600_000) }));
    api.metrics.jobs.observe({ job: 'housekeeping', outcome: 'succeeded' }, 0.5);
    const { text, value } = await series();
    for (const pool of ['tenant', 'system']) {
      for (const state of ['total', 'idle', 'waiting']) expect(value(`rrs_database_connections{pool="${pool}",state="${state}"}`)).toBeGreaterThanOrEqual(0);
    }
    expect(['ready', 'later', 'running', 'given_up'].map((state) => value(`rrs_jobs_waiting{state="${state}"}`))).toEqual([0, 1, 0, 0]);
    expect(value('rrs_job_duration_seconds_count{job="housekeeping",outcome="succeeded"}')).toBe(1);
    expect(text).toMatch(/^nodejs_eventloop_lag_seconds \d/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d/m);
  });

  it('counts deliveries by outcome, and pending ones by state', async () => {
    const counted = async () => {
      const { value } = await series();
      const [delivered, failed, given_up] = ['delivered', 'failed', 'given_up'].map((outcome) => value(`rrs_webhook_deliveries_total{outcome="${outcome}"}`));
      const [ready, later] = ['ready', 'later'].map((state) => value(`rrs_webhook_deliveries_waiting{state="${state}"}`));
      return { delivered, failed, given_up, ready, later };
    };
    expect(await counted()).toEqual({ delivered: 0, failed: 0, given_up: 0, ready: 0, later: 0 });
    const [receiver, webhooks] = [await useReceiver(), webhooksOf(api)];
    const webhook = await webhooks.create(receiver.url, ['finding.*']);
    await webhooks.change();
    await webhooks.deliver();
    expect(await counted()).toEqual({ delivered: 1, failed: 0, given_up: 0, ready: 0, later: 0 });
    receiver.answer(500);
    await webhooks.change();
    await webhooks.change();
    await webhooks.deliver();
    expect(await counted()).toEqual({ delivered: 1, failed: 2, given_up: 0, ready: 0, later: 2 });
    await api.db.withSystem((tx) => sql`update webhook_deliveries set next_attempt_at = now() where status = 'pending'`.execute(tx));
    expect(await counted()).toMatchObject({ ready: 2, later: 0 });
    await api.db.withSystem((tx) => sql`update webhook_deliveries set attempts = 9 where status = 'pending'`.execute(tx));
    await webhooks.deliver();
    expect(await counted()).toEqual({ delivered: 1, failed: 2, given_up: 2, ready: 0, later: 0 });
    await webhooks.change();
    await api.db.withSystem((tx) => sql`update webhooks set paused_until = now() + interval '1 hour'`.execute(tx));
    await webhooks.deliver();
    expect(await counted()).toMatchObject({ ready: 0, later: 1 });
    await api.db.withSystem((tx) => sql`update webhooks set paused_until = null`.execute(tx));
    receiver.answer(410);
    await webhooks.deliver();
    expect(await webhooks.read(webhook.id)).toMatchObject({ enabled: false });
    expect(await counted()).toEqual({ delivered: 1, failed: 3, given_up: 3, ready: 0, later: 0 });
  });

  it('omits only the series that need the database while it is down', async () => {
    await whileAway(async () => {
      const { text } = await series();
      expect(text).toContain('rrs_database_connections{');
      expect(text).not.toContain('rrs_jobs_waiting{');
      expect(text).toContain('rrs_webhook_deliveries_total{');
      expect(text).not.toContain('rrs_webhook_deliveries_waiting{');
    });
  });
});
