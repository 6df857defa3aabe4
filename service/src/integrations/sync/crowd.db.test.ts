import { type FakeVendor, type Fault, fakes } from '@rrs/connectors/fakes';
import { afterEach, describe, expect, it } from 'vitest';
import { startWorker, type Worker } from '../../jobs/worker.ts';
import { useSyncs } from '../../testing/integrations/syncs.ts';

const syncs = useSyncs();
const snyk = fakes.find(({ id }) => id === 'snyk') as FakeVendor;
const workers: Worker[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
});

async function work(requestMs: number): Promise<void> {
  const { db, databaseUrl } = syncs.api();
  const handlers = syncs.handlers({ requestMs, attempts: 2 });
  workers.push(await startWorker({ url: databaseUrl, db, handlers, concurrency: 2, log: { info: () => {}, error: () => {} }, graceMs: 100 }));
}

describe('twenty connections to slow, broken and working vendors', () => {
  it('do not delay imports, and each run ends with the expected status', async () => {
    const kinds: (Fault | undefined)[] = [
      { kind: 'hang', at: 1 },
      { kind: 'status', at: 2, status: 500 },
      { kind: 'garbage', at: 1 },
      undefined,
      { kind: 'truncated', at: 3 },
    ];
    const connected: { id: string; fault: string; requests: unknown[] }[] = [];
    for (let n = 0; n < 20; n++) {
      const fault = kinds[n % kinds.length];
      const vendor = await syncs.fake(snyk, {}, fault);
      connected.push({ id: await syncs.connect(snyk, vendor.origin), fault: fault?.kind ?? 'none', requests: vendor.requests });
    }
    expect((await syncs.ask<{ queued: number }>('POST', '/integrations/sync-all')).body.queued).toBe(20);
    await Promise.all([work(4_000), work(4_000)]);

    // While vendors hang, a report is imported and the API responds.
    const report = JSON.stringify({ title: 'A weakness', severity: 'high', asset: { type: 'host', name: 'unrelated' } });
    const imported = await syncs.api().call('POST', '/api/v1/imports?format=generic', {
      as: syncs.api().ours.owner,
      body: report,
      headers: { 'content-type': 'application/x-ndjson', prefer: 'wait=30' },
    });
    expect(imported.body).toMatchObject({ status: 'succeeded' });

    const status = async (id: string) =>
      (await syncs.ask<{ sync_status: string; last_run: { status: string; error: { kind: string } | null } }>('GET', `/integrations/${id}`)).body;
    const hanging = connected.filter(({ fault }) => fault === 'hang');
    for (const { id } of hanging) expect(await status(id)).toMatchObject({ sync_status: 'running' });
    await expect
      .poll(async () => (await Promise.all(connected.map(({ id }) => status(id)))).every(({ sync_status }) => !['queued', 'running'].includes(sync_status)), {
        timeout: 60_000,
        interval: 250,
      })
      .toBe(true);
    const expected: Record<string, string> = {
      hang: 'failed unavailable',
      status: 'partial unavailable',
      garbage: 'failed invalid_answer',
      none: 'succeeded',
      truncated: 'partial invalid_answer',
    };
    for (const { id, fault } of connected) {
      const { last_run } = await status(id);
      expect({ fault, ended: [last_run.status, last_run.error?.kind].filter(Boolean).join(' ') }).toEqual({ fault, ended: expected[fault] });
    }
    // Two workers shared the runs, and each working vendor was asked once: projects and three pages.
    for (const { fault, requests } of connected) if (fault === 'none') expect(requests).toHaveLength(4);
    const { body } = await syncs.ask<{ summary: { by_status: Record<string, number> } }>('GET', '/integrations/health');
    expect(body.summary.by_status).toMatchObject({ healthy: 4, degraded: 8, failing: 8 });
  }, 120_000);
});
