import type { ReportItem } from '@rrs/scan-reports';
import { afterEach, describe, expect, it } from 'vitest';
import type { Scanner } from '../core/contract.ts';
import { fakes } from '../fake-registry.ts';
import { connectors } from '../registry.ts';
import { type FakeOptions, type FakeVendor, type Fault, type RunningFake, serveFake } from '../testing/fake-server.ts';
import { collect, contextOf } from '../testing/host.ts';

const running: RunningFake[] = [];
afterEach(async () => {
  for (const fake of running.splice(0)) await fake.close();
});

async function started(vendor: FakeVendor, options: Partial<FakeOptions> = {}, fault?: Fault): Promise<RunningFake> {
  const fake = await serveFake(vendor, { pageSize: 10, ...options }, fault);
  running.push(fake);
  return fake;
}

/** What a run says, whatever the pages were; the place in the pages is no part of it. */
function said(items: readonly ReportItem[]): string[] {
  return items.map((item) => JSON.stringify('rejection' in item ? 'rejected' : { ...item.observation, place: '' })).sort();
}

const scanners = connectors.filter((connector): connector is Scanner => connector.kind === 'scanner');
const cases = scanners.map((scanner) => [scanner.id, scanner, fakes.find(({ id }) => id === scanner.id) as FakeVendor] as const);

describe.each(cases)('%s', (_, scanner, vendor) => {
  const all = async (options: Partial<FakeOptions> = {}, fault?: Fault) => {
    const fake = await started(vendor, options, fault);
    const context = contextOf(scanner, vendor.settings(fake.origin));
    return { ...(await collect(scanner, context)), ...context, fake };
  };

  it('brings everything over several pages, and says so', async () => {
    const run = await all();
    expect(run.coverage).toBe('complete');
    expect(said(run.items).length).toBeGreaterThan(20);
    expect(new Set(run.checkpoints.map((checkpoint) => JSON.stringify(checkpoint))).size).toBe(run.checkpoints.length);
    expect(run.items.every((item) => 'observation' in item && item.observation.asset !== null)).toBe(true);
    await expect(scanner.check(contextOf(scanner, vendor.settings(run.fake.origin)))).resolves.toBeUndefined();
  });

  it('says the same however the pages are cut and wherever it was killed', async () => {
    const whole = await all();
    for (const pageSize of [1, 7, 100]) expect(said((await all({ pageSize })).items)).toEqual(said(whole.items));
    const fake = await started(vendor);
    for (let batches = 1; batches <= whole.checkpoints.length; batches++) {
      const context = contextOf(scanner, vendor.settings(fake.origin));
      const before = await collect(scanner, context, batches);
      const after = await collect(scanner, { ...contextOf(scanner, vendor.settings(fake.origin)), checkpoint: before.checkpoints.at(-1) ?? null });
      expect(said([...before.items, ...after.items])).toEqual(said(whole.items));
      for (const how of ['covers', 'partly'] as const) expect([...new Set([...before[how], ...after[how]])].sort()).toEqual([...new Set(whole[how])].sort());
    }
  });

  it('waits as long as it is told to, and gets over a bad moment', async () => {
    const limited = await all({}, { kind: 'status', at: 2, status: 429, headers: { 'retry-after': '7' }, for: 1 });
    expect(limited.coverage).toBe('complete');
    expect(limited.waits).toContainEqual(expect.toSatisfy((ms: number) => ms >= 7_000));
    const calm = await all();
    for (const fault of [
      { kind: 'status', at: 2, status: 503, for: 2 } as const,
      { kind: 'truncated', at: 2, for: 1 } as const,
      { kind: 'hang', at: 2, for: 1 } as const,
    ])
      expect(said((await all({}, fault)).items)).toEqual(said(calm.items));
  }, 30_000);

  it('ends with a fault that says which, and never as complete', async () => {
    const fake = await started(vendor);
    if (!vendor.refused) throw new Error('every scanner has credentials');
    const refused = contextOf(scanner, vendor.refused(fake.origin));
    await expect(scanner.check(refused)).rejects.toMatchObject({ kind: 'credentials', message: expect.stringContaining(scanner.permissions) });
    await expect(collect(scanner, refused)).rejects.toMatchObject({ kind: 'credentials' });
    await expect(all({}, { kind: 'status', at: 2, status: 429 })).rejects.toMatchObject({ kind: 'rate_limited' });
    await expect(all({}, { kind: 'status', at: 2, status: 500 })).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(all({}, { kind: 'truncated', at: 2 })).rejects.toMatchObject({ kind: 'invalid_answer' });
    await expect(all({}, { kind: 'garbage', at: 2 })).rejects.toMatchObject({ kind: 'invalid_answer' });
    await expect(all({}, { kind: 'redirect', at: 2, to: 'http://127.0.0.1:1/elsewhere' })).rejects.toMatchObject({ kind: 'configuration' });
  });

  it('names a record that it cannot read and brings the others', async () => {
    const run = await all({ badRecord: true });
    const rejected = run.items.filter((item) => 'rejection' in item);
    expect(rejected).toHaveLength(1);
    expect(said(run.items).filter((item) => item !== '"rejected"')).toEqual(said((await all()).items));
  });

  it('tells no secret in what it records', async () => {
    const run = await all();
    const secrets = Object.values(vendor.settings('http://x').credentials as Record<string, string>);
    for (const secret of secrets) expect(JSON.stringify(run.records)).not.toContain(secret);
    expect(run.records.every(({ sha256 }) => sha256 !== null)).toBe(true);
  });
});
