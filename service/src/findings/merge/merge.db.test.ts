import type { Asset, Observation } from '@rrs/scan-reports';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { seen, useImports } from '../../testing/findings/imports.ts';

const engine = useImports();
let org: string;
beforeAll(async () => {
  // The knowledge sources say that these are ids of one vulnerability.
  await engine.admin().query(`insert into vulnerabilities (id, aliases) values ('CVE-2024-0001', '{GHSA-aaaa-bbbb-cccc,SNYK-JS-1}'),
    ('CVE-2019-0001', '{GHSA-both-both-both}'), ('CVE-2019-0002', '{GHSA-both-both-both}')`);
});
beforeEach(async () => {
  org = await engine.organization();
});

const host = (name: string, ...identifiers: NonNullable<Asset['identifiers']>): Asset => ({
  type: 'host',
  name,
  ...(identifiers.length > 0 ? { identifiers } : {}),
});
const fqdn = (value: string) => ({ kind: 'fqdn', value }) as const;
const ip = (value: string) => ({ kind: 'ip', value }) as const;
const mac = (value: string) => ({ kind: 'mac', value }) as const;
const on = (asset: Asset, given: Partial<Observation> = {}) => seen({ location: { port: 443, protocol: 'tcp' }, asset, ...given });
const code = (given: Partial<Observation>) => seen({ rule: 'sql', tool: 'semgrep', asset: { type: 'repository', name: 'shop' }, ...given });

const both = ['CVE-2024-0001', 'GHSA-aaaa-bbbb-cccc'];
const ghsa = ['GHSA-aaaa-bbbb-cccc'];
const web = 'web.example.com';

const MEET: readonly [string, Observation, Observation][] = [
  [
    'the same CVE in a package, by its URL and by its name',
    seen({ location: { component: 'lodash', purl: 'pkg:npm/lodash@4' } }),
    seen({ location: { component: 'lodash' } }),
  ],
  ['versions of one package', seen({ location: { component: 'a', version: '1' } }), seen({ location: { component: 'a', version: '2' } })],
  ['GHSA alone and CVE with GHSA', seen({ vulnerability_ids: ghsa }), seen({ vulnerability_ids: both })],
  [
    'code that moved, by its fingerprint',
    code({ location: { path: 'a', line: 1, fingerprint: 'f' } }),
    code({ location: { path: 'a', line: 7, fingerprint: 'f' } }),
  ],
  ['a host that is known only by its address', on(host('10.0.0.1', ip('10.0.0.1'))), on(host('10.0.0.1'))],
  ['a host by its MAC address in two spellings', on(host('10.0.0.1', mac('00:00:5E:00:53:01'))), on(host(web, fqdn(web), mac('00-00-5e-00-53-01')))],
  ['an IPv6 address in two spellings', on(host('2001:db8::1')), on(host('2001:db8:0::1', ip('2001:0db8::0001')))],
  ['a host that is only named', on(host(web)), on(host('srv01', fqdn(web), { kind: 'hostname', value: 'srv01' }))],
  ['a host in upper and lower case', on(host('WEB.example.com')), on(host(web))],
  ['a repository in upper and lower case', code({ asset: { type: 'repository', name: 'Shop' } }), code({})],
  [
    'a repository by its address over SSH and HTTPS',
    code({ asset: { type: 'repository', name: 'git@github.com:acme/shop.git' } }),
    code({ asset: { type: 'repository', name: 'https://github.com/Acme/Shop/' } }),
  ],
  [
    'a repository without its server, by its path and by a checkout',
    code({ asset: { type: 'repository', name: 'acme/shop' } }),
    code({ asset: { type: 'repository', name: '/builds/acme/shop' } }),
  ],
  [
    'an image by tag and digest',
    on({ type: 'container_image', name: 'shop:1', identifiers: [{ kind: 'digest', value: 'sha256:a' }] }),
    on({ type: 'container_image', name: 'shop:latest', identifiers: [{ kind: 'digest', value: 'sha256:a' }] }),
  ],
];

const APART: readonly [string, Observation, Observation][] = [
  [
    'a path, and a repository of which the server is known',
    code({ asset: { type: 'repository', name: 'acme/shop' } }),
    code({ asset: { type: 'repository', name: 'https://github.com/acme/shop' } }),
  ],
  [
    'two hosts that share a MAC address and have different agents',
    ...(['a', 'b'].map((value) => on(host(web, fqdn(web), mac('00:00:5e:00:53:01'), { kind: 'agent_id', value }))) as [Observation, Observation]),
  ],
  [
    'two hosts that share a MAC address and have different names',
    ...(['a.example.com', 'b.example.com'].map((name) => on(host(name, fqdn(name), mac('00:00:5e:00:53:01')))) as [Observation, Observation]),
  ],
  ['two hosts with the name that every host has', ...(['10.0.0.1', '10.0.0.2'].map((value) => on(host('localhost', ip(value)))) as [Observation, Observation])],
  ['another component', seen({ location: { component: 'a' } }), seen({ location: { component: 'b' } })],
  ['another asset', seen(), seen({ asset: { type: 'container_image', name: 'other:1' } })],
  ['another type of asset', seen(), seen({ asset: { type: 'repository', name: 'registry.example.com/shop:1' } })],
  ['another line', code({ location: { path: 'a', line: 1 } }), code({ location: { path: 'a', line: 2 } })],
  ['the rule of another tool', code({}), code({ tool: 'codeql' })],
  ['two hosts behind one address', on(host(web, fqdn(web), ip('10.0.0.1'))), on(host('db.example.com', fqdn('db.example.com'), ip('10.0.0.1')))],
  ['a host by its address, and one by its name with that address', on(host('10.0.0.1', ip('10.0.0.1'))), on(host(web, fqdn(web), ip('10.0.0.1')))],
  ['a host that is only named by its address, and one with that address', on(host('10.0.0.1')), on(host('10.0.0.1', mac('00:00:5e:00:53:01'), ip('10.0.0.1')))],
  ['two hosts that are named by one address', on(host('10.0.0.1', mac('00:00:5e:00:53:01'))), on(host('10.0.0.1', mac('00:00:5e:00:53:02')))],
  ['two hosts that know only themselves', on(host(web, fqdn(web), ip('127.0.0.1'))), on(host('127.0.0.1', ip('127.0.0.1')))],
  [
    'checks for several CVEs that have one in common',
    seen({ tool: 'a', rule: '1', vulnerability_ids: ['CVE-2024-0001', 'CVE-2024-0002'] }),
    seen({ tool: 'a', rule: '2', vulnerability_ids: ['CVE-2024-0001', 'CVE-2024-0003'] }),
  ],
  ['CVEs of one erratum', seen({ vulnerability_ids: ['CVE-2024-0001', 'RHSA-2024:1'] }), seen({ vulnerability_ids: ['CVE-2024-0002', 'RHSA-2024:1'] })],
];

describe.each([
  ['meet in one finding', MEET, 1],
  ['stay apart', APART, 2],
] as const)('these %s', (_, pairs, count) => {
  it.each(pairs)('%s', async (_name, one, other) => {
    const run = (items: Observation[], source: 'tool_a' | 'tool_b') => engine.run(org, items, { source, scope: { started_at: '2026-01-01T00:00:00Z' } });
    for (const [first, second] of [
      [one, other],
      [other, one],
    ] as const) {
      org = await engine.organization();
      await run([first], 'tool_a');
      await run([second], 'tool_b');
      expect(await engine.findings(org)).toHaveLength(count);
      expect((await engine.findings(org))[0]?.sightings).toHaveLength(count === 1 ? 2 : 1);
      org = await engine.organization();
      await run([first, second], 'tool_a');
      expect(await engine.findings(org)).toHaveLength(count);
    }
  });
});

describe("the tool's own id", () => {
  const alert = (id: string, line: number, given: Partial<Observation> = {}) => code({ external_id: id, location: { path: 'a', line }, ...given });
  const lines = async () => (await engine.findings(org)).map(({ sightings, location }) => `${sightings[0]?.external_id}:${location.line}`).sort();

  it('finds a finding that moved, and other sources match it at its new location', async () => {
    await engine.run(org, [alert('1', 10)]);
    expect(await engine.run(org, [alert('1', 20)])).toMatchObject({ created: 0, updated: 1 });
    expect(await engine.run(org, [code({ location: { path: 'a', line: 20 } })], { source: 'tool_b' })).toMatchObject({ created: 0 });
    expect(await engine.findings(org)).toMatchObject([{ location: { line: 20 } }]);
  });

  it('distinguishes a finding that moved from a new one at its old location', async () => {
    await engine.run(org, [alert('1', 10), alert('2', 20)]);
    const shifted = [alert('3', 10), alert('1', 20), alert('2', 30)];
    expect(await engine.run(org, shifted)).toMatchObject({ created: 1, updated: 2 });
    expect(await lines()).toEqual(['1:20', '2:30', '3:10']);
    expect(await engine.run(org, shifted)).toMatchObject({ created: 0, updated: 0, unchanged: 3 });
    await engine.run(org, [alert('1', 10), alert('3', 20), alert('2', 30)]);
    expect(await lines()).toEqual(['1:10', '2:30', '3:20']);
  });

  it('that changes on every scan does not create new findings', async () => {
    await engine.run(org, [alert('1', 10)]);
    expect(await engine.run(org, [alert('9', 10)])).toMatchObject({ created: 0, updated: 1 });
    expect(await lines()).toEqual(['9:10']);
  });

  it('does not match on another asset or from another source', async () => {
    await engine.run(org, [alert('1', 10)]);
    expect(await engine.run(org, [alert('1', 10, { asset: { type: 'repository', name: 'other' } })])).toMatchObject({ created: 1 });
    expect(await engine.run(org, [alert('1', 30)], { source: 'tool_b' })).toMatchObject({ created: 1 });
  });

  it('that only numbers the rows of a report does not exchange findings and the decisions about them', async () => {
    const row = (id: string, n: number) => seen({ external_id: id, vulnerability_ids: [`CVE-2024-000${n}`], location: { component: `lib${n}` } });
    await engine.run(org, [row('1', 1), row('2', 2)]);
    const before = (await engine.findings(org)).map(({ id, weakness }) => `${id} ${weakness}`);
    expect(await engine.run(org, [row('1', 2), row('2', 1), row('3', 3)])).toMatchObject({ created: 1 });
    expect((await engine.findings(org)).map(({ id, weakness }) => `${id} ${weakness}`)).toEqual([...before, expect.stringContaining('CVE-2024-0003')]);
    expect(await engine.run(org, [row('1', 4), row('2', 1)])).toMatchObject({ created: 1 });
  });

  it('finds a finding whose check has another name now', async () => {
    await engine.run(org, [alert('1', 10)]);
    expect(await engine.run(org, [alert('1', 10, { rule: 'renamed' })])).toMatchObject({ created: 0, updated: 1 });
  });

  it('used twice in one report leads to a stable state', async () => {
    const report = [alert('1', 10), alert('1', 20)];
    await engine.run(org, report);
    expect(await engine.run(org, report)).toMatchObject({ created: 0, updated: 0 });
  });
});

describe('ids of one vulnerability', () => {
  it('make two findings one when they turn out to be aliases: the older id stays, with the least closed status', async () => {
    const [cve, advisory, pair] = [['CVE-2022-0001'], ['GHSA-late-late-late'], ['CVE-2022-0001', 'GHSA-late-late-late']];
    await engine.run(org, [seen({ vulnerability_ids: advisory })], { source: 'tool_b' });
    const [older] = await engine.findings(org);
    await engine
      .admin()
      .query(
        `update findings set status = 'risk_accepted', status_reason = 'for now', acceptance_owner = 'Ada', acceptance_expires_at = now() + interval '1 day', closed_at = now() where org_id = $1`,
        [org],
      );
    await engine.run(org, [seen({ vulnerability_ids: cve })], { source: 'tool_a' });
    expect(await engine.findings(org)).toHaveLength(2);
    await engine.run(org, [seen({ vulnerability_ids: pair })], { source: 'tool_c' });
    await engine.run(org, [seen({ vulnerability_ids: pair })], { source: 'tool_a' });
    const { rows } = await engine.admin().query('select id, weakness, status, listed, merged_into from findings where org_id = $1 order by listed desc', [org]);
    expect(rows).toMatchObject([
      { id: older?.id, weakness: 'CVE-2022-0001', status: 'open', listed: true },
      { status: 'withdrawn', listed: false, merged_into: older?.id },
    ]);
    expect(await engine.run(org, [seen({ vulnerability_ids: advisory })], { source: 'tool_b' })).toMatchObject({ created: 0 });
  });

  it('are resolved transitively', async () => {
    await engine.run(org, [seen({ vulnerability_ids: ['GHSA-aaaa-bbbb-cccc', 'SNYK-JS-1'] })]);
    await engine.run(org, [seen({ vulnerability_ids: both })], { source: 'tool_b' });
    await engine.run(org, [seen({ vulnerability_ids: ['SNYK-JS-1'] })], { source: 'tool_c' });
    expect(await engine.findings(org)).toMatchObject([{ weakness: 'CVE-2024-0001', sightings: [{}, {}, {}] }]);
  });
});

describe('what only a report claims about ids', () => {
  const pair = ['CVE-2023-1111', 'GHSA-xxxx-yyyy-zzzz'];
  const [cve, advisory] = pair.map((id) => seen({ vulnerability_ids: [id] })) as [Observation, Observation];
  const weaknesses = async () => (await engine.findings(org)).map(({ weakness, status }) => `${weakness} ${status}`);

  it('counts for the records of that tool, and for nobody else', async () => {
    await engine.run(org, [cve], { source: 'tool_a' });
    await engine.run(org, [advisory], { source: 'tool_b' });
    await engine.run(org, [seen({ vulnerability_ids: pair })], { source: 'tool_c' });
    expect(await weaknesses()).toEqual(['CVE-2023-1111 open', 'GHSA-xxxx-yyyy-zzzz open']);
    expect(await engine.run(org, [advisory], { source: 'tool_c' })).toMatchObject({ created: 0 });
  });

  it('counts for all once a second tool says the same', async () => {
    await engine.run(org, [seen({ vulnerability_ids: pair })], { source: 'tool_a' });
    await engine.run(org, [advisory], { source: 'tool_c' });
    await engine.run(org, [seen({ vulnerability_ids: pair })], { source: 'tool_b' });
    expect((await weaknesses())[0]).toBe('CVE-2023-1111 open');
    expect(await engine.run(org, [advisory], { source: 'tool_c' })).toMatchObject({ created: 0 });
    expect((await engine.findings(org))[0]?.sightings).toHaveLength(3);
  });

  it('does not count if the advisory is about several vulnerabilities', async () => {
    await engine.run(org, [seen({ vulnerability_ids: ['CVE-2019-0001'] })], { source: 'tool_a' });
    await engine.run(org, [seen({ vulnerability_ids: ['GHSA-both-both-both'] })], { source: 'tool_b' });
    expect(await weaknesses()).toEqual(['CVE-2019-0001 open', 'GHSA-both-both-both open']);
  });

  it('does not count if another tool contradicts', async () => {
    await engine.run(org, [seen({ vulnerability_ids: pair })], { source: 'tool_a' });
    await engine.run(org, [seen({ vulnerability_ids: ['CVE-2023-2222', 'GHSA-xxxx-yyyy-zzzz'] })], { source: 'tool_b' });
    await engine.run(org, [seen({ vulnerability_ids: pair })], { source: 'tool_c' });
    const { rows } = await engine.admin().query('select alias from vulnerability_aliases where org_id = $1', [org]);
    expect(rows).toEqual([]);
  });

  it('does not count after it was revoked', async () => {
    for (const source of ['tool_a', 'tool_b'] as const) await engine.run(org, [seen({ vulnerability_ids: pair })], { source });
    await engine.admin().query(`update vulnerability_aliases set revoked_at = now(), revoked_by = 'Ada' where org_id = $1`, [org]);
    await engine.run(org, [advisory], { source: 'tool_c' });
    expect(await weaknesses()).toEqual(['CVE-2023-1111 open', 'GHSA-xxxx-yyyy-zzzz open']);
  });
});
