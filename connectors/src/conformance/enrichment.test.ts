import { afterEach, describe, expect, it } from 'vitest';
import type { Enrichment, Json, Settings } from '../core/contract.ts';
import type { HttpLimits } from '../core/http-host.ts';
import { fakes } from '../fake-registry.ts';
import { connectors } from '../registry.ts';
import { type FakeOptions, type FakeVendor, type Fault, type RunningFake, serveFake } from '../testing/fake-server.ts';
import { contextOf, type Learned, learn } from '../testing/host.ts';

const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

async function started(vendor: FakeVendor, options: Partial<FakeOptions> = {}, fault?: Fault): Promise<RunningFake> {
  const fake = await serveFake(vendor, { pageSize: 10, ...options }, fault);
  running.push(fake);
  return fake;
}

/** The result of a run, independent of the page size. */
function resultOf({ items }: Pick<Learned, 'items'>): string[] {
  return items.map((item) => JSON.stringify(item)).sort();
}

const enrichments = connectors.filter((connector): connector is Enrichment => connector.kind === 'enrichment');
const cases = enrichments.flatMap((enrichment) => {
  const vendor = fakes.find(({ id }) => id === enrichment.id) as FakeVendor;
  const variants: readonly Record<string, Json>[] = [{}, ...(vendor.variants ?? [])];
  return variants.map((variant) => [[enrichment.id, ...Object.entries(variant).flat()].join(' '), enrichment, vendor, variant] as const);
});

describe.each(cases)('%s', (_, enrichment, vendor, variant) => {
  const varied = (settings: Settings): Settings => ({ ...settings, config: { ...settings.config, ...variant } });
  const all = async (options: Partial<FakeOptions> = {}, fault?: Fault, limits: Partial<HttpLimits> = {}) => {
    const fake = await started(vendor, options, fault);
    const context = contextOf(enrichment, varied(vendor.settings(fake.origin)), limits);
    const wanted = { ids: vendor.wanted ?? [], pageSize: options.pageSize ?? 10 };
    return { ...context, ...(await learn(enrichment, context, wanted)), fake };
  };
  /** The page for faults: the second one, or the only one. */
  const faultyPage = async (): Promise<number> => ((await all()).fake.requests.length > 1 ? 2 : 1);

  it('returns all facts and their date', async () => {
    const run = await all();
    expect(new Set(run.items.map(({ id }) => id)).size).toBeGreaterThan(20);
    expect(run.items.every(({ id }) => /^(?:CVE|GHSA)-/.test(id))).toBe(true);
    expect(run.items.every(({ aliases, cwes, cvss, epss, kev }) => aliases ?? cwes ?? cvss ?? epss ?? kev)).toBe(true);
    expect(run.rejected).toEqual([]);
    expect(run.asOf).toMatch(/^\d{4}[-.]\d{2}[-.]\d{2}/);
    expect(new Set(run.checkpoints.map((checkpoint) => JSON.stringify(checkpoint))).size).toBe(run.checkpoints.length);
    await expect(enrichment.check(contextOf(enrichment, varied(vendor.settings(run.fake.origin))))).resolves.toBeUndefined();
  });

  it('returns the same for every page size and after every interruption', async () => {
    const whole = await all();
    for (const pageSize of [1, 7, 100]) expect(resultOf(await all({ pageSize }))).toEqual(resultOf(whole));
    const fake = await started(vendor);
    const wanted = { ids: vendor.wanted ?? [], pageSize: 10 };
    for (let batches = 1; batches <= whole.checkpoints.length; batches++) {
      const context = contextOf(enrichment, varied(vendor.settings(fake.origin)));
      const before = await learn(enrichment, context, wanted, batches);
      const after = await learn(enrichment, { ...context, checkpoint: before.checkpoints.at(-1) ?? null }, wanted);
      expect(resultOf({ items: [...before.items, ...after.items] })).toEqual(resultOf(whole));
      expect({ asOf: after.asOf, cursor: after.cursor, complete: after.complete }).toEqual({
        asOf: whole.asOf,
        cursor: whole.cursor,
        complete: whole.complete,
      });
    }
  });

  it('returns no new facts from its own cursor when nothing changed', async () => {
    const whole = await all();
    const context = contextOf(enrichment, varied(vendor.settings(whole.fake.origin)));
    const again = await learn(enrichment, { ...context, cursor: whole.cursor }, { ids: vendor.wanted ?? [], pageSize: 10 });
    const known = new Set(resultOf(whole));
    expect(resultOf(again).filter((one) => !known.has(one))).toEqual([]);
    expect({ asOf: again.asOf, cursor: again.cursor }).toEqual({ asOf: whole.asOf, cursor: whole.cursor });
  });

  it('honors Retry-After and survives temporary failures', async () => {
    const undisturbed = await all();
    const at = await faultyPage();
    const limited = await all({}, { kind: 'status', at, status: 429, headers: { 'retry-after': '47' }, for: 1 });
    expect(limited.waits).toContainEqual(expect.toSatisfy((ms: number) => ms >= 47_000));
    expect(resultOf(limited)).toEqual(resultOf(undisturbed));
    for (const fault of [
      { kind: 'status', at, status: 503, for: 2 } as const,
      { kind: 'truncated', at, for: 1 } as const,
      { kind: 'garbage', at, for: 1 } as const,
      { kind: 'hang', at, for: 1 } as const,
    ])
      expect(resultOf(await all({}, fault, { requestMs: 500 }))).toEqual(resultOf(undisturbed));
  }, 30_000);

  it('fails with the right kind of error', async () => {
    const at = await faultyPage();
    await expect(all({}, { kind: 'status', at, status: 429 })).rejects.toMatchObject({ kind: 'rate_limited' });
    await expect(all({}, { kind: 'status', at, status: 500 })).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(all({}, { kind: 'truncated', at })).rejects.toMatchObject({ kind: 'invalid_answer' });
    await expect(all({}, { kind: 'garbage', at })).rejects.toMatchObject({ kind: 'invalid_answer' });
    await expect(all({}, { kind: 'redirect', at, to: 'http://127.0.0.1:1/elsewhere' })).rejects.toMatchObject({ kind: 'configuration' });
  });

  it('never accepts repeated or endless pages as complete', async () => {
    const undisturbed = await all();
    const outcome = (run: Promise<Learned>): Promise<unknown> => run.then(resultOf, ({ kind }) => kind);
    const isPaged = undisturbed.fake.requests.length > 1;
    expect(isPaged ? ['incomplete', 'invalid_answer'] : [resultOf(undisturbed)]).toContainEqual(await outcome(all({}, { kind: 'repeated', at: 2 })));
    expect(['incomplete', 'invalid_answer', resultOf(undisturbed)]).toContainEqual(await outcome(all({ endless: true }, undefined, { requests: 60 })));
  });

  it('declares credentials only if the vendor requires some', () => {
    expect(Object.keys(enrichment.credentials.properties).length > 0).toBe(vendor.refused !== undefined);
  });

  it('rejects an unreadable record and returns the others', async () => {
    const run = await all({ badRecord: true });
    expect(run.rejected).toEqual([{ place: expect.stringMatching(/./), reason: expect.stringMatching(/./) }]);
    expect(resultOf(run)).toEqual(resultOf(await all()));
  });

  it('keeps secrets out of its records', async () => {
    const run = await all();
    const secrets = Object.values(vendor.settings('http://x').credentials as Record<string, string>);
    for (const secret of secrets) expect(JSON.stringify([run.records, run.items, run.checkpoints])).not.toContain(secret);
    expect(run.records.every(({ sha256 }) => sha256 !== null)).toBe(true);
  });
});

const withCredentials = cases.flatMap(([name, enrichment, vendor, variant]) =>
  vendor.refused ? [[name, enrichment, vendor.refused, vendor, variant] as const] : [],
);

describe.each(withCredentials)('%s with wrong credentials', (_, enrichment, refused, vendor, variant) => {
  it('reports refused credentials and the required permissions', async () => {
    const settings = refused((await started(vendor)).origin);
    const context = contextOf(enrichment, { ...settings, config: { ...settings.config, ...variant } });
    await expect(enrichment.check(context)).rejects.toMatchObject({ kind: 'credentials', message: expect.stringContaining(enrichment.permissions) });
    await expect(learn(enrichment, context, { ids: vendor.wanted ?? [], pageSize: 10 })).rejects.toMatchObject({ kind: 'credentials' });
  });
});
