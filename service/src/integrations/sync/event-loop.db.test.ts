import { gzipSync } from 'node:zlib';
import { type Connector, defaultLimits, type Json } from '@rrs/connectors';
import { type FakeVendor, fakes } from '@rrs/connectors/fakes';
import { describe, expect, it } from 'vitest';
import { ChildFailure } from '../../jobs/children/child.ts';
import { systemActor } from '../../shared/actor.ts';
import { newId } from '../../shared/ids.ts';
import { useSyncs } from '../../testing/integrations/syncs.ts';
import { longestTurn } from '../../testing/longest-turn.ts';
import { createConnection } from '../connections/connections.ts';
import { builtIn, providerOf } from '../connections/providers.ts';
import { type CollectHost, collect } from './collect.ts';
import { childCollector, openCollectors } from './collect-in-child.ts';

const syncs = useSyncs();
const vendorOf = (id: string): FakeVendor => fakes.find((fake) => fake.id === id) as FakeVendor;
/** Of one turn of the thread that serves HTTP. */
const MAX_MS = 50;

/** The vendor's server sends this instead of its own body. It is made before the measurement. */
function sending(vendor: FakeVendor, isTarget: (path: string) => boolean, body: Uint8Array): FakeVendor {
  return {
    ...vendor,
    answer: (options) => {
      const usual = vendor.answer(options);
      return (request) => (isTarget(request.url.pathname) ? { body, page: true } : usual(request));
    },
  };
}

async function connect(vendor: FakeVendor, origin: string): Promise<string> {
  const { config, credentials } = vendor.settings(origin) as { config: Record<string, unknown>; credentials: Record<string, unknown> };
  const actor = systemActor(syncs.api().ours.id, 'test');
  const { providers, keys } = syncs.syncing();
  await keys.refresh();
  const deps = { providers, keys, mirrors: [origin], refusal: syncs.api().outbound.refusal };
  const input = { provider: vendor.id, name: newId(), config, credentials, schedule: null };
  return (await syncs.api().db.withTenant(actor, (tx) => createConnection(tx, actor, deps, input))).id;
}

/** Runs the connector on this thread and stores nothing, for comparison. */
async function collectHere(connector: Connector, vendor: FakeVendor, origin: string): Promise<number> {
  const nothing = async (): Promise<void> => {};
  const host: CollectHost = {
    sender: syncs.api().outbound,
    wait: nothing,
    onRequest: () => {},
    wanted: async () => [],
    learn: nothing,
    unlistOthers: nothing,
    store: nothing,
  };
  const task = {
    settings: vendor.settings(origin),
    limits: defaultLimits,
    now: Date.now(),
    checkpoint: null,
    cursor: null,
    startedAt: new Date(),
    isRetry: false,
  };
  const { ms } = await longestTurn(() => collect(connector, task, host, new AbortController().signal));
  return ms;
}

function scores(rows: number): Uint8Array {
  const lines = Array.from({ length: rows }, (_, n) => `CVE-${2000 + (n % 25)}-${10_000 + n},0.${String(n % 100_000).padStart(5, '0')},0.5`);
  return gzipSync(`#model_version:v2026.03.14,score_date:2026-11-14T00:00:00Z\ncve,epss,percentile\n${lines.join('\n')}\n`);
}

function catalog(entries: number): Uint8Array {
  const vulnerabilities = Array.from({ length: entries }, (_, n) => ({
    cveID: `CVE-2024-${10_000 + n}`,
    dueDate: '2026-12-01',
    cwes: ['CWE-79'],
    shortDescription: 'A weakness. '.repeat(100),
  }));
  return Buffer.from(JSON.stringify({ catalogVersion: '2026.11.14', dateReleased: '2026-11-14T00:00:00Z', count: entries, vulnerabilities }));
}

/** One page with many issues. */
function issues(count: number): Uint8Array {
  const answer = vendorOf('snyk').answer({ pageSize: 1 });
  const url = new URL(`http://vendor/rest/orgs/${organizationOf()}/issues?version=2024-10-15`);
  const first = answer({ method: 'GET', url, headers: { authorization: 'token snyk-token-0123456789' }, body: '' }) as { body: { data: Json[] } };
  const one = first.body.data[0] as { attributes: Record<string, Json> };
  const data = Array.from({ length: count }, (_, n) => ({
    ...one,
    id: `11110000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    attributes: { ...one.attributes, status: 'open', key: `SNYK-JS-LIB${n}-1`, title: `Weakness ${n}`, description: 'A weakness. '.repeat(700) },
  }));
  return Buffer.from(JSON.stringify({ jsonapi: { version: '1.0' }, data, links: {} }));
}

const organizationOf = (): string => (vendorOf('snyk').settings('http://vendor').config as { organization_id: string }).organization_id;

describe('the thread that serves HTTP stays free', () => {
  it.each([
    ['epss', () => true, () => scores(30_000), { learned: 30_000 }],
    ['cisa_kev', () => true, () => catalog(16_000), { learned: 16_000 }],
    ['snyk', (path: string) => path.endsWith('/issues'), () => issues(1_500), { received: 1_500 }],
  ] as const)(
    'while %s sends a large response',
    async (id, isTarget, body, counts) => {
      const vendor = sending(vendorOf(id), isTarget, body());
      const { origin } = await syncs.fake(vendor);
      const connection = await connect(vendor, origin);
      const { result, ms } = await longestTurn(() => syncs.sync(connection, { collector: childCollector(), limits: { requestMs: 60_000 } }));
      expect(result).toMatchObject({ status: 'succeeded', error: null, counts });
      const here = await collectHere(providerOf(builtIn, id), vendor, origin);
      // Without a child process, it would show, however fast the machine is. Scores are read in slices, so that only their number would.
      const most = id === 'epss' ? MAX_MS : Math.max(MAX_MS, here / 2);
      expect(ms, `${Math.round(ms)} ms, and ${Math.round(here)} ms without a child process`).toBeLessThan(most);
      if (id !== 'epss') expect(here).toBeGreaterThan(ms);
    },
    120_000,
  );

  it('while a connection is tested', async () => {
    const vendor = sending(vendorOf('cisa_kev'), () => true, catalog(8_000));
    const { origin } = await syncs.fake(vendor);
    const connection = await connect(vendor, origin);
    const { result, ms } = await longestTurn(() => syncs.ask<{ ok: boolean }>('POST', `/integrations/${connection}/test`));
    expect(result).toMatchObject({ status: 200, body: { ok: true } });
    expect(ms).toBeLessThan(MAX_MS);
  });
});

describe('a response that exhausts a limit of the child process', () => {
  it.each([
    ['memory', { heapMb: 24, timeMs: 60_000 }, /^Reading the responses of CISA KEV needed more than 24 MB of memory, so the run was stopped/],
    ['time', { heapMb: 512, timeMs: 60_000, stepMs: 1 }, /^Reading the responses of CISA KEV took longer than 0.001 s for one step, so the run was stopped/],
  ])(
    'ends the run with a reason and not the process: %s',
    async (_, limits, message) => {
      const vendor = sending(vendorOf('cisa_kev'), () => true, catalog(20_000));
      const { origin } = await syncs.fake(vendor);
      const connection = await connect(vendor, origin);
      const collectors = openCollectors(limits);
      const collector = childCollector(collectors);
      const id = await syncs.queue(connection);
      const attempt = () => syncs.perform(syncs.api().ours.id, id, { collector, lastAttempt: false, limits: { requestMs: 60_000 } });
      // In the child process that runs share, it could have been another one.
      await expect(attempt()).rejects.toThrow(ChildFailure);
      await attempt();
      expect(await syncs.run(connection, id)).toMatchObject({ status: 'failed', error: { kind: 'invalid_answer', message: expect.stringMatching(message) } });
      await Promise.all(Object.values(collectors).map((pool) => pool.close()));
    },
    60_000,
  );
});
