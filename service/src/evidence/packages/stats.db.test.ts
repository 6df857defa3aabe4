import { beforeAll, describe, expect, it } from 'vitest';
import { type PackageBody, usePackages } from '../../testing/evidence/packages.ts';
import { storePackage } from '../../testing/evidence/stored-package.ts';

const world = usePackages();
const PATH = '/riskops-evidence/stats';

interface Stats {
  per_month: { month: string; packages: number; bytes: number }[];
  bytes: number;
}

const month = (ago: number): Date => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1));
};
const sizeOf = ({ downloads }: PackageBody): number => downloads[0]?.size ?? 0;

describe('evidence statistics', () => {
  let sealed: PackageBody;
  beforeAll(async () => {
    expect(await world.get(PATH)).toMatchObject({
      total: 0,
      by_status: { generating: 0, ready: 0, failed: 0, superseded: 0 },
      bytes: 0,
      work_items: { closed: 0, with_ready_package: 0, without: 0, coverage: null },
      generation_ms: { median: null, p95: null },
      verifications: { total: 0, failed: 0 },
      downloads: 0,
      last_package: null,
    });
    await world.scan('shop:1', ['openssl']);
    const item = await world.workItem('Done with a package', { asset: 'shop:1' });
    await world.scan('api:1', ['curl']);
    await world.workItem('Done without', { asset: 'api:1' });
    await world.scan('shop:1', []);
    await world.scan('api:1', []);
    await world.seal(item.id);
    sealed = await world.seal(item.id);
    await world.download(sealed.package_id);
    await world.download(sealed.package_id, 'json');
    await world.post(`/riskops-evidence/packages/${sealed.package_id}/verify`, undefined);
  });

  it('count packages, coverage, downloads and verifications', async () => {
    const { id: open } = await world.post<{ id: string }>('/work-items', { title: 'Still open' });
    const { api } = world;
    const broken = await storePackage(api(), {
      orgId: api().ours.id,
      workItemId: open,
      generatedAt: month(2),
      generationMs: 9_000,
      grade: 'D',
      content: 'x'.repeat(1_000),
    });
    await storePackage(api(), { orgId: api().ours.id, workItemId: open, sequence: 2, generatedAt: month(13), generationMs: 1, grade: 'A' });
    expect(await world.post(`/riskops-evidence/packages/${broken}/verify`, undefined)).toMatchObject({ verdict: 'failed' });
    const stats = await world.get<Stats>(PATH);
    expect(stats).toMatchObject({
      total: 4,
      by_status: { generating: 0, ready: 3, failed: 0, superseded: 1 },
      by_grade: { A: 1, B: 0, C: 1, D: 1 },
      work_items: { closed: 2, with_ready_package: 1, without: 1, coverage: 0.5 },
      generation_ms: { median: expect.any(Number), p95: 9_000 },
      verifications: { total: 2, failed: 1 },
      downloads: 2,
      last_package: { package_id: sealed.package_id, conclusion: 'remediated', grade: sealed.completeness.grade },
    });
    expect(stats.bytes).toBeGreaterThan(sizeOf(sealed) + 1_000);
    expect(stats.per_month).toHaveLength(12);
    expect(stats.per_month.map((row) => row.month)).toEqual(
      Array.from({ length: 12 }, (_, n) =>
        month(11 - n)
          .toISOString()
          .slice(0, 7),
      ),
    );
    expect(stats.per_month.at(-1)?.packages).toBe(2);
    expect(stats.per_month.at(-3)).toEqual({ month: month(2).toISOString().slice(0, 7), packages: 1, bytes: 1_000 });
    expect(stats.per_month.reduce((sum, { packages }) => sum + packages, 0)).toBe(3);
  });

  it('exclude other organizations', async () => {
    expect(await world.get(PATH, world.api().theirs.owner)).toMatchObject({ total: 0, downloads: 0, work_items: { closed: 0 }, last_package: null });
  });

  it('count a closed work item whose package is superseded as not covered', async () => {
    await world.scan('shop:1', ['openssl']);
    expect(await world.get(PATH)).toMatchObject({ by_status: { superseded: 2 }, work_items: { closed: 2, with_ready_package: 0, without: 2, coverage: 0 } });
  });
});
