import type { Asset, Observation } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { type ImportOptions, type Item, inLib, seen, useImports } from '../../testing/findings/imports.ts';
import { OTHER_ORDERS } from '../../testing/findings/orders.ts';

/** Scans that looked like a proof once. */
const engine = useImports();

const repository: Asset = { type: 'repository', name: 'https://git.example.com/shop' };
const scopeAsset = { type: 'repository', name: 'https://git.example.com/shop' } as const;
const at = (day: number, hour = 12): string => new Date(Date.UTC(2026, 0, day, hour)).toISOString();
const complete = (time: string, given: ImportOptions['scope'] = {}): ImportOptions => ({ scope: { coverage: 'complete', started_at: time, ...given } });
const partial = (time: string): ImportOptions => ({ scope: { started_at: time } });
const digest = (digit: string) => ({ kind: 'digest' as const, value: `sha256:${digit.repeat(64)}` });
const imageOf = (name: string, digit: string): Asset => ({ type: 'container_image', name, identifiers: [digest(digit)] });
const other = (asset: Asset): Observation => inLib('other', { asset, vulnerability_ids: ['CVE-2024-0009'] });
const statusOf = async (org: string, weakness = 'CVE-2024-0001'): Promise<string | undefined> =>
  (await engine.findings(org)).find((finding) => finding.weakness === weakness)?.status;

async function runAll(runs: readonly (readonly [readonly Item[], ImportOptions])[]): Promise<string> {
  const org = await engine.organization();
  for (const [items, options] of runs) expect(await engine.run(org, items, options)).toMatchObject({ status: 'succeeded' });
  return org;
}

describe('a finding that disappears from the same build is withdrawn', () => {
  const prod = imageOf('shop:prod', 'a');
  const named = { asset: { type: 'container_image', name: 'shop:prod' } } as const;

  // Several times, because the number that a build gets used to depend on ids that are random.
  it.each(Array.from({ length: 4 }, (_, n) => n))('if the scope names the asset without its digest (%s)', async () => {
    const org = await runAll([
      [[seen({ asset: prod }), other(prod)], complete(at(1), named)],
      [[other(prod)], complete(at(2), named)],
    ]);
    expect(await statusOf(org)).toBe('withdrawn');
    const { rows } = await engine.admin().query('select name, digest from asset_versions where org_id = $1', [org]);
    expect(rows).toEqual([{ name: 'prod', digest: `sha256:${'a'.repeat(64)}` }]);
  });

  it.each([
    ['the second report has no digest, but the same id of the image', ['digest a', 'image_id c'], ['image_id c']],
    ['it names the digests in another order', ['digest a', 'digest b'], ['digest b', 'digest a']],
    ['it names only the digest of one platform', ['digest a', 'digest b'], ['digest b']],
  ])('if %s', async (_, first, second) => {
    const named = (ids: readonly string[]): Asset => ({
      type: 'container_image',
      name: 'shop:prod',
      identifiers: ids.map((id) => ({ kind: id.startsWith('digest') ? 'digest' : 'image_id', value: `sha256:${id.slice(-1).repeat(64)}` })),
    });
    const runs = [
      [[seen({ asset: named(first) }), other(named(first))], complete(at(1))],
      [[other(named(second))], complete(at(2))],
    ] as const;
    expect(await statusOf(await runAll(runs))).toBe('withdrawn');
    expect(await statusOf(await runAll(runs.toReversed()))).toBe('withdrawn');
  });

  it('if only partial scans have shown it there', async () => {
    expect(
      await statusOf(
        await runAll([
          [[seen({ asset: prod })], partial(at(1))],
          [[other(prod)], complete(at(2))],
        ]),
      ),
    ).toBe('withdrawn');
  });

  it('if the last complete scan was of another build', async () => {
    const before = imageOf('shop:prod', 'b');
    expect(
      await statusOf(
        await runAll([
          [[seen({ asset: before })], complete(at(1))],
          [[seen({ asset: prod })], partial(at(2))],
          [[other(prod)], complete(at(3))],
        ]),
      ),
    ).toBe('withdrawn');
  });

  it('if the reports of the build arrive in any order', async () => {
    const before = imageOf('shop:prod', 'b');
    const runs = [
      [[seen({ asset: before })], complete(at(1))],
      [[seen({ asset: prod })], partial(at(2))],
      [[other(prod)], complete(at(3))],
    ] as const;
    for (const order of OTHER_ORDERS) expect(await statusOf(await runAll(order.map((n) => runs[n]))), order.join()).toBe('withdrawn');
  });
});

it('a scan of an image for another platform proves nothing, in any order', async () => {
  const platform = (name: string, digit: string): Asset => ({ ...imageOf('shop:prod', digit), platform: name });
  const amd = [[seen({ asset: platform('linux/amd64', 'a') }), other(platform('linux/amd64', 'a'))], complete(at(1))] as const;
  const arm = [[other(platform('linux/arm64', 'b'))], complete(at(2))] as const;
  const next = [[other(platform('linux/amd64', 'c'))], complete(at(3))] as const;
  expect(await statusOf(await runAll([amd, arm]))).toBe('open');
  expect(await statusOf(await runAll([arm, amd]))).toBe('open');
  expect(await statusOf(await runAll([amd, arm, next]))).toBe('verified');
  expect(await statusOf(await runAll([arm, next, amd]))).toBe('verified');
});

it('a scan that does not say for which platform it is proves nothing about one that does, in any order', async () => {
  const named = { ...imageOf('shop:prod', 'a'), platform: 'linux/amd64' };
  const [unnamed, next] = [imageOf('shop:prod', 'b'), { ...imageOf('shop:prod', 'c'), platform: 'linux/amd64' }];
  const [first, second] = [[[seen({ asset: named }), other(named)], complete(at(1))] as const, [[other(unnamed)], complete(at(2))] as const];
  expect(await statusOf(await runAll([first, second]))).toBe('open');
  expect(await statusOf(await runAll([second, first]))).toBe('open');
  expect(await statusOf(await runAll([first, second, [[other(next)], complete(at(3))]]))).toBe('verified');
  const unnamedFirst = [[seen({ asset: unnamed }), other(unnamed)], complete(at(1))] as const;
  expect(await statusOf(await runAll([unnamedFirst, [[other(next)], complete(at(3))]]))).toBe('verified');
});

describe('a finding that several platforms of an image have', () => {
  const built = (platform: string, digit: string): Asset => ({ ...imageOf('shop:prod', digit), platform });
  const [amd, arm] = ['linux/amd64', 'linux/arm64'] as const;
  const scan = (platform: string, day: number, hasIt: boolean, hour = 12) => {
    const asset = built(platform, platform === amd ? String(day) : ('abcdef'[day] ?? ''));
    return [[...(hasIt ? [seen({ asset })] : []), other(asset)], complete(at(day, hour))] as const;
  };

  it('is gone only when a scan of each of them no longer shows it, in any order', async () => {
    const runs = [scan(amd, 1, true), scan(arm, 2, true), scan(arm, 3, false), scan(amd, 4, false)] as const;
    expect(await statusOf(await runAll(runs.slice(0, 3)))).toBe('open');
    for (const order of OTHER_ORDERS) expect(await statusOf(await runAll(order.map((n) => runs[n]))), order.join()).toBe('open');
    for (const order of [
      [0, 1, 2, 3],
      [0, 1, 3, 2],
      [3, 2, 1, 0],
      [2, 3, 0, 1],
    ] as const)
      expect(await statusOf(await runAll(order.map((n) => runs[n]))), order.join()).toBe('verified');
  });

  it('is gone when both are scanned every night and neither shows it any more', async () => {
    const nights = [
      [true, true],
      [true, false],
      [false, false],
    ] as const;
    const runs = nights.flatMap(([onAmd, onArm], night) => [scan(amd, night + 1, onAmd, 1), scan(arm, night + 1, onArm, 2)]);
    expect(await statusOf(await runAll(runs.slice(0, 4)))).toBe('open');
    expect(await statusOf(await runAll(runs))).toBe('verified');
  });

  it('is not gone if a report on both showed it, and one on the other platform does not', async () => {
    const both = [amd, arm].flatMap((platform) => scan(platform, 1, platform === amd)[0]);
    expect(await statusOf(await runAll([[both, complete(at(1))], scan(arm, 2, false)]))).toBe('open');
    expect(await statusOf(await runAll([[both, complete(at(1))], scan(arm, 2, false), scan(amd, 3, false)]))).toBe('verified');
  });
});

describe('a scan of a branch says nothing about the default track', () => {
  it.each([
    ['a pull request', { ref: 'refs/pull/17/merge' }],
    ['a feature branch', { ref: 'feature/checkout' }],
    ['a release line', { ref: 'release-1.4' }],
    ['a version', { version: '2.0.1' }],
  ])('if the report names %s and the scope only the repository', async (_, named) => {
    const branch: Asset = { ...repository, ...named };
    const org = await runAll([
      [[seen({ asset: repository }), other(repository)], complete(at(1), { asset: scopeAsset })],
      [[{ run: { asset: branch } }, other(branch)], complete(at(2), { asset: scopeAsset })],
    ]);
    expect(await statusOf(org)).toBe('open');
  });

  it.each(['asset', 'assets'] as const)('but a clean scan of the repository that names no branch does, by `%s`', async (field) => {
    const scope = field === 'asset' ? { asset: scopeAsset } : { assets: [scopeAsset] };
    const org = await runAll([
      [[seen({ asset: repository })], complete(at(1))],
      [[], complete(at(2), scope)],
    ]);
    expect(await statusOf(org)).toBe('verified');
  });

  it('and a clean scan of the default branch that the report names does', async () => {
    const main: Asset = { ...repository, ref: 'refs/heads/main' };
    const org = await runAll([
      [[seen({ asset: main })], complete(at(1), { asset: scopeAsset })],
      [[{ run: { asset: main } }], complete(at(2), { asset: scopeAsset })],
    ]);
    expect(await statusOf(org)).toBe('verified');
  });
});

describe('an older scan that arrives late does not close what a later one of the same day has shown', () => {
  it.each(['partial', 'held'] as const)('if that one was %s', async (kind) => {
    const org = await engine.organization();
    const all = [seen({ asset: repository }), other(repository)];
    await engine.run(org, all, complete(at(1, 1)));
    await engine.run(org, all, kind === 'partial' ? partial(at(1, 15)) : complete(at(1, 15)));
    if (kind === 'held') await engine.admin().query('update run_assets set accepted = false where org_id = $1 and started_at > $2', [org, at(1, 14)]);
    if (kind === 'held')
      await engine
        .admin()
        .query(
          'update source_coverage c set complete_at = r.started_at, complete_import_id = r.import_id from run_assets r where c.org_id = $1 and r.org_id = $1 and r.accepted',
          [org],
        );
    const late = await engine.run(org, [other(repository)], complete(at(1, 14)));
    expect(await statusOf(org)).toBe('open');
    expect(late.notes).toContain(
      '1 finding that the report does not show stays open: a scan that ended after this one began, or took place later and does not count as complete, may have shown the finding.',
    );
    await engine.run(org, [other(repository)], complete(at(1, 16)));
    expect(await statusOf(org)).toBe('verified');
  });
});

describe('a lower version proves nothing about a higher one, in any order', () => {
  const version = (name: string): Asset => ({ type: 'container_image', name: `shop:${name}` });
  it.each([
    ['within a day', at(1, 20)],
    ['later', at(5)],
  ])('scanned %s', async (_, time) => {
    const higher = [[seen({ asset: version('1.10.0') })], complete(at(1))] as const;
    const lower = [[other(version('1.9.0'))], complete(time)] as const;
    for (const runs of [
      [higher, lower],
      [lower, higher],
    ])
      expect(await statusOf(await runAll(runs))).toBe('open');
  });

  it('not even if an earlier report had shown the finding', async () => {
    const first = [[seen({ asset: version('1.8.0') })], complete(at(1, 1))] as const;
    const higher = [[seen({ asset: version('1.10.0') })], complete(at(1, 10))] as const;
    const lower = [[other(version('1.9.0'))], complete(at(1, 20))] as const;
    for (const runs of [
      [first, higher, lower],
      [first, lower, higher],
      [lower, higher, first],
    ])
      expect(await statusOf(await runAll(runs))).toBe('open');
  });

  it('while a later scan of the higher one does', async () => {
    const runs = [
      [[seen({ asset: version('1.10.0') })], complete(at(1))],
      [[other(version('1.9.0'))], complete(at(1, 20))],
      [[other(version('1.10.1'))], complete(at(2))],
    ] as const;
    for (const order of [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ] as const)
      expect(await statusOf(await runAll(order.map((n) => runs[n]))), order.join()).toBe('verified');
  });
});

describe('the proof of one source does not outlive what another one saw later', () => {
  const gone = async (): Promise<string> => {
    const b: ImportOptions = { source: 'tool_b', scope: { coverage: 'complete', started_at: at(3) } };
    return runAll([
      [[seen({ asset: repository }), other(repository)], complete(at(1))],
      [[other(repository)], complete(at(2))],
      [[seen({ asset: repository }), other(repository)], b],
    ]);
  };

  it('if that one takes it back without a fix', async () => {
    const org = await gone();
    expect(await statusOf(org)).toBe('open');
    const version = { component: 'lib', version: '1.0' };
    await engine.run(org, [seen({ asset: repository, location: version })], { source: 'tool_b', scope: { started_at: at(4) } });
    const rest = seen({ asset: repository, vulnerability_ids: ['CVE-2024-0002'], location: version });
    await engine.run(org, [rest, other(repository)], { source: 'tool_b', scope: { coverage: 'complete', started_at: at(5) } });
    expect(await statusOf(org)).toBe('withdrawn');
  });

  it('and it is proven if that one no longer shows it either', async () => {
    const org = await gone();
    await engine.run(org, [other(repository)], { source: 'tool_b', scope: { coverage: 'complete', started_at: at(5) } });
    expect(await statusOf(org)).toBe('verified');
  });
});

describe('an inventory of 4,000 components', () => {
  const ref = (n: number): string => `pkg:npm/lib${n}@1.0.${n}`;
  const sbom = (day: number, components: readonly number[], vulnerable: readonly number[]) => ({
    format: 'cyclonedx',
    name: 'bom.json',
    bytes: Buffer.from(
      JSON.stringify({
        bomFormat: 'CycloneDX',
        specVersion: '1.6',
        metadata: {
          timestamp: at(day),
          tools: { components: [{ type: 'application', name: 'trivy', version: '0.60.0' }] },
          component: { type: 'application', name: 'https://git.example.com/shop', 'bom-ref': 'root' },
        },
        components: components.map((n) => ({ type: 'library', 'bom-ref': ref(n), name: `lib${n}`, version: `1.0.${n}`, purl: ref(n) })),
        vulnerabilities: vulnerable.map((n) => ({ id: `CVE-2024-${10_000 + n}`, ratings: [{ severity: 'high' }], affects: [{ ref: ref(n) }] })),
      }),
    ),
  });
  const all = Array.from({ length: 4_000 }, (_, n) => n);
  const vulnerable = all.filter((n) => n % 20 === 0);

  it('proves the fix of what it no longer lists, and of nothing that it still lists, in both orders', async () => {
    const scope = { coverage: 'complete', asset: scopeAsset } as const;
    const reports = [sbom(1, all, vulnerable), sbom(2, all.slice(400), vulnerable.slice(45))];
    for (const order of [reports, reports.toReversed()]) {
      const org = await engine.organization();
      for (const report of order) expect(await engine.runFile(org, report, scope)).toMatchObject({ status: 'succeeded' });
      const counts = Map.groupBy(await engine.findings(org), ({ status }) => status);
      expect(Object.fromEntries([...counts].map(([status, own]) => [status, own.length]))).toEqual({ verified: 20, withdrawn: 25, open: 155 });
    }
  });
});
