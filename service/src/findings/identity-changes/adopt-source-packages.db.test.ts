import type { Asset, Location } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ImportOptions, seen, useImports } from '../../testing/findings/imports.ts';

const engine = useImports();
let org: string;
beforeEach(async () => {
  org = await engine.organization();
});

type Source = NonNullable<ImportOptions['source']>;
const imageOf = (name: string): Asset => ({ type: 'container_image', name: `registry.example.com/${name}:prod` });
/** A package of a distribution. Only some tools name its source. */
const packaged = (name: string, given: Partial<Location> = {}, asset = 'shop') =>
  seen({ asset: imageOf(asset), location: { component: name, ecosystem: 'deb', version: '3.0.11-1', ...given } });
const run = (source: Source, items: ReturnType<typeof packaged>[], orgId = org) =>
  engine.run(orgId, items, { source, scope: { started_at: '2026-01-01T00:00:00Z' } });

/** The findings that are not merged: asset, component and the tools that see them. */
async function findings(orgId = org): Promise<string[]> {
  const { rows } = await engine.admin().query(
    `select a.name as asset, f.status, array_agg(distinct o.provider order by o.provider) as tools, f.place_count from findings f join assets a on a.org_id = f.org_id and a.id = f.asset_id
     join sightings s on s.org_id = f.org_id and s.finding_id = f.id join sources o on o.org_id = s.org_id and o.id = s.source_id
     where f.org_id = $1 and f.merged_into is null group by f.org_id, f.id, a.name order by 1, 3`,
    [orgId],
  );
  return rows.map(({ asset, status, tools }) => `${asset.replace(/^.*\//, '')} ${tools.join()} ${status}`);
}

const unnamed = [packaged('libssl3'), packaged('libcrypto3')];
const other = packaged('libcrypto3', { source_package: 'openssl' });
const elsewhere = packaged('libssl3', { source_package: 'openssl' }, 'blog');

describe('the source of a package', () => {
  it('that another report of the organization states is used when a tool does not name it', async () => {
    await run('tool_b', [elsewhere, packaged('libcrypto3', { source_package: 'openssl' }, 'blog')]);
    await run('tool_a', unnamed);
    expect(await findings()).toEqual(['blog tool_b open', 'shop tool_a open']);
    const { rows } = await engine
      .admin()
      .query('select ecosystem, binary_package, source_package, provider, import_id from source_packages where org_id = $1 order by 2', [org]);
    expect(rows).toMatchObject([
      { ecosystem: 'deb', binary_package: 'libcrypto3', source_package: 'openssl', provider: 'tool_b', import_id: expect.any(String) },
      { binary_package: 'libssl3', source_package: 'openssl' },
    ]);
    const theirs = await engine.organization();
    await run('tool_a', unnamed, theirs);
    expect(await findings(theirs)).toHaveLength(2);
  });

  it('gives the same findings whichever report came first', async () => {
    const reports: [Source, ReturnType<typeof packaged>[]][] = [
      ['tool_a', unnamed],
      ['tool_b', [other]],
      ['tool_c', [elsewhere]],
    ];
    for (const order of [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ]) {
      const orgId = await engine.organization();
      for (const at of order) await run(...(reports[at] as (typeof reports)[number]), orgId);
      expect(await findings(orgId), order.join()).toEqual(['blog tool_c open', 'shop tool_a,tool_b open']);
      // Repeated reports are recognized at the finding that stayed, which now stands for two records.
      expect(await run('tool_a', unnamed, orgId)).toMatchObject({ created: 0 });
      expect(await run('tool_a', unnamed, orgId)).toMatchObject({ created: 0, updated: 0 });
      expect(await findings(orgId), order.join()).toEqual(['blog tool_c open', 'shop tool_a,tool_b open']);
    }
  });

  it('is inferred from the same vulnerability in the same version on one asset, if there is one candidate', async () => {
    await run('tool_a', [packaged('libssl3')]);
    await run('tool_b', [other]);
    expect(await findings()).toEqual(['shop tool_a,tool_b open']);
    const { rows } = await engine.admin().query('select 1 from source_packages where org_id = $1 and binary_package = $2', [org, 'libssl3']);
    expect(rows).toEqual([]);
  });

  it('is inferred in every order, also if the finding is shown with the package that has the name of the source', async () => {
    const shown = { ...packaged('openssl'), severity: 'critical' as const };
    const cases: [Source, ReturnType<typeof packaged>[]][][] = [
      [
        ['tool_a', [packaged('libssl3')]],
        ['tool_b', [other, shown]],
      ],
      [
        ['tool_a', [packaged('libssl3')]],
        ['tool_b', [other]],
        ['tool_c', [shown]],
      ],
    ];
    for (const reports of cases) {
      for (const order of reports.length === 2 ? ['01', '10'] : ['012', '021', '102', '120', '201', '210']) {
        const orgId = await engine.organization();
        for (const [source, items] of [...order].flatMap((at) => reports.slice(Number(at), Number(at) + 1))) await run(source, items, orgId);
        expect(await findings(orgId), order).toEqual([`shop ${reports.map(([tool]) => tool).join()} open`]);
      }
    }
  });

  it('is inferred in every order from the title, if no tool names it', async () => {
    const titled = (name: string, title: string) => ({ ...packaged(name), title });
    const both = (title: string) => [titled('libblkid', title), titled('util-linux', title)];
    const first = async (title: string, order: readonly Source[]) => {
      const orgId = await engine.organization();
      for (const source of order) await run(source, both(source === 'tool_a' ? title : 'Denial of service'), orgId);
      return findings(orgId);
    };
    for (const order of [
      ['tool_a', 'tool_b'],
      ['tool_b', 'tool_a'],
    ] as const) {
      expect(await first('Util-Linux: denial of service', order)).toEqual(['shop tool_a,tool_b open']);
      for (const title of ['util-linux: libblkid: denial of service', 'util-linux denial of service', 'util: denial of service'])
        expect(await first(title, order)).toEqual(['shop tool_a,tool_b open', 'shop tool_a,tool_b open']);
    }
  });

  it.each([
    ['another version', [packaged('libcrypto3', { source_package: 'openssl', version: '3.0.12-1' })]],
    ['another asset', [packaged('libcrypto3', { source_package: 'openssl' }, 'blog')]],
    ['another ecosystem', [packaged('libcrypto3', { source_package: 'openssl', ecosystem: 'rpm' })]],
    ['two candidates', [other, packaged('libcompat', { source_package: 'compat-openssl' })]],
    ['a package that is its own source', [packaged('openssl')]],
  ])('is not inferred from %s', async (_, items) => {
    await run('tool_b', items);
    await run('tool_a', [packaged('libssl3')]);
    expect(await findings()).toContain('shop tool_a open');
  });

  it('that a tool states is not replaced by what others say', async () => {
    await run('tool_b', [elsewhere]);
    await run('tool_a', [packaged('libssl3', { source_package: 'openssl-legacy' })]);
    await run('tool_c', [packaged('libssl3', { source_package: 'openssl' })]);
    expect(await findings()).toEqual(['blog tool_b open', 'shop tool_a open', 'shop tool_c open']);
  });

  it('may differ between releases of a distribution', async () => {
    const of = (release: string) => ({ purl: `pkg:deb/debian/libgcc-s1@1?distro=debian-${release}` });
    await run('tool_b', [
      packaged('libgcc-s1', { ...of('11'), source_package: 'gcc-10' }, 'old'),
      packaged('libgcc-s1', { ...of('12'), source_package: 'gcc-12' }, 'new'),
    ]);
    await run('tool_a', [packaged('libgcc-s1', of('12'), 'new'), packaged('libgcc-s1', of('11'), 'old'), packaged('libgcc-s1', {}, 'unknown')]);
    expect(await findings()).toEqual(['new tool_a,tool_b open', 'old tool_a,tool_b open', 'unknown tool_a open']);
  });

  it.each([
    ['deb', 'debian-12', 'debian-12.5'],
    ['rpm', 'rhel-8.7', 'redhat-8.9'],
    ['rpm', 'ol-9.1', 'oracle-9.2'],
    ['apk', 'alpine-3.18', 'alpine-3.18.4'],
  ])('is the same in all minor versions and under all names of a distribution: %s, %s and %s', async (ecosystem, stated, other) => {
    const both = (asset: string, distro: string, given: Partial<Location> = {}) =>
      ['libgcc', 'libgomp'].map((name) => packaged(name, { ecosystem, purl: `pkg:${ecosystem}/x/${name}@1?distro=${distro}`, ...given }, asset));
    await run('tool_b', both('old', stated, { source_package: 'gcc' }));
    await run('tool_a', both('new', other));
    expect(await findings()).toEqual(['new tool_a open', 'old tool_b open']);
  });

  it('merges findings with different decisions into the least closed one', async () => {
    await run('tool_a', unnamed);
    await engine
      .admin()
      .query(
        `update findings set status = 'false_positive', justification = 'inaccurate_finding', closed_at = now() where org_id = $1 and component = 'libssl3'`,
        [org],
      );
    await run('tool_b', [other, packaged('libssl3', { source_package: 'openssl' })]);
    expect(await findings()).toEqual(['shop tool_a,tool_b open']);
    const { rows } = await engine.admin().query(`select kind, reason from identity_rules where org_id = $1`, [org]);
    expect(rows).toEqual([{ kind: 'source_package', reason: 'The packages are built from one source package.' }]);
  });
});

it('takes its share of time if one weakness is in many packages', async () => {
  const all = Array.from({ length: 400 }, (_, n) => n);
  const started = performance.now();
  await run(
    'tool_a',
    all.map((n) => packaged(`lib${n}`)),
  );
  const reported = performance.now();
  await run(
    'tool_b',
    all.map((n) => packaged(`lib${n}`, { source_package: `source${n >> 2}` })),
  );
  expect(await findings()).toHaveLength(100);
  // The second import merges 300 findings. If every package were compared with every other one, it would take about 17 times as long.
  expect(performance.now() - reported).toBeLessThan(9 * (reported - started));
});
