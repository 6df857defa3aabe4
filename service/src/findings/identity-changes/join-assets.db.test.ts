import type { Asset, AssetIdentifier, Observation } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { mergeAssets } from '../../assets/merging/merge-assets.ts';
import { readSimilar } from '../../assets/merging/similar-assets.ts';
import { unmergeAssets } from '../../assets/merging/unmerge-assets.ts';
import { systemActor } from '../../shared/actor.ts';
import { type ImportOptions, seen, useImports } from '../../testing/findings/imports.ts';
import { followAsset } from './follow-asset.ts';

const engine = useImports();

const host = (name: string, ...identifiers: AssetIdentifier[]): Asset => ({ type: 'host', name, identifiers });
const ip = (value: string): AssetIdentifier => ({ kind: 'ip', value });
const fqdn = (value: string): AssetIdentifier => ({ kind: 'fqdn', value });

const mac = (value: string): AssetIdentifier => ({ kind: 'mac', value });

const byAddress = host('192.0.2.10', ip('192.0.2.10'));
const byMac = host('192.0.2.10', mac('00:00:5e:00:53:01'), ip('192.0.2.10'));
const byName = host('web.example.com', fqdn('web.example.com'));
const byBoth = host('web.example.com', fqdn('web.example.com'), mac('00:00:5e:00:53:01'));

const check = (asset: Asset, rule: string, port = 443): Observation => seen({ asset, rule, location: { port, protocol: 'tcp' } });
const at = (day: number, coverage: 'complete' | 'partial' = 'partial'): ImportOptions => ({ scope: { started_at: `2026-01-0${day}T00:00:00Z`, coverage } });

const assetsOf = async (org: string) =>
  (await engine.admin().query<{ name: string }>('select name from assets where org_id = $1 and merged_into is null order by name', [org])).rows.map(
    ({ name }) => name,
  );

describe('two hosts that turn out to be one', () => {
  it.each(['complete', 'partial'] as const)('have the same findings as if they had been one from the beginning, in %s runs', async (coverage) => {
    const [forward, backward] = [await engine.organization(), await engine.organization()];
    const older = [check(byMac, 'a'), check(byMac, 'b'), check(byName, 'a'), check(byName, 'c')];
    const newer = [check(byBoth, 'b'), check(byBoth, 'd')];
    await engine.run(forward, older, at(1, coverage));
    expect(await assetsOf(forward)).toEqual(['192.0.2.10', 'web.example.com']);
    await engine.run(forward, newer, at(2, coverage));
    await engine.run(backward, newer, at(2, coverage));
    await engine.run(backward, older, at(1, coverage));
    expect(await assetsOf(forward)).toEqual(['web.example.com']);
    expect(await engine.stateOf(forward, { lawful: true })).toEqual(await engine.stateOf(backward, { lawful: true }));
  });

  it('stay apart if a name contradicts, or if they only share an address', async () => {
    const org = await engine.organization();
    const web = host('web.example.com', fqdn('web.example.com'), ip('192.0.2.10'));
    const mail = host('mail.example.com', fqdn('mail.example.com'), ip('192.0.2.10'));
    const named = host('db', { kind: 'hostname', value: 'db' }, ip('192.0.2.11'));
    await engine.run(org, [check(web, 'a'), check(mail, 'a'), check(named, 'a')], at(1));
    await engine.run(org, [check(byAddress, 'a'), check(host('mail.example.com', fqdn('mail.example.com'), ip('192.0.2.11')), 'a')], at(2));
    expect(await assetsOf(org)).toEqual(['192.0.2.10', 'db', 'mail.example.com', 'web.example.com']);
  });

  it.each(['before', 'after'] as const)(
    'stay apart if one report names both at the address of a host of which nothing else is known, %s them',
    async (when) => {
      const org = await engine.organization();
      const [web, mail] = ['web', 'mail'].map((name) => host(`${name}.example.com`, fqdn(`${name}.example.com`), ip('192.0.2.10'))) as [Asset, Asset];
      const unnamed = () => engine.run(org, [check(byAddress, 'a')], at(1));
      if (when === 'before') await unnamed();
      await engine.run(org, [check(web, 'b'), check(mail, 'c')], at(2));
      if (when === 'after') await unnamed();
      expect(await assetsOf(org)).toEqual(['192.0.2.10', 'mail.example.com', 'web.example.com']);
      const { rows } = await engine
        .admin()
        .query('select f.weakness, a.name from findings f join assets a on a.id = f.asset_id where f.org_id = $1 order by 1', [org]);
      expect(rows.map(({ weakness, name }) => [weakness, name])).toEqual([
        ['tool:a', '192.0.2.10'],
        ['tool:b', 'web.example.com'],
        ['tool:c', 'mail.example.com'],
      ]);
    },
  );

  it('stay apart once a person has separated them', async () => {
    const org = await engine.organization();
    await engine.run(org, [check(byMac, 'a'), check(byName, 'a')], at(1));
    await engine.run(org, [check(byBoth, 'a')], at(2));
    const actor = systemActor(org, 'Ada');
    const { rows } = await engine.admin().query<{ id: string }>('select id from assets where org_id = $1 and merged_into is null', [org]);
    await engine
      .db()
      .withTenant({ orgId: org }, (tx) => unmergeAssets(tx, actor, followAsset(engine.follower), { id: rows[0]?.id ?? '', reason: 'another host' }));
    await engine.run(org, [check(byBoth, 'a')], at(3));
    expect(await assetsOf(org)).toHaveLength(2);
  });
});

describe('a host that is known only by its address', () => {
  it('is the host that a person merged it with, also in later reports, and no other host at the address is', async () => {
    for (const order of [
      [byAddress, byMac],
      [byMac, byAddress],
    ] as const) {
      const org = await engine.organization();
      for (const [day, asset] of order.entries()) await engine.run(org, [check(asset, 'a')], at(day + 1));
      const { rows } = await engine.admin().query<{ id: string }>('select id from assets where org_id = $1 order by created_at', [org]);
      const [into = '', id = ''] = rows.map((asset) => asset.id);
      const actor = systemActor(org, 'Ada');
      await engine.db().withTenant({ orgId: org }, (tx) => mergeAssets(tx, actor, followAsset(engine.follower), { id, into, reason: 'the same host' }));
      await engine.run(org, [check(byAddress, 'b')], at(3));
      await engine.run(org, [check(byMac, 'c')], at(4));
      expect(await assetsOf(org)).toEqual(['192.0.2.10']);
      await engine.run(org, [check(host('192.0.2.10', mac('00:00:5e:00:53:02'), ip('192.0.2.10')), 'd')], at(5));
      expect(await assetsOf(org)).toEqual(['192.0.2.10', '192.0.2.10']);
    }
  });
});

it('assets that share an address or the path of a repository are shown as similar', async () => {
  const org = await engine.organization();
  const named = host('db.example.com', fqdn('db.example.com'), ip('192.0.2.10'));
  const [path, whole, folder] = ['shop/api', 'https://github.example/shop/api', '/home/runner/work/api/api'].map(
    (name): Asset => ({ type: 'repository', name }),
  );
  const assets = [byAddress, byMac, named, path, whole, folder].map((asset) => asset as Asset);
  await engine.run(
    org,
    assets.map((asset) => check(asset, 'a')),
    at(1),
  );
  const similarTo = (name: string, known: number) =>
    engine.db().withTenant({ orgId: org }, async (tx) => {
      const rows = await tx.selectFrom('assets').selectAll().where('org_id', '=', org).where('name', '=', name).orderBy('id').execute();
      expect(rows).toHaveLength(known);
      return (await Promise.all(rows.map((asset) => readSimilar(tx, asset)))).flat().map(({ name, shared }) => [name, ...shared.map(({ value }) => value)]);
    });
  expect(await similarTo('db.example.com', 1)).toEqual([
    ['192.0.2.10', '192.0.2.10'],
    ['192.0.2.10', '192.0.2.10'],
  ]);
  expect(await similarTo('192.0.2.10', 2)).toContainEqual(['db.example.com', '192.0.2.10']);
  expect(await similarTo('shop/api', 1)).toEqual([['github.example/shop/api', 'shop/api']]);
  expect(await similarTo('/home/runner/work/api/api', 1)).toEqual([
    ['github.example/shop/api', 'api'],
    ['shop/api', 'api'],
  ]);
});

describe('a name without its domain or server', () => {
  const hostname: AssetIdentifier = { kind: 'hostname', value: 'web1' };
  const full = (name: string) => host(name, fqdn(name), hostname);
  const code = (name: string): Asset => ({ type: 'repository', name });

  it.each([
    ['host', host('web1'), full('web1.a.example'), host('192.0.2.10', hostname, ip('192.0.2.10')), full('web1.b.example')],
    ['repository', code('shop/api'), code('https://github.example/shop/api'), code('/builds/shop/api'), code('https://gitlab.example/shop/api')],
  ])('means the %s that a person merged it with, also in later reports, and no other one with the name', async (_, short, long, shortToo, other) => {
    for (const order of [
      [short, long],
      [long, short],
    ]) {
      const org = await engine.organization();
      for (const [day, asset] of order.entries()) await engine.run(org, [check(asset, 'a')], at(day + 1));
      const { rows } = await engine.admin().query<{ id: string }>('select id from assets where org_id = $1 order by created_at', [org]);
      const [into = '', id = ''] = rows.map((asset) => asset.id);
      const actor = systemActor(org, 'Ada');
      await engine.db().withTenant({ orgId: org }, (tx) => mergeAssets(tx, actor, followAsset(engine.follower), { id, into, reason: 'the same' }));
      for (const [day, asset] of [long, shortToo, long, short].entries()) await engine.run(org, [check(asset, 'b')], at(day + 3));
      expect(await assetsOf(org)).toHaveLength(1);
      await engine.run(org, [check(other, 'b')], at(7));
      await engine.run(org, [check(short, 'c')], at(8));
      expect(await assetsOf(org)).toHaveLength(2);
      await engine.db().withTenant({ orgId: org }, (tx) => unmergeAssets(tx, actor, followAsset(engine.follower), { id, reason: 'not the same' }));
      for (const asset of [short, long, other]) await engine.run(org, [check(asset, 'd')], at(9));
      expect(await assetsOf(org)).toHaveLength(3);
    }
  });
});

describe('two machines with one name', () => {
  const machine = (value: string) => host('web.example.com', fqdn('web.example.com'), mac(`00:00:5e:00:53:0${value}`));
  const statuses = async (org: string) => (await engine.findings(org)).map(({ status }) => status).toSorted();

  it('are two assets, also in one report, and a scan of one proves nothing about the other', async () => {
    const org = await engine.organization();
    await engine.run(org, [check(machine('1'), 'a')], at(1, 'complete'));
    await engine.run(org, [check(machine('1'), 'b'), check(machine('2'), 'a')], at(2, 'complete'));
    expect(await assetsOf(org)).toEqual(['web.example.com', 'web.example.com']);
    expect(await statuses(org)).toEqual(['open', 'open', 'verified']);
  });

  it('are none that has only the name: it is not known which is meant', async () => {
    const org = await engine.organization();
    await engine.run(org, [check(byName, 'a'), check(machine('1'), 'a'), check(machine('2'), 'a')], at(1, 'complete'));
    expect(await assetsOf(org)).toHaveLength(3);
    await engine.run(org, [{ run: { asset: byName } }], at(2, 'complete'));
    expect(await statuses(org)).toEqual(['open', 'open', 'verified']);
    for (const asset of [machine('1'), byName, machine('2'), machine('3')]) await engine.run(org, [check(asset, 'b')], at(3));
    expect(await assetsOf(org)).toHaveLength(4);
  });
});

describe('a project that only has a name', () => {
  it('is not the repository with that name, so that decisions about one do not cover the other', async () => {
    const org = await engine.organization();
    const lodash = (name: string): Observation => seen({ asset: { type: 'repository', name }, location: { component: 'lodash', ecosystem: 'npm' } });
    await engine.run(org, [lodash('https://github.com/acme/shop')]);
    await engine.run(org, [lodash('shop')], { source: 'tool_b' });
    expect(await assetsOf(org)).toEqual(['github.com/acme/shop', 'shop']);
    await engine.run(org, [lodash('other/shop')], { source: 'tool_b' });
    expect(await assetsOf(org)).toEqual(['github.com/acme/shop', 'other/shop', 'shop']);
    // The server of a path is not known, so it is none of the repositories with that path.
    await engine.run(org, [lodash('acme/shop')], { source: 'tool_c' });
    expect(await assetsOf(org)).toEqual(['acme/shop', 'github.com/acme/shop', 'other/shop', 'shop']);
  });
});
