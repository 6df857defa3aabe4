import { type FakeVendor, fakes } from '@rrs/connectors/fakes';
import { describe, expect, it } from 'vitest';
import { directCollector } from '../../testing/integrations/collector.ts';
import { useSyncs } from '../../testing/integrations/syncs.ts';
import { builtIn } from '../connections/providers.ts';
import type { Collector } from './collect.ts';

const syncs = useSyncs();
const vendors = builtIn.filter(({ kind }) => kind === 'scanner').map(({ id }) => [id, fakes.find((fake) => fake.id === id) as FakeVendor] as const);

async function found(id: string): Promise<string[]> {
  const { body } = await syncs.ask<{ data: Record<string, unknown>[] }>('GET', `/findings?connection_id=${id}&limit=200&sort=created_at`);
  return body.data
    .map(({ title, status, severity, location, asset, cves }) =>
      JSON.stringify([title, status, severity, { ...(location as object), resource: null }, (asset as { name: string }).name, cves]),
    )
    .sort();
}

/** Their fakes refuse positions that have expired, each as its vendor does. */
const expiring = ['snyk', 'gitlab', 'wiz', 'microsoft_defender', 'insightvm'];

it.each(vendors.filter(([id]) => expiring.includes(id)))('a run of %s begins again if its position has expired when it continues', async (_, vendor) => {
  let epoch = 0;
  const { origin, requests } = await syncs.fake(vendor, { pageSize: 4, epoch: () => epoch });
  const id = await syncs.connect(vendor, origin);
  const runId = await syncs.queue(id);
  let stored = 0;
  const killed: Collector = {
    ...directCollector,
    collect: (connector, task, host, signal) => {
      const store: typeof host.store = async (batch) => {
        await host.store(batch);
        if (++stored === 3) throw new Error('killed');
      };
      return directCollector.collect(connector, task, { ...host, store }, signal);
    },
  };
  await expect(syncs.perform(syncs.api().ours.id, runId, { collector: killed, lastAttempt: false })).rejects.toThrow('killed');
  epoch++;
  const before = requests.length;
  await syncs.perform(syncs.api().ours.id, runId);
  const whole = await syncs.connect(vendor, (await syncs.fake(vendor, { pageSize: 50 })).origin);
  const { counts } = await syncs.sync(whole);
  expect(await syncs.run(id, runId)).toMatchObject({ status: 'succeeded', error: null, counts: { received: counts.received, rejected: 0 } });
  expect(await found(id)).toEqual(await found(whole));
  expect(requests.length).toBeGreaterThan(before + 3);
});

describe.each(vendors)('a run of %s', (_, vendor) => {
  it('imports the same findings with any page size and after any interruption', async () => {
    const { origin } = await syncs.fake(vendor, { pageSize: 50 });
    const id = await syncs.connect(vendor, origin);
    const whole = await syncs.sync(id);
    expect(whole).toMatchObject({ status: 'succeeded', error: null, counts: { rejected: 0 } });
    const reference = await found(id);
    expect(reference.length).toBeGreaterThan(0);

    const cut = await syncs.fake(vendor, { pageSize: 4 });
    const other = await syncs.connect(vendor, cut.origin);
    const runId = await syncs.queue(other);
    for (let kills = 1; kills <= 3; kills++) {
      const killed = new AbortController();
      const seen = cut.requests.length;
      const watch = setInterval(() => {
        if (cut.requests.length > seen + kills) killed.abort(new Error('killed'));
      }, 1);
      await syncs.perform(syncs.api().ours.id, runId, { signal: killed.signal, lastAttempt: false }).catch(() => {});
      clearInterval(watch);
    }
    await syncs.perform(syncs.api().ours.id, runId);
    expect(await syncs.run(other, runId)).toMatchObject({ status: 'succeeded', counts: { received: whole.counts.received, rejected: 0 } });
    // Another connection to the same vendor sees the same weaknesses at the same locations.
    expect(await found(other)).toEqual(reference);
    expect((await syncs.sync(other, { full: true })).counts).toMatchObject({ created: 0, updated: 0, reopened: 0, closed: 0 });
  });

  it('closes nothing when it fails, and reports why', async () => {
    const { origin } = await syncs.fake(vendor);
    const id = await syncs.connect(vendor, origin);
    await syncs.sync(id);
    const before = await found(id);
    for (const fault of [{ kind: 'status', at: 2, status: 500 } as const, { kind: 'repeated', at: 5 } as const]) {
      const broken = await syncs.fake(vendor, { pageSize: 4 }, fault);
      await syncs.move(id, vendor, broken.origin);
      const run = await syncs.sync(id, { full: true, limits: { requests: 300 } });
      expect({ fault: fault.kind, whole: run.status === 'succeeded' }, JSON.stringify(run)).toEqual({ fault: fault.kind, whole: false });
      expect(run.error?.message).toBeTruthy();
      expect(await found(id)).toEqual(before);
    }
  });
});
