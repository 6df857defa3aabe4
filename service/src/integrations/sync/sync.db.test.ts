import { type FakeVendor, fakes } from '@rrs/connectors/fakes';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { someOf } from '../../testing/integrations/some-issues.ts';
import { useSyncs } from '../../testing/integrations/syncs.ts';

const syncs = useSyncs();
const snyk = fakes.find(({ id }) => id === 'snyk') as FakeVendor;

interface Found {
  id: string;
  status: string;
}
const findings = async (): Promise<Found[]> => (await syncs.ask<{ data: Found[] }>('GET', '/findings?source=snyk&limit=200&sort=created_at')).body.data;
const statuses = async (): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const { status } of await findings()) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

describe('a run of a connection', () => {
  it('imports findings, changes nothing when repeated, and closes findings that a complete run no longer sees', async () => {
    const { origin } = await syncs.fake(snyk);
    const id = await syncs.connect(snyk, origin);
    const first = await syncs.sync(id);
    expect(first).toMatchObject({ status: 'succeeded', mode: 'full', error: null, counts: { received: 23, rejected: 0 } });
    expect(await findings()).toHaveLength(first.counts.created ?? 0);
    const again = await syncs.sync(id, { full: true });
    expect(again.counts).toMatchObject({ received: 23, created: 0, updated: 0, reopened: 0, closed: 0, rejected: 0 });
    const { verified: closedBefore = 0 } = await statuses();

    const fewer = await syncs.fake(someOf(snyk, (n) => n > 2));
    await syncs.move(id, snyk, fewer.origin);
    // Findings may be missing because the settings changed, so closing them needs confirmation.
    const withheld = await syncs.sync(id);
    expect(withheld).toMatchObject({ status: 'needs_confirmation', mode: 'full', counts: { closed: 0 } });
    const confirmed = await syncs.ask<{ counts: { closed: number } }>('POST', `/integrations/${id}/runs/${withheld.id}/confirm`);
    expect(confirmed.body.counts.closed).toBeGreaterThan(0);
    expect((await statuses()).verified).toBe(closedBefore + confirmed.body.counts.closed);
    expect(await syncs.sync(id, { full: true })).toMatchObject({ status: 'succeeded', counts: { closed: 0, reopened: 0 } });
  });

  it('says when it starts and how it ends, once each', async () => {
    const { origin } = await syncs.fake(snyk);
    const id = await syncs.connect(snyk, origin);
    const run = await syncs.sync(id);
    const { rows } = await syncs
      .api()
      .db.withSystem((tx) => sql<{ type: string; data: object }>`select type, data from events where subject = ${run.id} order by xact, id`.execute(tx));
    expect(rows).toMatchObject([
      { type: 'sync.started', data: { connection_id: id, provider: 'snyk', trigger: 'manual', mode: 'full' } },
      { type: 'sync.succeeded' },
    ]);
  });

  it('closes nothing if it is incomplete', async () => {
    const { origin } = await syncs.fake(snyk);
    const id = await syncs.connect(snyk, origin);
    await syncs.sync(id);
    const before = await statuses();
    const some = someOf(snyk, (n) => n > 2);
    const faults = [
      { kind: 'status', at: 2, status: 500 } as const,
      { kind: 'truncated', at: 2 } as const,
      { kind: 'garbage', at: 2 } as const,
      { kind: 'repeated', at: 2 } as const,
      { kind: 'redirect', at: 2, to: 'http://127.0.0.1:1/' } as const,
      { kind: 'status', at: 2, status: 429 } as const,
    ];
    for (const fault of faults) {
      const broken = await syncs.fake(some, {}, fault);
      await syncs.move(id, snyk, broken.origin);
      const run = await syncs.sync(id, { full: true });
      expect({ fault: fault.kind, status: run.status, closed: run.counts.closed }).toEqual({ fault: fault.kind, status: 'partial', closed: 0 });
      expect(run.error?.message).toBeTruthy();
      expect(await statuses()).toEqual(before);
    }
    const endless = await syncs.fake(some, { endless: true });
    await syncs.move(id, snyk, endless.origin);
    const run = await syncs.sync(id, { full: true, pages: 8 });
    expect(run).toMatchObject({ status: 'partial', error: { kind: 'incomplete' }, counts: { closed: 0 } });
    const bad = await syncs.fake(some, { badRecord: true });
    await syncs.move(id, snyk, bad.origin);
    expect(await syncs.sync(id, { full: true })).toMatchObject({ status: 'partial', counts: { rejected: 1, closed: 0 } });
    expect(await statuses()).toEqual(before);
  });

  it('fails with a message that says what to do, which health shows', async () => {
    const { origin } = await syncs.fake(snyk);
    const id = await syncs.connect(snyk, origin, { credentials: snyk.refused?.(origin).credentials });
    for (let n = 0; n < 2; n++)
      expect(await syncs.sync(id)).toMatchObject({ status: 'failed', error: { kind: 'credentials', message: expect.stringContaining('org.project.read') } });
    const { body } = await syncs.ask<{ connections: { connection_id: string; status: string }[] }>('GET', '/integrations/health');
    expect(body.connections.find(({ connection_id }) => connection_id === id)).toMatchObject({
      status: 'failing',
      sync_status: 'failing',
      consecutive_failures: 2,
      circuit: 'closed',
      runs: { last_24h: { total: 2, failed: 2, error_rate: 1 } },
      requests: { last_24h: { error_rate: 1 } },
      last_error: { kind: 'credentials', message: expect.stringMatching(/401.*since/s) },
    });
  });

  it('counts the requests of the batch that failed', async () => {
    const { origin, requests } = await syncs.fake(snyk, {}, { kind: 'repeated', at: 2 });
    const id = await syncs.connect(snyk, origin);
    const run = await syncs.sync(id);
    expect(run).toMatchObject({ status: 'partial', error: { kind: 'incomplete', message: expect.stringContaining('the same page again') } });
    expect(run.requests).toMatchObject({ made: requests.length, failed: 0 });
  });

  it('backs off after five failures in a row', async () => {
    const { origin } = await syncs.fake(snyk);
    const id = await syncs.connect(snyk, origin, { ...snyk.refused?.(origin), schedule: { every_minutes: 60 } });
    const backOffState = async () => {
      const { body } = await syncs.ask<{ connections: { connection_id: string; circuit: string; next_run_at: string }[] }>('GET', '/integrations/health');
      const found = body.connections.find(({ connection_id }) => connection_id === id);
      return { circuit: found?.circuit, isLater: Date.parse(found?.next_run_at ?? '') > Date.now() + 90 * 60_000 };
    };
    for (let n = 0; n < 4; n++) await syncs.sync(id);
    expect(await backOffState()).toEqual({ circuit: 'closed', isLater: false });
    await syncs.sync(id);
    expect(await backOffState()).toEqual({ circuit: 'open', isLater: true });
  });

  it('stops at its time limit', async () => {
    const { origin } = await syncs.fake(snyk, { pageSize: 1 });
    const id = await syncs.connect(snyk, origin);
    const run = await syncs.sync(id, { limits: { totalMs: 1 } });
    expect(run).toMatchObject({ error: { kind: 'incomplete' }, counts: { closed: 0 } });
    expect(['failed', 'partial']).toContain(run.status);
  });

  it('that was killed resumes at its checkpoint with the same result', async () => {
    const whole = await syncs.fake(snyk, { pageSize: 3 });
    const reference = await syncs.sync(await syncs.connect(snyk, whole.origin));
    for (const batches of [1, 2, 4, 7]) {
      const vendor = await syncs.fake(snyk, { pageSize: 3 });
      const id = await syncs.connect(snyk, vendor.origin);
      const runId = await syncs.queue(id);
      const killed = new AbortController();
      const watch = setInterval((): void => {
        if (vendor.requests.filter(({ url }) => url.pathname.endsWith('/issues')).length >= batches) killed.abort(new Error('killed'));
      }, 1);
      await syncs.perform(syncs.api().ours.id, runId, { signal: killed.signal, lastAttempt: false }).catch(() => {});
      clearInterval(watch);
      await syncs.perform(syncs.api().ours.id, runId);
      const run = await syncs.run(id, runId);
      expect(run).toMatchObject({ status: 'succeeded', counts: { received: reference.counts.received, created: 0, rejected: 0 } });
      // Each page was requested once, except for the one in which the run was killed.
      expect(vendor.requests.filter(({ url }) => url.pathname.endsWith('/issues')).length).toBeLessThanOrEqual(10);
    }
  });

  it('is carried out once if several workers claim it', async () => {
    const { origin, requests } = await syncs.fake(snyk);
    const id = await syncs.connect(snyk, origin);
    const runId = await syncs.queue(id);
    expect((await syncs.ask('POST', `/integrations/${id}/sync`)).status).toBe(409);
    await Promise.all([1, 2, 3].map(() => syncs.perform(syncs.api().ours.id, runId, { lastAttempt: false }).catch(() => {})));
    const run = await syncs.run(id, runId);
    expect(run.status === 'succeeded' || run.status === 'running').toBe(true);
    if (run.status === 'running') await syncs.perform(syncs.api().ours.id, runId);
    expect((await syncs.run(id, runId)).counts.received).toBe(23);
    const before = requests.length;
    await syncs.perform(syncs.api().ours.id, runId);
    expect(requests.length).toBe(before);
  });

  it('can be cancelled while queued or running, and then imports nothing', async () => {
    const slow = await syncs.fake(snyk, { pageSize: 3 }, { kind: 'hang', at: 3 });
    const id = await syncs.connect(snyk, slow.origin);
    const before = (await findings()).length;
    const waiting = await syncs.queue(id);
    expect((await syncs.ask<{ status: string }>('POST', `/integrations/${id}/runs/${waiting}/cancel`)).body.status).toBe('cancelled');
    await syncs.perform(syncs.api().ours.id, waiting);
    expect(slow.requests).toHaveLength(0);
    const running = await syncs.queue(id);
    const performing = syncs.perform(syncs.api().ours.id, running, { limits: { requestMs: 60_000 } });
    await expect.poll(() => slow.requests.length, { timeout: 10_000 }).toBeGreaterThan(3);
    await syncs.ask('POST', `/integrations/${id}/runs/${running}/cancel`);
    await performing;
    expect(await syncs.run(id, running)).toMatchObject({ status: 'cancelled', import_id: null });
    expect(await findings()).toHaveLength(before);
  });

  it.each(['abandoned', 'cancelled'])('that is %s in the middle of its import ends the import, too', async (how) => {
    const { origin } = await syncs.fake(snyk);
    const id = await syncs.connect(snyk, origin);
    const { id: runId, import_id: importId } = await syncs.sync(id);
    const { db, ours } = syncs.api();
    await db.withSystem(async (tx) => {
      await sql`update imports set status = 'running', unchanged = 0, finished_at = null where id = ${importId}`.execute(tx);
      await sql`update sync_runs set status = 'running', finished_at = null where id = ${runId}`.execute(tx);
    });
    if (how === 'abandoned') await syncs.abandon(ours.id, runId, 'Twice, the process ended.');
    else {
      await syncs.ask('POST', `/integrations/${id}/runs/${runId}/cancel`);
      await syncs.perform(ours.id, runId);
    }
    expect(await syncs.run(id, runId)).toMatchObject({ status: how === 'abandoned' ? 'failed' : 'cancelled' });
    const ended = (await syncs.ask('GET', `/imports/${importId}`)).body;
    expect(ended).toMatchObject({ status: 'failed', error: how === 'abandoned' ? 'The import failed. Twice, the process ended.' : 'The run was cancelled.' });
  });

  it('that would close unusually many findings needs confirmation', async () => {
    await syncs.ask('PATCH', '/organization', { body: { policy: { brake: { share: 0.01, count: 1 } } } });
    let from = 0;
    const { origin } = await syncs.fake(someOf(snyk, (n) => n > from, 'withheld'));
    const id = await syncs.connect(snyk, origin);
    await syncs.sync(id);
    const before = await statuses();
    from = 15;
    const withheld = await syncs.sync(id, { full: true });
    expect(withheld).toMatchObject({ status: 'needs_confirmation', counts: { closed: 0 }, notes: [expect.stringContaining('would be closed')] });
    expect(await statuses()).toEqual(before);
    expect((await syncs.ask<{ status: string }>('POST', `/integrations/${id}/runs/${withheld.id}/confirm`)).body.status).toBe('succeeded');
    expect((await syncs.ask('POST', `/integrations/${id}/runs/${withheld.id}/confirm`)).status).toBe(409);
  });
});

describe('an active run', () => {
  it('is named in the refusal of another one, and the next one is accepted as soon as it has ended', async () => {
    const { origin } = await syncs.fake(snyk);
    const id = await syncs.connect(snyk, origin);
    const runId = await syncs.queue(id);
    const again = () => syncs.api().call('POST', `/api/v1/integrations/${id}/sync`, { as: syncs.api().ours.owner });
    const location = `/api/v1/integrations/${id}/runs/${runId}`;
    const refused = await again();
    expect([refused.status, refused.headers.get('location')]).toEqual([409, location]);
    await syncs.perform(syncs.api().ours.id, runId);
    expect((await again()).status).toBe(202);
  });

  it('shows its request counts even before the next batch arrives', async () => {
    const { origin, requests } = await syncs.fake(snyk, {}, { kind: 'hang', at: 1, for: 3 });
    const id = await syncs.connect(snyk, origin);
    const runId = await syncs.queue(id);
    const going = syncs.perform(syncs.api().ours.id, runId, { limits: { requestMs: 1_500 } });
    await expect.poll(async () => (await syncs.run(id, runId)).requests.failed, { timeout: 10_000 }).toBeGreaterThan(0);
    expect(await syncs.run(id, runId)).toMatchObject({ status: 'running', progress: { pages: 1 } });
    await going;
    expect(await syncs.run(id, runId)).toMatchObject({ status: 'succeeded', requests: { made: requests.length, failed: 3 } });
  });
});
