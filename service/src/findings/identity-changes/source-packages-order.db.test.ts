import type { Asset, Location, Observation } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { systemActor } from '../../shared/actor.ts';
import { type ImportOptions, seen, useImports } from '../../testing/findings/imports.ts';
import { updateFinding } from '../triage/triage.ts';
import { splitByHand } from './by-hand.ts';

const engine = useImports();

const tools = ['tool_a', 'tool_b', 'tool_c'] as const;
const imageOf = (name: string): Asset => ({ type: 'container_image', name: `registry.example.com/${name}:prod` });
const inPackage = (component: string, given: Partial<Location>, asset = 'shop'): Observation =>
  seen({ asset: imageOf(asset), location: { component, ecosystem: 'deb', version: '3.0.11-1', ...given } });
/** As Trivy writes a package, and, with the source, as Grype does. */
const packaged = (name: string, { source = '', release = '12', asset = 'shop' } = {}): Observation =>
  inPackage(name, { purl: `pkg:deb/debian/${name}@3.0.11-1?distro=debian-${release}${source === '' ? '' : `&upstream=${source}`}` }, asset);
const purl = 'pkg:deb/debian/libssl3@3.0.11-1?distro=debian-12';

const run = (org: string, source: NonNullable<ImportOptions['source']>, items: Observation[], day = 1) =>
  engine.run(org, items, { source, scope: { started_at: `2026-01-0${day}T00:00:00Z` } });

/** Live findings: asset, component, number of places and the tools that see them. */
async function findings(org: string): Promise<string[]> {
  const { rows } = await engine.admin().query<{ line: string }>(
    `select concat_ws(' ', regexp_replace(a.name, '^.*/', ''), f.component_key, f.place_count, (
       select string_agg(distinct o.provider, ',' order by o.provider) from sightings s join sources o on o.org_id = s.org_id and o.id = s.source_id
       where s.org_id = f.org_id and s.finding_id = f.id)) as line
     from findings f join assets a on a.org_id = f.org_id and a.id = f.asset_id where f.org_id = $1 and f.merged_into is null order by 1`,
    [org],
  );
  return rows.map(({ line }) => line);
}

function ordersOf<T>(all: readonly T[]): T[][] {
  return all.length === 0 ? [[]] : all.flatMap((one, at) => ordersOf(all.toSpliced(at, 1)).map((others) => [one, ...others]));
}

const unnamed = [packaged('libssl3'), packaged('openssl')];
const named = [packaged('libssl3', { source: 'openssl' }), packaged('openssl')];

describe('in every order of the reports', () => {
  it.each<[string, Observation[][], string[]]>([
    [
      'a package URL that contradicts the name says nothing about other assets',
      [unnamed, named, [inPackage('openssl', { purl }, 'blog')]],
      ['blog deb/libssl3 1 tool_c', 'shop deb/openssl 2 tool_a,tool_b'],
    ],
    [
      'nor does it if no report names a source',
      [unnamed, [inPackage('openssl', { purl }, 'blog')]],
      ['blog deb/libssl3 1 tool_b', 'shop deb/libssl3 1 tool_a', 'shop deb/openssl 1 tool_a'],
    ],
    [
      'nor with the source of another package',
      [unnamed, [inPackage('curl', { purl: `${purl}&upstream=openssl` }, 'blog')]],
      ['blog deb/openssl 1 tool_b', 'shop deb/libssl3 1 tool_a', 'shop deb/openssl 1 tool_a'],
    ],
    [
      'nor in another ecosystem',
      [unnamed, named, [inPackage('openssl', { ecosystem: 'generic', purl }, 'blog')]],
      ['blog deb/libssl3 1 tool_c', 'shop deb/openssl 2 tool_a,tool_b'],
    ],
    ['on the same asset, it is about the package of the URL', [unnamed, named, [inPackage('openssl', { purl })]], ['shop deb/openssl 2 tool_a,tool_b,tool_c']],
    [
      'and so it is if no report names a source',
      [unnamed, [inPackage('openssl', { purl })]],
      ['shop deb/libssl3 1 tool_a,tool_b', 'shop deb/openssl 1 tool_a'],
    ],
    [
      'a name without ecosystem means the source',
      [unnamed, named, [inPackage('openssl', { ecosystem: 'generic' })]],
      ['shop deb/openssl 3 tool_a,tool_b,tool_c'],
    ],
    [
      'an escaped name in a package URL is no other name',
      [[inPackage('libstdc++6', { purl: 'pkg:deb/debian/libstdc%2B%2B6@1?distro=debian-12' })], [packaged('libstdc++6', { source: 'gcc-12', asset: 'blog' })]],
      ['blog deb/gcc-12 1 tool_b', 'shop deb/gcc-12 1 tool_a'],
    ],
    [
      'a package that moved to another source keeps that of its release',
      [
        [packaged('libgcc', { release: '11' }), packaged('libgcc', { release: '12', asset: 'blog' })],
        [packaged('libgcc', { release: '11', source: 'gcc-10', asset: 'old' })],
        [packaged('libgcc', { release: '12', source: 'gcc-12', asset: 'new' })],
      ],
      ['blog deb/gcc-12 1 tool_a', 'new deb/gcc-12 1 tool_c', 'old deb/gcc-10 1 tool_b', 'shop deb/gcc-10 1 tool_a'],
    ],
    [
      'a source in an unknown release is not that of a known one',
      [
        [packaged('libgcc', { release: '11' })],
        [inPackage('libgcc', { source_package: 'gcc-10' }, 'old')],
        [packaged('libgcc', { source: 'gcc-12', asset: 'new' })],
      ],
      ['new deb/gcc-12 1 tool_c', 'old deb/gcc-10 1 tool_b', 'shop deb/libgcc 1 tool_a'],
    ],
    [
      'the source in a known release is not that in an unknown one',
      [
        [inPackage('libgcc', {}), inPackage('libgomp', {})],
        [packaged('libgcc', { source: 'gcc-12', asset: 'new' })],
        [packaged('libgcc', { release: '11', source: 'gcc-10', asset: 'old' })],
      ],
      ['new deb/gcc-12 1 tool_b', 'old deb/gcc-10 1 tool_c', 'shop deb/libgcc 1 tool_a', 'shop deb/libgomp 1 tool_a'],
    ],
    [
      'the places of both packages of one tool are kept',
      [unnamed, [packaged('libssl3', { source: 'openssl', asset: 'blog' })]],
      ['blog deb/openssl 1 tool_b', 'shop deb/openssl 2 tool_a'],
    ],
  ])('%s', async (_, reports, expected) => {
    // Each record has a severity of its own. Of equal ones, a digest decides which is shown, and it is another one in each organization.
    const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;
    const ranked = reports.map((items, n) => ({
      tool: tools[n] ?? 'tool_a',
      items: items.map((item, at): Observation => ({ ...item, severity: severities[reports.slice(0, n).flat().length + at] ?? 'unknown' })),
    }));
    const states = [];
    for (const order of ordersOf(ranked)) {
      const org = await engine.organization();
      for (const { tool, items } of order) await run(org, tool, items);
      expect(await findings(org), order.map(({ tool }) => tool).join()).toEqual(expected);
      states.push((await engine.stateOf(org, { lawful: true })).findings);
    }
    for (const state of states) expect(state).toEqual(states[0]);
  });
});

it('what a report states does not count in another organization', async () => {
  const [org, theirs] = [await engine.organization(), await engine.organization()];
  await run(theirs, 'tool_b', [packaged('libssl3', { source: 'openssl' }), inPackage('openssl', { purl })]);
  await run(org, 'tool_a', unnamed);
  expect(await findings(org)).toEqual(['shop deb/libssl3 1 tool_a', 'shop deb/openssl 1 tool_a']);
});

describe('packages that a person has separated', () => {
  it.each([
    ['a report of another asset', [packaged('libssl3', { source: 'openssl', asset: 'blog' })]],
    ['another package of the asset', [packaged('libcrypto3', { source: 'openssl' })]],
  ])('stay apart, if %s had named the source', async (_, stating) => {
    const org = await engine.organization();
    await run(org, 'tool_a', unnamed);
    await run(org, 'tool_b', stating);
    const { rows } = await engine.admin().query<{ id: string }>('select id from findings where org_id = $1 and merged_into is not null', [org]);
    const actor = systemActor(org, 'Ada');
    await engine.db().withTenant({ orgId: org }, (tx) => splitByHand(tx, actor, engine.follower, { id: rows[0]?.id ?? '', reason: 'another library' }));
    const apart = (await findings(org)).filter((line) => line.startsWith('shop'));
    expect(apart.map((line) => line.split(' ')[1])).toEqual(['deb/libssl3', 'deb/openssl']);
    await run(
      org,
      'tool_a',
      unnamed.map((one) => ({ ...one, title: 'again' })),
      2,
    );
    await run(org, 'tool_c', unnamed, 2);
    expect((await findings(org)).filter((line) => line.startsWith('shop'))).toEqual(apart.map((line) => line.replace(/$/, ',tool_c')));
  });
});

it('a decision about packages that became one holds when the next report shows both', async () => {
  const org = await engine.organization();
  await run(org, 'tool_a', unnamed);
  await run(org, 'tool_b', [packaged('libssl3', { source: 'openssl', asset: 'blog' })]);
  const [finding] = (await engine.findings(org)).filter(({ asset, sightings }) => asset.includes('shop') && sightings.length > 0);
  const patch = { status: 'false_positive', justification: 'code_not_reachable', reason: 'never called' } as const;
  const decided = { id: finding?.id ?? '', patch, check: () => {} };
  await engine.db().withTenant({ orgId: org }, (tx) => updateFinding(tx, systemActor(org, 'Ada'), decided, engine.follower));
  await run(org, 'tool_a', unnamed, 2);
  expect((await engine.findings(org)).filter(({ id }) => id === finding?.id)).toMatchObject([{ status: 'false_positive' }]);
});
