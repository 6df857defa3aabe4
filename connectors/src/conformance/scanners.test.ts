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

/** The result of a run, independent of the page size. The position in the pages is not part of it. */
function resultOf(items: readonly ReportItem[]): string[] {
  return items.map((item) => JSON.stringify('rejection' in item ? 'rejected' : { ...item.observation, place: '' })).sort();
}

const scanners = connectors.filter((connector): connector is Scanner => connector.kind === 'scanner');
const cases = scanners.map((scanner) => [scanner.id, scanner, fakes.find(({ id }) => id === scanner.id) as FakeVendor] as const);

/** A missing vulnerability of GitLab closes nothing, and the reports behind a URL state their times themselves. */
const STATES_NO_TIME = ['gitlab', 'report_url'];

describe.each(cases.filter(([id]) => !STATES_NO_TIME.includes(id)))('%s', (_, scanner, vendor) => {
  it('states when the vendor scanned each asset that it covers', async () => {
    const { covers, scans } = await collect(scanner, contextOf(scanner, vendor.settings((await started(vendor)).origin)));
    const dated = scans.filter(({ finished_at }) => finished_at !== undefined);
    const scanned = new Set(dated.map(({ asset }) => `${asset.type} ${asset.name}`));
    expect(scanned.size).toBeGreaterThan(0);
    expect(covers.filter((asset) => !scanned.has(asset))).toEqual([]);
  });
});

describe.each(cases)('%s', (_, scanner, vendor) => {
  const all = async (options: Partial<FakeOptions> = {}, fault?: Fault) => {
    const fake = await started(vendor, options, fault);
    const context = contextOf(scanner, vendor.settings(fake.origin));
    return { ...(await collect(scanner, context)), ...context, fake };
  };

  it('returns all findings over several pages as a complete run', async () => {
    const run = await all();
    expect(run.coverage).toBe('complete');
    expect(resultOf(run.items).length).toBeGreaterThan(20);
    expect(new Set(run.checkpoints.map((checkpoint) => JSON.stringify(checkpoint))).size).toBe(run.checkpoints.length);
    expect(run.items.every((item) => 'observation' in item && item.observation.asset !== null)).toBe(true);
    await expect(scanner.check(contextOf(scanner, vendor.settings(run.fake.origin)))).resolves.toBeUndefined();
  });

  it('returns the same for every page size and after every interruption', async () => {
    const whole = await all();
    for (const pageSize of [1, 7, 100]) expect(resultOf((await all({ pageSize })).items)).toEqual(resultOf(whole.items));
    const fake = await started(vendor);
    for (let batches = 1; batches <= whole.checkpoints.length; batches++) {
      const context = contextOf(scanner, vendor.settings(fake.origin));
      const before = await collect(scanner, context, batches);
      const after = await collect(scanner, { ...contextOf(scanner, vendor.settings(fake.origin)), checkpoint: before.checkpoints.at(-1) ?? null });
      expect(resultOf([...before.items, ...after.items])).toEqual(resultOf(whole.items));
      for (const scope of ['covers', 'partiallyCovers'] as const)
        expect([...new Set([...before[scope], ...after[scope]])].sort()).toEqual([...new Set(whole[scope])].sort());
    }
  });

  it('honors Retry-After and survives temporary failures', async () => {
    const limited = await all({}, { kind: 'status', at: 2, status: 429, headers: { 'retry-after': '7' }, for: 1 });
    expect(limited.coverage).toBe('complete');
    expect(limited.waits).toContainEqual(expect.toSatisfy((ms: number) => ms >= 7_000));
    const undisturbed = await all();
    for (const fault of [
      { kind: 'status', at: 2, status: 503, for: 2 } as const,
      { kind: 'truncated', at: 2, for: 1 } as const,
      { kind: 'hang', at: 2, for: 1 } as const,
    ])
      expect(resultOf((await all({}, fault)).items)).toEqual(resultOf(undisturbed.items));
  }, 30_000);

  it('fails with the right kind of error', async () => {
    const fake = await started(vendor);
    if (!vendor.refused) throw new Error('every scanner needs credentials');
    const refused = contextOf(scanner, vendor.refused(fake.origin));
    await expect(scanner.check(refused)).rejects.toMatchObject({ kind: 'credentials', message: expect.stringContaining(scanner.permissions) });
    await expect(collect(scanner, refused)).rejects.toMatchObject({ kind: 'credentials' });
    await expect(all({}, { kind: 'status', at: 2, status: 429 })).rejects.toMatchObject({ kind: 'rate_limited' });
    await expect(all({}, { kind: 'status', at: 2, status: 500 })).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(all({}, { kind: 'truncated', at: 2 })).rejects.toMatchObject({ kind: 'invalid_answer' });
    await expect(all({}, { kind: 'garbage', at: 2 })).rejects.toMatchObject({ kind: 'invalid_answer' });
    await expect(all({}, { kind: 'redirect', at: 2, to: 'http://127.0.0.1:1/elsewhere' })).rejects.toMatchObject({ kind: 'configuration' });
  });

  it('rejects an unreadable record and returns the others', async () => {
    const run = await all({ badRecord: true });
    const rejected = run.items.filter((item) => 'rejection' in item);
    expect(rejected).toHaveLength(1);
    expect(resultOf(run.items).filter((item) => item !== '"rejected"')).toEqual(resultOf((await all()).items));
  });

  it('keeps secrets out of its records', async () => {
    const run = await all();
    const secrets = Object.values(vendor.settings('http://x').credentials as Record<string, string>);
    for (const secret of secrets) expect(JSON.stringify(run.records)).not.toContain(secret);
    expect(run.records.every(({ sha256 }) => sha256 !== null)).toBe(true);
  });
});
