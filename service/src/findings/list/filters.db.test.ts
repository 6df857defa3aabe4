import type { Observation } from '@rrs/scan-reports';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Item, image, seen, useImports } from '../../testing/findings/imports.ts';
import { filterFindings, ownFindings } from './filter.ts';
import { listFindings } from './list.ts';
import { type FindingFilter, prepareFilter } from './prepare-filter.ts';

const engine = useImports();
let org: string;
beforeAll(async () => {
  org = await engine.organization();
});

async function titles(filter: FindingFilter, sort = 'created_at', orgId = org): Promise<string[]> {
  const request = { limit: 200, sort, total: 'bounded' as const, position: null, seal: () => '' };
  const { data, page } = await engine.db().withTenant({ orgId }, (tx) => listFindings(tx, orgId, filter, request));
  expect(page.total?.count).toBe(data.length);
  return data.map(({ title }) => title).sort();
}

/** The same, comparing columns as for lists that walk along an index. */
async function scanned(filter: FindingFilter, orgId: string): Promise<string[]> {
  const rows = await engine
    .db()
    .withTenant({ orgId }, async (tx) =>
      filterFindings(ownFindings(tx).select('findings.title'), orgId, await prepareFilter(tx, orgId, filter), 'scan').execute(),
    );
  return rows.map(({ title }) => title).sort();
}

const one = (title: string, given: Partial<Observation>): Observation => seen({ title, location: { component: title }, ...given });

describe('the filters on what reports say', () => {
  const org = { id: '' };
  beforeAll(async () => {
    org.id = await engine.organization();
    const host = { type: 'host', name: 'db.example.com' } as const;
    await engine.run(org.id, [
      one('log4shell', {
        severity: 'critical',
        vulnerability_ids: ['CVE-2021-44228', 'GHSA-jfh8-c2jp-5v3q'],
        cwes: [502],
        location: { component: 'org.apache.logging.log4j:log4j-core', version: '2.14.1', fixed_version: '2.17.1', path: 'app/lib/log4j-core-2.14.1.jar' },
      }),
      one('short', { vulnerability_ids: ['CVE-2021-45046'], location: { component: 'Log4J-Core' }, severity: 'low' }),
      one('scoped', { vulnerability_ids: ['CVE-2020-0001'], location: { component: '@babel/core' } }),
      one('unscoped', { vulnerability_ids: ['CVE-2020-0002'], location: { component: 'core' } }),
      one('login', { rule: 'js.lang.eval-detected', vulnerability_ids: [], cwes: [79], location: { path: 'src/auth/login.ts', line: 3 }, tags: ['web'] }),
      one('author', { rule: 'KSV014', vulnerability_ids: [], cwes: [798], location: { path: 'src/authors/a.ts', line: 3 } }),
      one('windows', { rule: 'KSV014', vulnerability_ids: [], location: { path: '.\\src\\Auth\\win dow.ts', line: 9 }, fix_state: 'available' }),
      one('ghsa only', { vulnerability_ids: ['GHSA-jfh8-c2jp-5v3q'], location: { component: 'other' }, asset: host, fix_state: 'will_not_fix' }),
    ]);
    await engine.run(org.id, [one('second tool', { vulnerability_ids: ['CVE-2022-0001'], asset: host })], { source: 'tool_b' });
    const facts = `update assets set owner = 'Payments', criticality = 'high', exposure = 'internet', tags = '{pci}' where org_id = $1 and type = 'host'`;
    await engine.admin().query(facts, [org.id]);
  });
  const onHost = ['ghsa only', 'second tool'];
  const onImage = ['author', 'log4shell', 'login', 'scoped', 'short', 'unscoped', 'windows'];

  it.each<[FindingFilter, string[]]>([
    [{ source: ['Tool_B'] }, ['second tool']],
    [{ not_source: ['TOOL_a'] }, ['second tool']],
    [{ source_kind: ['import'], not_asset_type: ['container_image'] }, onHost],
    [{ source_kind: ['connection', 'manual'] }, []],
    [{ cve: ['CVE-2021-44228'] }, ['ghsa only', 'log4shell']],
    [{ cve: ['ghsa-JFH8-c2jp-5v3q'] }, ['ghsa only', 'log4shell']],
    [{ not_cve: ['cve-2021-44228'], severity: ['critical', 'low'] }, ['short']],
    [{ cwe: [79] }, ['login']],
    [{ cwe: ['CWE-79'] }, ['login']],
    [{ cwe: ['502', 'cwe-798'] }, ['author', 'log4shell']],
    [{ component: 'log4j-core' }, ['log4shell', 'short']],
    [{ component: 'org.apache.logging.log4j:LOG4J-core' }, ['log4shell', 'short']],
    [{ component: 'org.apache.logging.log4j/log4j-core' }, ['log4shell', 'short']],
    [{ component: 'org.other:log4j-core' }, ['short']],
    [{ component: '@babel/core' }, ['scoped']],
    [{ component: 'core' }, ['unscoped']],
    [{ component: 'j-core' }, []],
    [{ not_component: ['log4j-core', 'core'] }, ['author', 'ghsa only', 'login', 'scoped', 'second tool', 'windows']],
    [{ path: 'src/auth' }, ['login', 'windows']],
    [{ path: 'SRC/auth/' }, ['login', 'windows']],
    [{ path: './src/auth/login.ts' }, ['login']],
    [{ path: 'src/auth/win dow.ts' }, ['windows']],
    [{ path: 'src/au' }, []],
    [{ path: 'src_auth' }, []],
    [{ not_path: ['src', 'app'] }, ['ghsa only', 'scoped', 'second tool', 'short', 'unscoped']],
    [{ rule: ['ksv014'] }, ['author', 'windows']],
    [{ rule: ['KSV014', 'js.lang.eval-detected'] }, ['author', 'login', 'windows']],
    [{ rule: ['KSV01'] }, []],
    [{ not_rule: ['KSV014'], path: 'src' }, ['login']],
    [{ has_fix: true }, ['log4shell', 'windows']],
    [{ has_fix: false, severity: ['low'] }, ['short']],
    [{ asset: 'DB.exam' }, onHost],
    [{ asset: 'db.example.com.' }, onHost],
    [{ asset: 'registry.example.com/shop:prod' }, onImage],
    [{ asset: 'registry.example.com/shop:other' }, onImage],
    [{ asset: 'registry.example.com/shopping' }, []],
    [{ owner: ['payments'] }, onHost],
    [{ criticality: ['high'] }, onHost],
    [{ exposure: ['internet'], source: ['tool_a'] }, ['ghsa only']],
    [{ asset_tag: ['pci', 'other'] }, onHost],
    [{ not_asset_tag: ['pci'] }, onImage],
    [{ not_asset_type: ['container_image'] }, onHost],
    [{ not_severity: ['high', 'unknown'] }, ['log4shell', 'short']],
    [{ severity: ['low', 'high'], not_severity: ['high'] }, ['short']],
    [{ severity: ['low'], not_severity: ['low'] }, []],
    // As many values as there are severities from low to critical, but only two different ones.
    [{ severity: ['critical', 'critical', 'critical', 'low'] }, ['log4shell', 'short']],
    [{ not_status: ['open'] }, []],
    [{ not_tag: ['WEB'], path: 'src' }, ['author', 'windows']],
    [{ severity_disputed: true }, []],
    [{ q: 'openssl' }, []],
    [{ q: 'log4' }, ['log4shell', 'short']],
    [{ q: 'CVE-2021-44228' }, ['ghsa only', 'log4shell']],
    [{ q: 'GHSA-jfh8-c2jp-5v3q db.example.com' }, ['ghsa only']],
    [{ q: 'log4j-core:2.14' }, ['log4shell']],
    [{ q: 'log4j-core:2.1' }, []],
    [{ q: 'pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1' }, ['log4shell']],
    [{ q: 'src/auth' }, ['author', 'login', 'windows']],
    [{ q: 'auth' }, ['author', 'login', 'windows']],
    [{ q: 'auth/login' }, ['login']],
    [{ q: 'lang' }, ['login']],
    [{ q: 'cwe-79' }, ['login']],
    [{ q: 'eval-det' }, ['login']],
    [{ q: "it's \\ core" }, []],
  ])('%j finds %j, alone, with another filter, and along an index', async (filter, found) => {
    expect(await titles(filter, 'created_at', org.id)).toEqual(found);
    expect(await titles({ ...filter, risk_min: 0, created_from: '2000-01-01' }, '-severity', org.id)).toEqual(found);
    expect(await scanned(filter, org.id)).toEqual(found);
  });
});

describe('the filters on ids follow aliases', () => {
  const [cve, other, ghsa] = ['CVE-2023-1001', 'CVE-2023-1002', 'GHSA-aaaa-bbbb-cccc'];
  const found = async (orgId: string, filter: FindingFilter) => {
    const listed = await titles(filter, 'created_at', orgId);
    expect(await scanned(filter, orgId)).toEqual(listed);
    return listed;
  };
  const of = (title: string, ...ids: string[]) => one(title, { vulnerability_ids: ids });
  const revoke = (orgId: string) =>
    engine.admin().query(
      `insert into vulnerability_aliases (org_id, alias, weakness, origin, revoked_at, revoked_by) values ($1, $2, $3, 'claim', now(), 'Ada')
       on conflict (org_id, alias) do update set revoked_at = now(), revoked_by = 'Ada'`,
      [orgId, ghsa, cve],
    );

  it('that one tool claims, for what that tool reports', async () => {
    const orgId = await engine.organization();
    await engine.run(orgId, [of('both', cve, ghsa), of('alias', ghsa), of('own', cve)]);
    await engine.run(orgId, [of('alias of another tool', ghsa), of('own of another tool', cve)], { source: 'tool_b' });
    expect(await found(orgId, { cve: [cve] })).toEqual(['alias', 'both', 'own', 'own of another tool']);
    expect(await found(orgId, { q: cve })).toEqual(['alias', 'both', 'own', 'own of another tool']);
    expect(await found(orgId, { not_cve: [cve] })).toEqual(['alias of another tool']);
    expect(await found(orgId, { cve: [ghsa] })).toEqual(['alias', 'alias of another tool', 'both', 'own']);
    expect(await found(orgId, { not_cve: [ghsa] })).toEqual(['own of another tool']);
    // A second tool confirms it.
    await engine.run(orgId, [of('both of another tool', cve, ghsa)], { source: 'tool_b' });
    const all = ['alias', 'alias of another tool', 'both', 'both of another tool', 'own', 'own of another tool'];
    for (const id of [cve, ghsa]) {
      expect(await found(orgId, { cve: [id] })).toEqual(all);
      expect(await found(orgId, { q: id })).toEqual(all);
      expect(await found(orgId, { not_cve: [id] })).toEqual([]);
    }
  });

  it('that one tool claims, not at all if other tools share its format', async () => {
    const orgId = await engine.organization();
    await engine.run(orgId, [of('both', cve, ghsa)]);
    await engine.run(orgId, [of('alias of another tool', ghsa)], { source: 'tool_b' });
    await engine.admin().query(`update sources set provider = 'sarif', tool = provider where org_id = $1`, [orgId]);
    await engine.admin().query(`update findings set search = array_to_tsvector(tsvector_to_array(search) || array['p:sarif']) where org_id = $1`, [orgId]);
    expect(await found(orgId, { not_cve: [cve] })).toEqual(['alias of another tool']);
    expect(await found(orgId, { cve: [cve] })).toEqual(['both']);
  });

  it('but none about which a tool contradicts itself', async () => {
    const orgId = await engine.organization();
    await engine.run(orgId, [of('one', cve, ghsa), of('two', other, ghsa), of('alias', ghsa)]);
    expect(await found(orgId, { cve: [cve] })).toEqual(['one']);
    expect(await found(orgId, { not_cve: [cve] })).toEqual(['alias', 'two']);
    expect(await found(orgId, { q: other })).toEqual(['two']);
    expect(await found(orgId, { cve: [ghsa] })).toEqual(['alias', 'one', 'two']);
  });

  it.each([1, 2])('but none that was revoked, also if %i tools said so', async (tools) => {
    const orgId = await engine.organization();
    for (const source of (['tool_a', 'tool_b'] as const).slice(0, tools)) await engine.run(orgId, [of(`both ${source}`, cve, ghsa)], { source });
    await revoke(orgId);
    await engine.run(orgId, [of('alias', ghsa), of('own', cve)], { source: 'tool_c' });
    const both = (await titles({}, 'created_at', orgId)).filter((title) => title.startsWith('both'));
    expect(await found(orgId, { cve: [cve] })).toEqual([...both, 'own']);
    expect(await found(orgId, { not_cve: [cve] })).toEqual(['alias']);
    expect(await found(orgId, { cve: [ghsa] })).toEqual(['alias', ...both]);
  });
});

it('lists what is to be fixed first: open and exploited, overdue or at a high risk', async () => {
  const orgId = await engine.organization();
  const names = ['exploited', 'overdue', 'risky', 'almost', 'claimed', 'accepted', 'begun'];
  await engine.run(
    orgId,
    names.map((name, n) => one(name, { vulnerability_ids: [`CVE-2024-100${n}`] })),
  );
  const set = (title: string, values: string) => engine.admin().query(`update findings set ${values} where org_id = $1 and title = $2`, [orgId, title]);
  await engine.admin().query(`update findings set kev = false, risk_score = 10, due_at = 'infinity' where org_id = $1`, [orgId]);
  await set('exploited', 'kev = true');
  await set('overdue', `due_at = now() - interval '1 day'`);
  await set('risky', 'risk_score = 70');
  await set('almost', `risk_score = 69.9, due_at = now() + interval '1 day'`);
  await set('claimed', `kev = true, status = 'remediated', assurance = 'declared'`);
  await set(
    'accepted',
    `risk_score = 90, status = 'risk_accepted', closed_at = now(), status_reason = 'Old', acceptance_owner = 'Ada', acceptance_expires_at = now()`,
  );
  await set('begun', `kev = true, status = 'in_progress'`);
  const first = ['begun', 'exploited', 'overdue', 'risky'];
  const others = ['accepted', 'almost', 'claimed'];
  for (const [filter, found] of [
    [{ fix_first: true }, first],
    [{ fix_first: false }, others],
    [{ fix_first: true, status: ['in_progress', 'remediated'] }, ['begun']],
    [{ fix_first: true, status: ['remediated'] }, []],
    [{ fix_first: true, kev: true, severity: ['high'] }, ['begun', 'exploited']],
  ] satisfies [FindingFilter, string[]][]) {
    expect(await titles(filter, '-risk_score', orgId)).toEqual(found);
    expect(await scanned(filter, orgId)).toEqual(found);
  }
});

describe('the filters on tracks compare the names that people see', () => {
  const at = (day: number): Item => ({ run: { started_at: new Date(Date.UTC(2026, 9, day)), finished_at: new Date(Date.UTC(2026, 9, day)) } });
  let orgId: string;
  let seenOn: { title: string; track: string; present: boolean; closed: boolean }[];
  beforeAll(async () => {
    orgId = await engine.organization();
    const assets = {
      host: { type: 'host', name: 'db.example.com' },
      mixed: { type: 'repository', name: 'https://git.example.com/mixed' },
      named: { type: 'repository', name: 'https://git.example.com/named' },
      called: { type: 'repository', name: 'https://git.example.com/called' },
    } as const;
    const scan = (day: number, asset: keyof typeof assets, names: string[], track?: string) => {
      const scope = { coverage: 'complete', asset: assets[asset], ...(track === undefined ? {} : { track }) } as const;
      const records = names.map((name) => one(`${asset} ${name}`, { vulnerability_ids: ['CVE-2024-0001'], asset: assets[asset] }));
      return engine.run(orgId, [at(day), ...records], { scope });
    };
    await scan(1, 'host', ['kept', 'fixed']);
    await scan(2, 'host', ['kept']);
    await scan(1, 'mixed', ['both', 'unnamed', 'fixed']);
    await scan(2, 'mixed', ['both']);
    await scan(3, 'mixed', ['both', 'line', 'unnamed'], 'release-1.4');
    await scan(1, 'named', ['before', 'kept']);
    await scan(2, 'named', ['kept', 'after'], 'main');
    await scan(1, 'called', ['kept'], 'default');
    const { rows } = await engine.admin().query(
      `select f.title, coalesce(t.name, 'default') as track, s.state = 'present' as present, f.closed_at is not null as closed
       from findings f join sightings s on s.org_id = f.org_id and s.finding_id = f.id
       left join asset_tracks t on t.org_id = f.org_id and t.asset_id = f.asset_id and t.n = s.track where f.org_id = $1`,
      [orgId],
    );
    seenOn = rows;
  });
  const every = (keep: (title: string) => boolean) => [...new Set(seenOn.map(({ title }) => title))].filter(keep).sort();

  it('on assets with and without names for their default tracks', async () => {
    expect([...new Set(seenOn.map(({ track }) => track))].sort()).toEqual(['default', 'main', 'release-1.4']);
    expect(await titles({ track: ['default'] }, 'created_at', orgId)).toEqual(['called kept', 'host fixed', 'host kept', 'mixed both', 'mixed fixed']);
  });

  it.each([[['default']], [['main']], [['release-1.4']], [['default', 'main']], [['default', 'release-1.4']], [['develop']]])('%j', async (track) => {
    const expected = every((title) => seenOn.some((on) => on.title === title && track.includes(on.track) && (on.present || on.closed)));
    expect(await titles({ track }, 'created_at', orgId)).toEqual(expected);
    expect(await titles({ track, severity: ['high'], risk_min: 0 }, '-risk_score', orgId)).toEqual(expected);
    expect(await scanned({ track }, orgId)).toEqual(expected);
  });

  it.each(['default', 'main', 'release-1.4', 'develop'])('new since %s', async (track) => {
    const expected = every((title) => !seenOn.some((on) => on.title === title && on.track === track && on.present));
    expect(await titles({ new_since_track: track }, 'created_at', orgId)).toEqual(expected);
    expect(await scanned({ new_since_track: track }, orgId)).toEqual(expected);
  });
});

describe('the filters on where and when a finding was seen', () => {
  const at = (day: number): Item => ({ run: { started_at: new Date(Date.UTC(2026, 9, day)), finished_at: new Date(Date.UTC(2026, 9, day)) } });
  const scan = (day: number, names: string[], scope: object) =>
    engine.run(org, [at(day), ...names.map((name) => one(name, { vulnerability_ids: ['CVE-2024-0001'] }))], {
      scope: { coverage: 'complete', asset: { type: image.type, name: 'shop' }, ...scope },
    });
  let imports = { first: '', second: '', pull: '', dry: '' };
  let asset = '';
  beforeAll(async () => {
    const first = await scan(1, ['kept', 'fixed'], { track: 'main', version: '1.0.0' });
    const second = await scan(2, ['kept', 'new'], { track: 'main', version: '1.1.0' });
    const pull = await scan(3, ['kept', 'new', 'only in the pull request'], { track: 'pr-17', version: 'abc1234' });
    const dry = await engine.run(org, [one('dry', {})], { dryRun: true, scope: { asset: { type: image.type, name: 'shop' } } });
    imports = { first: first.id, second: second.id, pull: pull.id, dry: dry.id };
    const only = `update findings set listed = false where org_id = $1 and title = 'only in the pull request'`;
    await engine.admin().query(only, [org]);
    asset = (await engine.admin().query('select id from assets where org_id = $1', [org])).rows[0].id;
  });

  it('lists by default only what counted tracks have', async () => {
    expect(await titles({})).toEqual(['fixed', 'kept', 'new']);
    expect(await titles({ severity: ['high'] })).toEqual(['fixed', 'kept', 'new']);
  });

  it('lists the findings of a track, also of a pull request', async () => {
    expect(await titles({ track: ['main'] })).toEqual(['fixed', 'kept', 'new']);
    expect(await titles({ track: ['main'], status: ['open'] })).toEqual(['kept', 'new']);
    expect(await titles({ track: ['pr-17'] })).toContain('only in the pull request');
    expect(await titles({ track: ['pr-17', 'main'], q: 'pull' })).toEqual(['only in the pull request']);
    expect(await titles({ track: ['main'], q: 'pull' })).toEqual([]);
    expect(await titles({ track: ['develop'] })).toEqual([]);
  });

  it('lists what a track has and another one does not', async () => {
    expect(await titles({ track: ['pr-17'], new_since_track: 'main' })).toEqual(['only in the pull request']);
    // Fixed on main, so a branch that still has it would add it again.
    expect(await titles({ new_since_track: 'main' })).toEqual(['fixed']);
    expect(await titles({ track: ['main'], new_since_track: 'main' })).toEqual([]);
    expect(await titles({ track: ['main'], new_since_track: 'no-such-track' })).toEqual(['kept', 'new']);
  });

  it('lists the findings of a build', async () => {
    expect(await titles({ asset_id: asset, asset_version: '1.0.0' })).toEqual(['fixed', 'kept']);
    expect(await titles({ asset_id: asset, asset_version: '1.1.0' })).toEqual(['kept', 'new']);
    expect(await titles({ asset_id: asset, asset_version: '9.9.9' })).toEqual([]);
  });

  it('lists what an import created and closed, also on a pull request', async () => {
    expect(await titles({ import_id: imports.first })).toEqual(['fixed', 'kept']);
    expect(await titles({ import_id: imports.second })).toEqual(['fixed', 'new']);
    expect(await titles({ import_id: imports.second, status: ['open'] })).toEqual(['new']);
    expect(await titles({ import_id: imports.pull })).toEqual(['only in the pull request']);
    expect(await titles({ import_id: imports.dry })).toEqual([]);
  });

  it('never lists a finding that was merged into another', async () => {
    const merged = `update findings set listed = false, merged_into = id where org_id = $1 and title = 'new'`;
    await engine.admin().query(merged, [org]);
    try {
      for (const filter of [{}, { track: ['main'] }, { import_id: imports.second }, { asset_id: asset, asset_version: '1.1.0' }, { q: 'new' }]) {
        expect(await titles(filter)).not.toContain('new');
      }
    } finally {
      await engine.admin().query(`update findings set listed = true, merged_into = null where org_id = $1 and title = 'new'`, [org]);
    }
  });
});
