import type { Enrichment, Json } from '@rrs/connectors';
import { type FakeVendor, fakes } from '@rrs/connectors/fakes';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../db/database.ts';
import { systemActor } from '../../shared/actor.ts';
import { newId } from '../../shared/ids.ts';
import { directCollector } from '../../testing/integrations/collector.ts';
import { useSyncs } from '../../testing/integrations/syncs.ts';
import { repeating } from '../../testing/repeating.ts';
import { createConnection } from '../connections/connections.ts';
import { builtIn } from '../connections/providers.ts';
import type { Collector } from './collect.ts';

const syncs = useSyncs();
const enrichment = builtIn.filter((provider): provider is Enrichment => provider.kind === 'enrichment');
const vendorOf = (id: string): FakeVendor => fakes.find((fake) => fake.id === id) as FakeVendor;

interface Scored {
  id: string;
  risk: { score: number };
  kev: { listed: boolean; due_date: string | null };
  epss: { score: number; date: string } | null;
  due_at: string | null;
}

/** Connects to a mirror of the vendor, which only an operator can allow. */
async function connectMirror(vendor: FakeVendor): Promise<string> {
  const { origin } = await syncs.fake(vendor);
  const { config, credentials } = vendor.settings(origin) as { config: Record<string, unknown>; credentials: Record<string, unknown> };
  const refused = await syncs.ask<{ errors: { code: string }[] }>('POST', '/integrations', { body: { provider: vendor.id, config, credentials } });
  expect({ status: refused.status, code: refused.body.errors[0]?.code }).toEqual({ status: 400, code: 'not_allowed' });
  const actor = systemActor(syncs.api().ours.id, 'test');
  const input = { provider: vendor.id, name: newId(), config, credentials, schedule: null };
  const { providers, keys } = syncs.syncing();
  await keys.refresh();
  return (
    await syncs
      .api()
      .db.withTenant(actor, (tx) => createConnection(tx, actor, { providers, keys, mirrors: [origin], refusal: syncs.api().outbound.refusal }, input))
  ).id;
}

async function found(cve: string, as = syncs.api().ours.owner): Promise<string> {
  const body = { title: cve, severity: 'medium', asset: { type: 'host', name: `host ${newId()}` }, cves: [cve] };
  return (await syncs.ask<{ id: string }>('POST', '/findings', { as, body })).body.id;
}
const read = async (id: string, as = syncs.api().ours.owner): Promise<Scored> => (await syncs.ask<Scored>('GET', `/findings/${id}`, { as })).body;

async function asOfIn(connection: string): Promise<string | null | undefined> {
  const { body } = await syncs.ask<{ connections: { connection_id: string; knowledge_as_of: string | null }[] }>('GET', '/integrations/health');
  return body.connections.find(({ connection_id }) => connection_id === connection)?.knowledge_as_of;
}

describe('enrichment', () => {
  it.each(enrichment.map(({ id }) => id))('by %s applies new data once', async (id) => {
    const connection = await connectMirror(vendorOf(id));
    for (const cve of (vendorOf(id).wanted ?? []).filter((wanted) => /^CVE-/.test(wanted)).slice(0, 5)) await found(cve);
    const run = await syncs.sync(connection);
    expect(run).toMatchObject({ status: 'succeeded', error: null, notes: [expect.stringMatching(/^Data as of \S+\.$/)] });
    expect(run.counts.learned).toBeGreaterThan(0);
    expect((await syncs.sync(connection, { full: true })).counts.learned).toBe(0);
  });

  it.each(enrichment.map(({ id }) => id))("by %s reports the vendor's date of the data", async (id) => {
    const connection = await connectMirror(vendorOf(id));
    expect(await asOfIn(connection)).toBeNull();
    const { knowledge_as_of, notes } = await syncs.sync(connection);
    expect(knowledge_as_of).toMatch(/^\d{4}[-.]\d{2}[-.]\d{2}/);
    expect(notes).toContain(`Data as of ${knowledge_as_of}.`);
    expect(await asOfIn(connection)).toBe(knowledge_as_of);
  });

  it('keeps the date of the last successful run after a failure', async () => {
    const connection = await connectMirror(vendorOf('cisa_kev'));
    const { knowledge_as_of } = await syncs.sync(connection);
    const actor = systemActor(syncs.api().ours.id, 'test');
    const { origin } = await syncs.fake(vendorOf('cisa_kev'), {}, { kind: 'status', at: 1, status: 500 });
    await syncs.api().db.withTenant(actor, (tx) =>
      tx
        .updateTable('connections')
        .set({ config: JSON.stringify(vendorOf('cisa_kev').settings(origin).config) })
        .where('id', '=', connection)
        .execute(),
    );
    expect(await syncs.sync(connection, { full: true })).toMatchObject({ status: 'failed', knowledge_as_of: null });
    expect(await asOfIn(connection)).toBe(knowledge_as_of);
  });

  it('is the only kind of connection with a data date', async () => {
    const snyk = fakes.find(({ id }) => id === 'snyk') as FakeVendor;
    const connection = await syncs.connect(snyk, (await syncs.fake(snyk)).origin);
    expect(await syncs.sync(connection)).toMatchObject({ status: 'succeeded', knowledge_as_of: null });
    expect(await asOfIn(connection)).toBeNull();
  });

  it('rescores the findings of all organizations, also when a vulnerability leaves the KEV catalog', async () => {
    const kev = vendorOf('cisa_kev');
    const [ours, theirs] = [await found('CVE-2025-10003'), await found('CVE-2025-10003', syncs.api().theirs.owner)];
    await syncs.sync(await connectMirror(kev), { full: true });
    await syncs.sync(await connectMirror(vendorOf('epss')), { full: true });
    for (const { id } of [syncs.api().ours, syncs.api().theirs]) await syncs.rescore(id);
    const listed = await read(ours);
    expect(listed).toMatchObject({ kev: { listed: true, due_date: '2026-11-13' }, epss: { score: 0.003, date: expect.stringMatching(/^\d{4}-\d\d-\d\d/) } });
    expect(await read(theirs, syncs.api().theirs.owner)).toMatchObject({ kev: { listed: true }, risk: { score: listed.risk.score } });

    const smaller: FakeVendor = {
      ...kev,
      answer: (options) => async (request) => {
        const given = await kev.answer(options)(request);
        const catalogue = given.body as { vulnerabilities: { cveID: string }[] };
        const vulnerabilities = catalogue.vulnerabilities.filter(({ cveID }) => cveID !== 'CVE-2025-10003');
        return {
          ...given,
          body: { ...catalogue, catalogVersion: '2026.11.15', dateReleased: '2026-11-15T10:00:00Z', count: vulnerabilities.length, vulnerabilities } as Json,
        };
      },
    };
    await syncs.sync(await connectMirror(smaller), { full: true });
    await syncs.rescore(syncs.api().ours.id);
    const unlisted = await read(ours);
    expect(unlisted.kev).toEqual({ listed: false, due_date: null });
    // A listed finding has at least 75 points, and one that is not listed at most as many on an internal asset.
    expect(listed.risk.score).toBeGreaterThan(75);
    expect(unlisted.risk.score).toBeLessThan(75);
  });

  it('shows the date of the latest EPSS file that confirmed a score, and counts the request of a file that is known', async () => {
    const cve = 'CVE-2025-10007';
    const vendor = vendorOf('epss');
    let day = '2026-11-19';
    const daily: FakeVendor = {
      ...vendor,
      answer: () => () => ({ page: true, body: `#model_version:v1,score_date:${day}T12:00:00Z\ncve,epss,percentile\n${cve},0.25,0.75\n` }),
    };
    const id = await found(cve);
    const connection = await connectMirror(daily);
    for (const date of ['2026-11-19', '2026-11-21']) {
      day = date;
      await syncs.sync(connection);
      await syncs.rescore(syncs.api().ours.id);
      expect((await read(id)).epss).toMatchObject({ score: 0.25, date });
    }
    expect(await syncs.sync(connection)).toMatchObject({ counts: { learned: 0 }, requests: { made: 1 } });
  });

  it.each([
    ['', '2026-11-25', (db: Database) => db],
    [', also if its transactions run again', '2026-11-26', repeating],
  ])('rescores what a run learned that was killed, although the run learns nothing more when it continues%s', async (_how, date, wrapped) => {
    const epss = vendorOf('epss');
    const daily: FakeVendor = {
      ...epss,
      answer: () => () => ({
        page: true,
        body: `#model_version:v1,score_date:${date}T12:00:00Z\ncve,epss,percentile\nCVE-2025-10011,0.${date.slice(-2)},0.75\n`,
      }),
    };
    const connection = await connectMirror(daily);
    const { db, ours } = syncs.api();
    const waiting = () =>
      db.systemQuery<{ is_due: boolean }>('rescoring', 'select run_at <= now() as is_due from graphile_worker._private_jobs where key = $1', [
        `rescore ${ours.id}`,
      ]);
    await db.systemQuery('forget_rescoring', `delete from graphile_worker._private_jobs where key like 'rescore %'`, []);
    const runId = await syncs.queue(connection);
    const killed: Collector = {
      ...directCollector,
      collect: (connector, task, host, signal) => {
        const learn: typeof host.learn = async (items) => {
          await host.learn(items);
          throw new Error('killed');
        };
        return directCollector.collect(connector, task, { ...host, learn }, signal);
      },
    };
    await expect(syncs.perform(ours.id, runId, { collector: killed, lastAttempt: false, db: wrapped(db) })).rejects.toThrow('killed');
    expect(await waiting()).toEqual([{ is_due: false }]);
    await syncs.perform(ours.id, runId);
    expect(await syncs.run(connection, runId)).toMatchObject({ status: 'succeeded', counts: { learned: 0 } });
    expect(await waiting()).toEqual([{ is_due: true }]);
  });

  it('counts records and requests once, although its transactions run again', async () => {
    const epss = vendorOf('epss');
    const lines = ['#model_version:v1,score_date:2026-11-27T12:00:00Z', 'cve,epss,percentile', 'CVE-2025-10011,0.4,0.75', 'CVE-2025-10012,none,0.75', ''];
    const daily: FakeVendor = { ...epss, answer: () => () => ({ page: true, body: lines.join('\n') }) };
    const connection = await connectMirror(daily);
    const plain = await syncs.sync(connection);
    const { db } = syncs.api();
    const again = await syncs.sync(connection, { full: true, db: repeating(db) });
    expect(again).toMatchObject({ counts: { rejected: plain.counts.rejected }, requests: plain.requests });
    expect(plain).toMatchObject({ status: 'succeeded', counts: { rejected: 1 }, requests: { made: 1 } });
  });

  it('reports a version with a character that PostgreSQL refuses as an invalid response', async () => {
    const kev = vendorOf('cisa_kev');
    const odd: FakeVendor = {
      ...kev,
      answer: (options) => async (request) => {
        const { body, ...given } = await kev.answer(options)(request);
        return { ...given, body: { ...(body as Record<string, Json>), catalogVersion: '2026.11\0.30', dateReleased: '2026-11-30T10:00:00Z' } };
      },
    };
    expect(await syncs.sync(await connectMirror(odd))).toMatchObject({ status: 'partial', error: { kind: 'invalid_answer' } });
  });
});
