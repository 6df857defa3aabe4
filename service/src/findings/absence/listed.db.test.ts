import type { Asset, RunFacts } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemActor } from '../../shared/actor.ts';
import { newId } from '../../shared/ids.ts';
import { type ImportOptions, type Item, seen, useImports } from '../../testing/findings/imports.ts';
import { confirmImport } from '../import/manage-imports.ts';
import { updateFinding } from '../triage/triage.ts';

/** What follows from the assets, checks and files that a report lists. */
const engine = useImports();
let org: string;
beforeEach(async () => {
  org = await engine.organization();
});

const at = (day: number): string => new Date(Date.UTC(2026, 0, day, 12)).toISOString();
const hostOf = (name: string): Asset => ({ type: 'host', name: `${name}.example.com` });
const on = (name: string, cve = 'CVE-2024-0001'): Item => seen({ asset: hostOf(name), vulnerability_ids: [cve] });
const statusByAsset = async () => Object.fromEntries((await engine.findings(org)).map(({ asset, status }) => [asset.split('.')[0], status]));
const reasons = async () =>
  (
    await engine.admin().query<{ reason_code: string }>('select distinct reason_code from findings where org_id = $1 and reason_code is not null', [org])
  ).rows.map(({ reason_code }) => reason_code);
const retired = async () =>
  (await engine.admin().query<{ name: string }>('select name from assets where org_id = $1 and retired_at is not null order by 1', [org])).rows.map(
    ({ name }) => name.split('.')[0],
  );

describe('an asset that its source no longer lists', () => {
  let connection: string;
  beforeEach(() => {
    connection = newId();
  });
  /** A complete run of a connection: a finding on each of `found`, and further assets without findings. */
  const sync = (day: number, found: readonly string[], clean: readonly string[] = [], items: readonly Item[] = found.map((name) => on(name))) =>
    engine.collect(org, connection, { items, covers: [...found, ...clean].map(hostOf), scope: { coverage: 'complete', started_at: at(day) } });

  it('is retired after the second complete run without it, which proves no fix, and is back when it is listed again', async () => {
    await sync(1, ['web', 'db']);
    expect(await sync(2, ['web'])).toMatchObject({ closed: 0 });
    expect(await statusByAsset()).toEqual({ web: 'open', db: 'open' });
    expect(await sync(3, ['web'])).toMatchObject({ closed: 1 });
    expect(await statusByAsset()).toEqual({ web: 'open', db: 'withdrawn' });
    expect(await reasons()).toEqual(['asset_gone']);
    expect(await retired()).toEqual(['db']);
    await sync(4, ['web', 'db']);
    expect(await statusByAsset()).toEqual({ web: 'open', db: 'open' });
    expect(await retired()).toEqual([]);
    await sync(5, ['web'], ['db']);
    expect(await statusByAsset()).toEqual({ web: 'open', db: 'verified' });
  });

  it('keeps the acceptance of a risk, which holds again when the asset is back', async () => {
    await sync(1, ['web', 'db']);
    const [finding] = (await engine.findings(org)).filter(({ asset }) => asset.startsWith('db'));
    const patch = { status: 'risk_accepted', owner: 'ada', reason: 'for now', expires_at: new Date(Date.now() + 86_400_000).toISOString() } as const;
    await engine
      .db()
      .withTenant({ orgId: org }, (tx) => updateFinding(tx, systemActor(org, 'Ada'), { id: finding?.id ?? '', patch, check: () => {} }, engine.follower));
    for (const day of [2, 3]) await sync(day, ['web']);
    expect(await statusByAsset()).toEqual({ web: 'open', db: 'withdrawn' });
    await sync(4, ['web', 'db']);
    expect(await statusByAsset()).toEqual({ web: 'open', db: 'risk_accepted' });
  });

  it('stays if the runs are not consecutive, not complete, or the same one again', async () => {
    await sync(1, ['web', 'db']);
    await sync(2, ['web']);
    await sync(3, ['web', 'db']);
    await sync(4, ['web']);
    await sync(4, ['web']);
    await engine.collect(org, connection, { items: [on('web')], covers: [hostOf('web')], scope: { started_at: at(5) } });
    await engine.collect(org, newId(), { items: [on('web')], covers: [hostOf('web')], scope: { coverage: 'complete', started_at: at(6) } });
    expect(await statusByAsset()).toEqual({ web: 'open', db: 'open' });
  });

  it('stays in use if another source has it', async () => {
    await sync(1, ['web', 'db']);
    await engine.run(org, [on('db', 'CVE-2024-0002')], { source: 'tool_b', scope: { coverage: 'complete', started_at: at(1) } });
    for (const day of [2, 3]) await sync(day, ['web']);
    expect((await engine.findings(org)).map(({ weakness, status }) => `${weakness} ${status}`).sort()).toEqual([
      'CVE-2024-0001 open',
      'CVE-2024-0001 withdrawn',
      'CVE-2024-0002 open',
    ]);
    expect(await retired()).toEqual([]);
  });

  it('waits for confirmation if it has unusually many findings', async () => {
    const many = Array.from({ length: 60 }, (_, n) => on('db', `CVE-2024-${1000 + n}`));
    await sync(1, ['web', 'db'], [], [on('web'), ...many]);
    await sync(2, ['web']);
    const held = await sync(3, ['web']);
    expect(held).toMatchObject({ status: 'needs_confirmation', closed: 0 });
    expect(await retired()).toEqual([]);
    await engine.db().withTenant({ orgId: org }, (tx) => confirmImport(tx, systemActor(org, 'Ada'), held.id, engine.follower));
    expect(await statusByAsset()).toEqual({ web: 'open', db: 'withdrawn' });
    expect(await retired()).toEqual(['db']);
  });

  it('only ends a tag of an image that has others', async () => {
    const image = (tag: string): Asset => ({ type: 'container_image', name: `registry.example.com/pay:${tag}` });
    const run = (day: number, ...tags: string[]) =>
      engine.collect(org, connection, {
        items: tags.map((tag) => seen({ asset: image(tag) })),
        covers: [],
        scope: { coverage: 'complete', started_at: at(day) },
      });
    await run(1, 'prod', 'staging');
    await run(2, 'prod');
    await run(3, 'prod');
    expect(await engine.findings(org)).toMatchObject([{ status: 'open', sightings: [{ state: 'present' }, { state: 'absent' }] }]);
    expect(await retired()).toEqual([]);
  });

  const upload = (day: number, names: readonly string[], scope: ImportOptions['scope'] = {}, more: readonly Item[] = []) =>
    engine.run(org, [...names.map((name) => on(name)), ...more], { scope: { coverage: 'complete', started_at: at(day), ...scope } });

  it('is not concluded from reports about one asset, or about another part of the network', async () => {
    await upload(1, ['a1', 'a2', 'a3']);
    for (const day of [2, 3, 4]) await upload(day, ['b1', 'b2', `b${day}`]);
    for (const day of [5, 6, 7]) await upload(day, ['a1']);
    for (const day of [8, 9]) await upload(day, ['a1', 'a2'], { assets: [hostOf('a1'), hostOf('a2')] });
    expect(await statusByAsset()).toMatchObject({ a1: 'open', a2: 'open', a3: 'open', b2: 'open' });
  });

  it('is concluded from reports that list most of the same assets', async () => {
    await upload(1, ['a1', 'a2', 'a3']);
    await upload(2, ['a1', 'a2', 'a4']);
    await upload(3, ['a1', 'a2', 'a4']);
    expect(await statusByAsset()).toEqual({ a1: 'open', a2: 'open', a3: 'withdrawn', a4: 'open' });
  });

  it('takes along what a report only calls fixed, which a scan of the asset verifies if it is back', async () => {
    await upload(1, ['a1', 'a2', 'a3']);
    const fixed = seen({ asset: hostOf('a3'), vulnerability_ids: ['CVE-2024-0001'], present: false, last_seen: new Date(at(2)) });
    await upload(2, ['a1', 'a2'], {}, [fixed]);
    expect(await statusByAsset()).toEqual({ a1: 'open', a2: 'open', a3: 'remediated' });
    await upload(3, ['a1', 'a2']);
    expect(await statusByAsset()).toMatchObject({ a3: 'remediated' });
    await upload(4, ['a1', 'a2']);
    expect(await statusByAsset()).toEqual({ a1: 'open', a2: 'open', a3: 'withdrawn' });
    expect(await reasons()).toEqual(['asset_gone']);
    expect(await retired()).toEqual(['a3']);
    await upload(5, ['a1', 'a2'], {}, [{ run: { asset: hostOf('a3') } }]);
    expect(await statusByAsset()).toEqual({ a1: 'open', a2: 'open', a3: 'verified' });
  });
});

const code: Asset = { type: 'repository', name: 'https://github.com/acme/shop' };
const rule = (name: string, path = 'src/a.ts') => seen({ asset: code, rule: name, tool: 'lint', location: { path, line: 1, fingerprint: name } });
const scan = (day: number, items: readonly Item[], run: RunFacts = {}) =>
  engine.run(org, [...items, { run: { asset: code } }, { run }], { scope: { coverage: 'complete', started_at: at(day) } });
const statusByRule = async () => Object.fromEntries((await engine.findings(org)).map(({ weakness, status }) => [weakness.split(':')[1], status]));

describe('a report that says which checks were made on which resource', () => {
  const account: Asset = { type: 'cloud_resource', name: 'arn:aws:s3:::logs' };
  const check = (name: string) => seen({ asset: account, rule: name, tool: 'cloud', location: { resource: 'logs' } });
  const made = (...pairs: string[]): RunFacts => ({ checks: ['acl', 'tls', 'logs', 'data', 'acl data', 'tls data', ...pairs] });
  const run = (day: number, items: readonly Item[], facts: RunFacts) =>
    engine.run(org, [...items, { run: { asset: account } }, { run: facts }], { scope: { coverage: 'complete', started_at: at(day) } });

  it('closes nothing of a check that came to no result there', async () => {
    await run(1, [check('acl'), check('tls')], made('acl logs', 'tls logs'));
    await run(2, [], made('tls logs'));
    expect(await engine.findings(org)).toMatchObject([
      { weakness: 'cloud:acl', status: 'open' },
      { weakness: 'cloud:tls', status: 'verified' },
    ]);
    await run(3, [], made('acl logs', 'tls logs'));
    expect((await engine.findings(org)).map(({ status }) => status)).toEqual(['verified', 'verified']);
  });

  it('does not show that what a late report finds is gone', async () => {
    await run(2, [], made('tls logs'));
    await run(1, [check('acl'), check('tls')], made('acl logs', 'tls logs'));
    expect(await engine.findings(org)).toMatchObject([
      { weakness: 'cloud:acl', status: 'open' },
      { weakness: 'cloud:tls', status: 'verified' },
    ]);
  });

  it('closes what was on a resource that it does not name', async () => {
    await run(1, [check('acl')], made('acl logs'));
    await run(2, [], { checks: ['acl', 'data', 'acl data'] });
    expect(await engine.findings(org)).toMatchObject([{ status: 'verified' }]);
  });
});

describe('a check that the tool no longer has', () => {
  const version = (tool_version: string, ...checks: string[]): RunFacts => ({ tool_version, checks });

  it('withdraws its findings after two complete runs of a newer version', async () => {
    await scan(1, [rule('sql'), rule('xss')], version('1.9', 'sql', 'xss'));
    await scan(2, [rule('sql')], version('1.10', 'sql'));
    expect(await statusByRule()).toEqual({ sql: 'open', xss: 'open' });
    await scan(3, [rule('sql')], version('1.10', 'sql'));
    expect(await statusByRule()).toEqual({ sql: 'open', xss: 'withdrawn' });
    expect(await reasons()).toEqual(['check_retired']);
    await scan(4, [rule('sql'), rule('xss')], version('1.11', 'sql', 'xss'));
    expect(await statusByRule()).toEqual({ sql: 'open', xss: 'open' });
  });

  it('is disabled in the first run without it, also if the newer version scanned another asset before', async () => {
    const other: Asset = { type: 'repository', name: 'https://github.com/acme/other' };
    await engine.run(org, [{ ...rule('xss'), asset: other }, { run: version('1.10', 'sql', 'xss') }], { scope: { started_at: at(1) } });
    await scan(1, [rule('sql'), rule('xss')], version('1.9', 'sql', 'xss'));
    await scan(2, [rule('sql')], version('1.10', 'sql'));
    expect((await engine.findings(org)).map(({ status }) => status)).toEqual(['open', 'open', 'open']);
    await scan(3, [rule('sql')], version('1.10', 'sql'));
    expect(await reasons()).toEqual(['check_retired']);
  });

  it.each([
    ['the same version', '1.9', '1.9'],
    ['an older version', '1.8', '1.8'],
    ['only one newer version', '1.9', '1.10'],
    ['versions that cannot be compared', 'nightly', 'stable'],
  ])('was disabled in %s, so its findings stay open', async (_, second, third) => {
    await scan(1, [rule('sql'), rule('xss')], version('1.9', 'sql', 'xss'));
    await scan(2, [rule('sql')], version(second, 'sql'));
    await scan(3, [rule('sql')], version(third, 'sql'));
    expect(await statusByRule()).toEqual({ sql: 'open', xss: 'open' });
  });
});

describe('a report that lists the files it read', () => {
  const files = (count: number, ...others: string[]): RunFacts => ({ files: [...others, ...Array.from({ length: count }, (_, n) => `src/${n}.ts`)] });

  it('closes what is no longer in a file that was read, and what was in a file that was removed', async () => {
    await scan(1, [rule('sql', 'src/a.ts'), rule('xss', 'src/b.ts')], files(8, 'src/a.ts', 'src/b.ts'));
    await scan(2, [], files(8, 'src/a.ts'));
    expect(await statusByRule()).toEqual({ sql: 'verified', xss: 'verified' });
  });

  it('says nothing about other files if it lists much fewer, however often it is repeated', async () => {
    await scan(1, [rule('sql', 'src/a.ts'), rule('xss', 'src/b.ts')], files(8, 'src/a.ts', 'src/b.ts'));
    for (const day of [2, 3]) await scan(day, [], files(6, 'src/a.ts'));
    expect(await statusByRule()).toEqual({ sql: 'verified', xss: 'open' });
    await scan(4, [], files(7, 'src/a.ts'));
    expect(await statusByRule()).toEqual({ sql: 'verified', xss: 'verified' });
  });
});

describe('what the scan that closed a finding does not state', () => {
  const gaps = async () =>
    (
      await engine
        .admin()
        .query<{ weakness: string; gaps: string[] }>(
          'select f.weakness, s.gaps from sightings s join findings f on f.id = s.finding_id where s.org_id = $1 order by 1',
          [org],
        )
    ).rows;

  it('is stored with the closure, as far as it matters for the finding', async () => {
    await engine.run(org, [on('web'), rule('sql')], {});
    await engine.run(org, [{ run: { asset: hostOf('web') } }, { run: { asset: code } }], { scope: { coverage: 'complete' } });
    expect(await gaps()).toEqual([
      { weakness: 'CVE-2024-0001', gaps: ['time_unstated', 'credentials_unstated', 'knowledge_unstated'] },
      { weakness: 'lint:sql', gaps: ['time_unstated', 'checks_unstated'] },
    ]);
    await engine.run(org, [on('web')], {});
    expect((await gaps())[0]?.gaps).toBeNull();
  });

  it('is nothing if the run states everything', async () => {
    await scan(1, [rule('sql')], { checks: ['sql'] });
    await scan(2, [], { checks: ['sql'] });
    expect(await gaps()).toEqual([{ weakness: 'lint:sql', gaps: [] }]);
  });
});

describe('a run that reports nothing of one kind', () => {
  const image: Asset = { type: 'container_image', name: 'registry.example.com/pay:prod' };
  const system = (severity: 'high' | 'low') =>
    Array.from({ length: 12 }, (_, n) =>
      seen({ asset: image, severity, vulnerability_ids: [`CVE-2023-${1000 + n}`], location: { component: `lib${n}`, ecosystem: 'deb' } }),
    );
  const library = (severity: 'critical' | 'high') => seen({ asset: image, severity, location: { component: 'log4j', ecosystem: 'maven' } });
  const open = async () => (await engine.findings(org)).filter(({ status }) => status === 'open').length;
  const run = (day: number, items: readonly Item[], facts: RunFacts = {}) =>
    engine.run(org, [...items, { run: facts }], { scope: { coverage: 'complete', started_at: at(day) } });

  it('closes it if the report says that the tool looked for it', async () => {
    await run(1, [...system('high'), library('high')]);
    await run(2, [library('high')]);
    expect(await open()).toBe(13);
    await run(3, [library('high')], { looked_for: ['system_packages'] });
    expect(await open()).toBe(1);
  });

  it('does not close what a limit of the severity may have left out', async () => {
    await run(1, [...system('high'), library('critical')]);
    await run(2, [library('critical')], { looked_for: ['system_packages'] });
    expect(await open()).toBe(13);
    await run(3, [library('critical')], { looked_for: ['system_packages', 'up_to_medium'] });
    expect(await open()).toBe(1);
  });
});

describe('a host at an address that another one had', () => {
  const host = (...identifiers: [kind: 'ip' | 'mac' | 'hostname' | 'fqdn' | 'agent_id', value: string][]): Asset => ({
    type: 'host',
    name: '10.0.0.5',
    identifiers: [['ip', '10.0.0.5'] as const, ...identifiers].map(([kind, value]) => ({ kind, value })),
  });
  const scanned = (day: number, asset: Asset, items: readonly Item[] = []) =>
    engine.run(org, [...items, { run: { asset } }], { scope: { coverage: 'complete', started_at: at(day) } });
  const found = async () => (await engine.findings(org)).map(({ status }) => status);

  it.each([
    ['MAC address', host(['mac', '00:11:22:33:44:55']), host(['mac', '00:11:22:33:44:66'])],
    ['host name', host(['hostname', 'web1']), host(['hostname', 'web2'])],
    ['domain', host(['hostname', 'web1']), host(['fqdn', 'web2.example.com'])],
    ['domain, known or unknown,', host(['hostname', 'web1']), host(['hostname', 'web1'], ['fqdn', 'web1.example.com'])],
    ['agent', host(['agent_id', 'a']), host(['agent_id', 'b'])],
  ])('is another asset if its %s is another one', async (_, first, second) => {
    await scanned(1, first, [seen({ asset: first })]);
    await scanned(2, second);
    expect(await found()).toEqual(['open']);
    await scanned(3, first);
    expect(await found()).toEqual(['verified']);
  });

  it('has its own findings, even if they are the same', async () => {
    const [first, second] = [host(['mac', '00:11:22:33:44:55']), host(['mac', '00:11:22:33:44:66'])];
    await scanned(1, first, [seen({ asset: first })]);
    for (const day of [2, 3]) await scanned(day, second, [seen({ asset: second })]);
    expect(await found()).toEqual(['open', 'open']);
  });

  it.each([
    ['the same MAC address', host(['mac', '00:11:22:33:44:55']), host(['mac', '00-11-22-33-44-55'], ['hostname', 'web1'])],
    ['the same name', host(['hostname', 'web1']), host(['hostname', 'WEB1'])],
    ['the same domain', host(['fqdn', 'web1.example.com']), host(['hostname', 'web1'], ['fqdn', 'web1.example.com'])],
  ])('is the same asset if it has %s', async (_, first, second) => {
    await scanned(1, first, [seen({ asset: first })]);
    await scanned(2, second);
    expect(await found()).toEqual(['verified']);
  });

  it.each([
    ['MAC address', 'mac', '00:11:22:33:44:55', '00:11:22:33:44:66'],
    ['cloud id', 'cloud_id', 'i-1', 'i-2'],
  ] as const)('is another machine if it has the same name and another %s', async (_, kind, one, other) => {
    const named = (value: string | null): Asset => ({
      type: 'host',
      name: 'web1.example.com',
      identifiers: [{ kind: 'fqdn', value: 'web1.example.com' }, ...(value === null ? [] : [{ kind, value }])],
    });
    await scanned(1, named(one), [seen({ asset: named(one) })]);
    expect(await scanned(2, named(other))).toMatchObject({ closed: 0 });
    await scanned(3, named(other), [seen({ asset: named(other) })]);
    expect(await found()).toEqual(['open', 'open']);
    expect(await scanned(4, named(one))).toMatchObject({ closed: 1 });
    expect((await found()).toSorted()).toEqual(['open', 'verified']);
  });

  it('is not one of two hosts that share its short name', async () => {
    const named = (name: string): Asset => ({
      type: 'host',
      name,
      identifiers: [
        { kind: 'fqdn', value: name },
        { kind: 'hostname', value: 'web01' },
      ],
    });
    const short: Asset = { type: 'host', name: 'web01', identifiers: [{ kind: 'hostname', value: 'web01' }] };
    const [a, b] = [named('web01.a.example'), named('web01.b.example')];
    await scanned(1, a, [seen({ asset: a })]);
    await scanned(1, b, [seen({ asset: b })]);
    expect(await scanned(2, short)).toMatchObject({ closed: 0 });
    await scanned(3, short, [seen({ asset: short })]);
    await scanned(4, a, [seen({ asset: a })]);
    expect(await found()).toEqual(['open', 'open', 'open']);
    expect(await scanned(5, a)).toMatchObject({ closed: 1 });
  });

  it('is recognized by the address alone if nothing else is known, and the closure says so', async () => {
    await scanned(1, host(), [seen({ asset: host() })]);
    await scanned(2, host());
    const { rows } = await engine.admin().query<{ gaps: string[] }>('select gaps from sightings where org_id = $1', [org]);
    expect(await found()).toEqual(['verified']);
    expect(rows[0]?.gaps).toContain('identity_weak');
  });

  it('proves nothing about it if one of the two is known only by the address', async () => {
    const named = host(['mac', '00:11:22:33:44:55']);
    for (const [first, second] of [
      [named, host()],
      [host(), named],
    ] as const) {
      org = await engine.organization();
      await scanned(1, first, [seen({ asset: first })]);
      await scanned(2, second);
      expect(await found()).toEqual(['open']);
    }
  });

  it('is not the host that is known only by the address, although the scope names the address', async () => {
    const named = host(['mac', '00:11:22:33:44:55']);
    await scanned(1, host(), [seen({ asset: host() })]);
    const scope = { coverage: 'complete', started_at: at(2), assets: [{ type: 'host', name: '10.0.0.5' }] } as const;
    await engine.run(org, [seen({ asset: named })], { scope: { ...scope, assets: [...scope.assets] } });
    expect(await found()).toEqual(['open', 'open']);
  });
});
