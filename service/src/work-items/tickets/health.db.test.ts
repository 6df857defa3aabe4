import { describe, expect, it } from 'vitest';
import { jiraFake, useTickets } from '../../testing/integrations/tickets.ts';

const tickets = useTickets();

interface Health {
  connection_id: string;
  status: string;
  sync_status: string;
  last_success_at: string | null;
  last_run_at: string | null;
  next_run_at: string | null;
  staleness: { seconds_since_success: number | null; every_minutes: number | null; stale: boolean };
  runs: Record<'last_24h' | 'last_7d', { total: number; failed: number; error_rate: number }>;
  requests: Record<'last_24h' | 'last_7d', { total: number; failed: number; error_rate: number }>;
  run_seconds: { median: number | null; p95: number | null };
  last_error: { kind: string; message: string } | null;
  consecutive_failures: number;
  circuit: string;
}

async function healthOf(connection: string): Promise<Health> {
  const { body } = await tickets.ask<{ connections: Health[] }>('GET', '/integrations/health');
  const health = body.connections.find(({ connection_id }) => connection_id === connection);
  if (!health) throw new Error('no health');
  return health;
}

const runsOf = async (connection: string) =>
  (await tickets.ask<{ data: Record<string, unknown>[] }>('GET', `/integrations/${connection}/runs?limit=200`)).body.data;
const moveTo = (connection: string, origin: string) => tickets.move(connection, jiraFake, origin);

async function linkedItem() {
  const vendor = await tickets.vendor();
  const { id } = await tickets.items().item([]);
  const ticket = await tickets.linked(id, vendor.connection);
  return { vendor, id, ticket, connection: vendor.connection };
}

/** Replaces the vendor by one that refuses everything. */
async function broken(connection: string, status = 401) {
  const vendor = await tickets.fake(jiraFake, {}, { kind: 'status', at: 1, status });
  await moveTo(connection, vendor.origin);
  return vendor;
}

describe('the health of a ticketing connection', () => {
  it('is never_synced while there are no tickets', async () => {
    const { connection } = await tickets.vendor();
    await tickets.poll();
    expect(await healthOf(connection)).toMatchObject({
      status: 'never_synced',
      sync_status: 'never',
      last_success_at: null,
      next_run_at: null,
      staleness: { every_minutes: null, stale: false },
      runs: { last_7d: { total: 0 } },
    });
  });

  it('is computed from its polls', async () => {
    const { connection, ticket } = await linkedItem();
    await tickets.poll();
    const health = await healthOf(connection);
    expect(health).toMatchObject({
      status: 'healthy',
      sync_status: 'ok',
      last_success_at: health.last_run_at,
      staleness: { seconds_since_success: expect.any(Number), every_minutes: 5, stale: false },
      runs: { last_24h: { total: 1, failed: 0, error_rate: 0 }, last_7d: { total: 1, failed: 0, error_rate: 0 } },
      requests: { last_24h: { failed: 0, error_rate: 0 } },
      run_seconds: { median: expect.any(Number), p95: expect.any(Number) },
      last_error: null,
      consecutive_failures: 0,
      circuit: 'closed',
    });
    expect(health.requests.last_24h.total).toBeGreaterThan(0);
    const wait = Date.parse(health.next_run_at ?? '') - Date.now();
    expect(wait).toBeGreaterThan(-1_000);
    expect(wait).toBeLessThanOrEqual(300_000);
    expect(await runsOf(connection)).toMatchObject([
      { status: 'succeeded', trigger: 'schedule', mode: 'changes', progress: { pages: 1, records: 1 }, error: null },
    ]);
    expect((await tickets.ask('GET', `/integrations/${connection}`)).body).toMatchObject({ sync_status: 'ok', last_run: { status: 'succeeded' } });
    expect(ticket.status).toBe('linked');
  });

  it('is failing with reason, start and number of failures when the vendor refuses', async () => {
    const { connection } = await linkedItem();
    await tickets.poll();
    const { last_success_at } = await healthOf(connection);
    await broken(connection);
    await tickets.poll();
    await tickets.poll();
    const health = await healthOf(connection);
    expect(health).toMatchObject({
      status: 'failing',
      sync_status: 'failing',
      last_success_at,
      runs: { last_24h: { total: 3, failed: 2, error_rate: 0.667 }, last_7d: { total: 3, failed: 2 } },
      last_error: { kind: 'credentials', message: expect.stringMatching(/401.*\(2 failed runs in a row since \d{4}-/s) },
      consecutive_failures: 2,
      circuit: 'closed',
    });
    expect(health.requests.last_24h.failed).toBe(2);
    expect(health.requests.last_24h.error_rate).toBeGreaterThan(0);
  });

  it('causes backing off after five failures, until a poll succeeds', async () => {
    const { vendor, connection } = await linkedItem();
    const refusing = await broken(connection);
    for (let n = 0; n < 5; n++) await tickets.poll();
    const health = await healthOf(connection);
    expect(health).toMatchObject({ status: 'failing', consecutive_failures: 5, circuit: 'open' });
    const wait = Date.parse(health.next_run_at ?? '') - Date.now();
    expect(wait).toBeGreaterThan(590_000);
    expect(wait).toBeLessThanOrEqual(900_000);
    const before = refusing.requests.length;
    await tickets.poll();
    expect(refusing.requests).toHaveLength(before);

    await tickets.query(`update rrs.connections set next_run_at = now() where id = $1`, [connection]);
    expect(await healthOf(connection)).toMatchObject({ circuit: 'half_open' });
    for (let n = 0; n < 12; n++) {
      await tickets.poll();
      await tickets.query(`update rrs.connections set next_run_at = least(next_run_at, now() + interval '2 hours') - interval '1 hour' where id = $1`, [
        connection,
      ]);
    }
    expect(await healthOf(connection)).toMatchObject({ consecutive_failures: 17 });

    await tickets.poll();
    await moveTo(connection, vendor.origin);
    await tickets.poll();
    expect(await healthOf(connection)).toMatchObject({ status: 'healthy', sync_status: 'ok', consecutive_failures: 0, circuit: 'closed', last_error: null });
  });

  it('is degraded when the vendor fails during a poll', async () => {
    const { connection } = await linkedItem();
    await tickets.poll();
    // Two tickets are created with two requests each. Then the vendor lists the first one and fails.
    const stopping = await tickets.vendor(jiraFake, { options: { pageSize: 1 }, fault: { kind: 'status', at: 6, status: 500 } });
    const draft = { title: 'T', body: ['B'], priority: 'low', dueDate: null, url: 'https://rrs.example/1' } as const;
    for (const key of ['one', 'two']) await stopping.create({ key, ...draft });
    await moveTo(connection, stopping.origin);
    await tickets.poll();
    expect(await healthOf(connection)).toMatchObject({
      status: 'degraded',
      sync_status: 'partial',
      runs: { last_24h: { total: 2, failed: 1, error_rate: 0.5 } },
      last_error: { kind: 'unavailable' },
    });
  });

  it('becomes stale after two poll intervals, but not without tickets', async () => {
    const { connection, id, ticket } = await linkedItem();
    await tickets.poll();
    await tickets.query(`update rrs.sync_runs set finished_at = finished_at - interval '11 minutes' where connection_id = $1`, [connection]);
    expect(await healthOf(connection)).toMatchObject({ status: 'stale', staleness: { every_minutes: 5, stale: true } });
    expect((await tickets.ask('DELETE', `/work-items/${id}/tickets/${ticket.id}`)).status).toBe(204);
    expect(await healthOf(connection)).toMatchObject({ status: 'healthy', next_run_at: null, staleness: { every_minutes: null, stale: false } });
  });
});

describe('poll records', () => {
  const age = (connection: string, interval: string) =>
    tickets.query(
      `update rrs.sync_runs set created_at = created_at - $2::interval, started_at = started_at - $2::interval, finished_at = finished_at - $2::interval where connection_id = $1`,
      [connection, interval],
    );

  it('are deleted after eight days, once a poll has succeeded', async () => {
    const { vendor, connection } = await linkedItem();
    await tickets.poll();
    await age(connection, '20 days');
    await broken(connection);
    await tickets.poll();
    await age(connection, '9 days');
    await tickets.poll();
    expect((await runsOf(connection)).map(({ status }) => status)).toEqual(['failed', 'failed', 'succeeded']);
    const health = await healthOf(connection);
    expect(health).toMatchObject({ consecutive_failures: 2, runs: { last_24h: { total: 1, failed: 1 }, last_7d: { total: 1, failed: 1 } } });
    expect(Date.parse(health.last_success_at ?? '')).toBeLessThan(Date.now() - 28 * 86_400_000);
    await age(connection, '3 days');
    await moveTo(connection, vendor.origin);
    await tickets.poll();
    expect((await runsOf(connection)).map(({ status }) => status)).toEqual(['succeeded', 'failed']);
    expect((await healthOf(connection)).runs).toMatchObject({ last_24h: { total: 1, failed: 0 }, last_7d: { total: 2, failed: 1, error_rate: 0.5 } });
  });

  it('emit an event when the status changes, not with each poll', async () => {
    const { vendor, connection } = await linkedItem();
    const emitted = async () =>
      (await Promise.all(['sync.succeeded', 'sync.failed'].map((type) => tickets.events(type)))).map(
        (events) => events.filter(({ connection_id }) => connection_id === connection).length,
      );
    await tickets.poll();
    await tickets.poll();
    expect(await emitted()).toEqual([1, 0]);
    await broken(connection);
    await tickets.poll();
    await tickets.poll();
    expect(await emitted()).toEqual([1, 1]);
    await moveTo(connection, vendor.origin);
    await tickets.poll();
    expect(await emitted()).toEqual([2, 1]);
  });

  it('include internal errors', async () => {
    const { connection } = await linkedItem();
    await tickets.query(`update rrs.connections set credentials = '\\x00' where id = $1`, [connection]);
    await expect(tickets.poll()).rejects.toThrow();
    expect(await healthOf(connection)).toMatchObject({ status: 'failing', last_error: { kind: 'service', message: expect.stringContaining('log') } });
  });
});
