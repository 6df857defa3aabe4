import type { Asset, Observation, RunFacts } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { type ImportOptions, seen, useImports } from '../../testing/findings/imports.ts';
import { OTHER_ORDERS } from '../../testing/findings/orders.ts';

const engine = useImports();

const repository: Asset = { type: 'repository', name: 'https://git.example.com/shop' };
const at = (day: number): ImportOptions => ({
  scope: { coverage: 'complete', started_at: `2026-01-0${day}T00:00:00Z`, asset: { type: repository.type, name: repository.name } },
});
const inPackage = (n: number, given: Partial<Observation> = {}): Observation =>
  seen({ asset: repository, vulnerability_ids: [`CVE-2024-${1000 + n}`], location: { component: `lib${n}`, version: '1.0', ecosystem: 'npm' }, ...given });
const many = (given: Partial<Observation> = {}) => Array.from({ length: 12 }, (_, n) => inPackage(n, given));
const page = (path: string) => seen({ asset: repository, rule: 'xss', location: { url: `https://shop.example.com${path}` } });
const code = (line: number, given: Partial<Observation['location']> = {}) =>
  seen({ asset: repository, rule: 'eval', location: { path: 'src/a.ts', line, ...given } });
const ruleOf = (n: number): string => `check-${100 + n}`;
const check = (n: number, severity: Observation['severity']) => seen({ asset: repository, rule: ruleOf(n), severity, location: {} });
const alert = (component: string) => seen({ asset: repository, external_id: 'alert-1', location: { component } });
const lastLooked = (observation: Observation): Observation => ({ ...observation, last_seen: new Date('2025-06-01') });

type Case = [name: string, older: Observation[], newer: (Observation | { run: RunFacts })[], statuses: string[]];

const cases: Case[] = [
  ['what a complete scan lists although its source last looked earlier', [inPackage(1)], [lastLooked(inPackage(2))], ['verified', 'open']],
  ['many findings of a kind that the newer scan still reports', many(), [inPackage(20)], [...Array<string>(12).fill('verified'), 'open']],
  ['many findings of a kind that the newer scan leaves out', many({ severity: 'low' }), [inPackage(20)], Array<string>(13).fill('open')],
  [
    'many findings of a kind that the newer scan looked for',
    many({ severity: 'low' }),
    [inPackage(20), { run: { looked_for: ['up_to_medium'] } }],
    [...Array<string>(12).fill('verified'), 'open'],
  ],
  ...(
    [
      ['low', 'medium'],
      ['high', 'critical'],
    ] as const
  ).map(
    ([severity, lowest]): Case => [
      `many findings that are ${severity}, if the newer scan reports only what is ${lowest}`,
      many({ severity }),
      [inPackage(20, { severity: lowest })],
      Array<string>(13).fill('open'),
    ],
  ),
  [
    'many findings that are not lower than one of the newer scan',
    many({ severity: 'medium' }),
    [inPackage(20, { severity: 'low' })],
    [...Array<string>(12).fill('verified'), 'open'],
  ],
  [
    'a few findings of enabled checks that are lower, next to some of disabled checks',
    Array.from({ length: 12 }, (_, n) => check(n, 'low')),
    [check(20, 'medium'), { run: { checks: [0, 1, 2, 3, 4, 5, 6, 7, 8, 20].map(ruleOf) } }],
    [...Array<string>(9).fill('verified'), ...Array<string>(4).fill('open')],
  ],
  ['a finding at another place', [page('/a')], [page('/b')], ['open']],
  ['a finding at some of its places', [page('/a')], [page('/a'), page('/b')], ['open']],
  ['code that moved', [code(10)], [code(200)], ['open']],
  ['code in a file that is not among those the newer scan read', [code(10)], [{ run: { files: ['src/b.ts'], checks: ['eval'] } }], ['open']],
  ['code in a file that was renamed', [code(10, { fingerprint: 'f1' })], [code(10, { path: 'src/b.ts', fingerprint: 'f1' })], ['open']],
  ['a finding that the tool moved to another component', [alert('old-name')], [alert('new-name')], ['open']],
];

const secret = seen({ asset: repository, rule: 'aws-key', severity: 'high', cwes: [798], location: { path: 'a.env', line: 3 } });
const searched = (kind: 'secrets' | 'licenses'): ImportOptions => ({ scope: { ...at(2).scope, coverage: 'complete', looked_for: [kind] } });
const withoutSecrets = { run: { left_out: ['secrets', 'licenses'] } } as const satisfies { run: RunFacts };

describe('a report that arrives late leads to the same findings and places:', () => {
  const gaps = `select f.weakness, f.component_key, s.state, s.absence, s.gaps from sightings s join findings f on f.org_id = s.org_id and f.id = s.finding_id where s.org_id = $1 order by 1, 2`;
  const places = `
    select f.weakness, f.component_key, p.label, p.state, p.first_seen, p.last_seen, f.place_count from occurrences p
    join findings f on f.org_id = p.org_id and f.id = p.finding_id where p.org_id = $1 order by 1, 2, 3`;

  it.each(cases)('%s', async (_name, older, newer, statuses) => {
    const [forward, late] = [await engine.organization(), await engine.organization()];
    await engine.run(forward, older, at(1));
    await engine.run(forward, newer, at(2));
    await engine.run(late, newer, at(2));
    await engine.run(late, older, at(1));
    expect((await engine.findings(forward)).map(({ status }) => status)).toEqual(statuses);
    expect(await engine.stateOf(late, { lawful: true })).toEqual(await engine.stateOf(forward, { lawful: true }));
    expect((await engine.admin().query(places, [late])).rows).toEqual((await engine.admin().query(places, [forward])).rows);
    expect((await engine.admin().query(gaps, [late])).rows).toEqual((await engine.admin().query(gaps, [forward])).rows);
  });

  const moved = (path: string) => seen({ asset: repository, vulnerability_ids: ['CVE-2024-0001'], location: { component: 'lib', version: '1.0', path } });
  it.each([
    ['a finding that was gone and came back elsewhere', []],
    ['a finding that moved', [moved('b/lib.jar')]],
  ])('the places of %s, in any order', async (_name, clean) => {
    const scans = [
      { items: [moved('a/lib.jar')], coverage: 'partial' },
      { items: clean, coverage: 'complete' },
      { items: [moved('b/lib.jar')], coverage: 'partial' },
    ] as const;
    const present = async (org: string): Promise<unknown> => [
      (await engine.admin().query('select place_count from findings where org_id = $1', [org])).rows,
      (await engine.admin().query(`select label, state from occurrences where org_id = $1 and label = 'path a/lib.jar'`, [org])).rows,
    ];
    const inOrder = async (order: readonly number[]): Promise<string> => {
      const org = await engine.organization();
      for (const day of order) {
        const { items, coverage } = scans[day] ?? scans[0];
        await engine.run(org, [...items], { scope: { asset: repository, coverage, started_at: `2026-01-0${day + 1}T12:00:00Z` } });
      }
      return org;
    };
    const forward = await inOrder([0, 1, 2]);
    expect(await present(forward)).toEqual([[{ place_count: 1 }], [{ label: 'path a/lib.jar', state: 'absent' }]]);
    for (const order of OTHER_ORDERS) {
      const org = await inOrder(order);
      expect(await present(org), order.join(', ')).toEqual(await present(forward));
      expect(await engine.stateOf(org, { lawful: true }), order.join(', ')).toEqual(await engine.stateOf(forward, { lawful: true }));
    }
  });

  it('a package in a file that the newer report does not name, if its scope says that it is about all of the repository', async () => {
    const [forward, late] = [await engine.organization(), await engine.organization()];
    const older = [inPackage(1, { location: { component: 'lib1', version: '1.0', ecosystem: 'npm', path: 'a/package-lock.json' } })];
    const whole: ImportOptions = { scope: { ...at(2).scope, coverage: 'complete', path: '.' } };
    const first: ImportOptions = { scope: { ...at(1).scope, coverage: 'complete', path: '.' } };
    const newer = [inPackage(2), { run: { lock_files: ['b/package-lock.json'] } }];
    await engine.run(forward, older, first);
    await engine.run(forward, newer, whole);
    await engine.run(late, newer, whole);
    await engine.run(late, older, first);
    const rows = (await engine.admin().query(gaps, [forward])).rows;
    expect(rows).toContainEqual(expect.objectContaining({ absence: 'gone', gaps: ['knowledge_unstated', 'part_unstated'] }));
    expect((await engine.admin().query(gaps, [late])).rows).toEqual(rows);
  });

  it('a host that only its address tells', async () => {
    const [forward, late] = [await engine.organization(), await engine.organization()];
    const host: Asset = { type: 'host', name: '192.0.2.7', identifiers: [{ kind: 'ip', value: '192.0.2.7' }] };
    const scan = (org: string, day: number, items: Observation[]) =>
      engine.run(org, [...items, { run: { asset: host } }], { scope: { coverage: 'complete', started_at: `2026-01-0${day}T00:00:00Z` } });
    await scan(forward, 1, [seen({ asset: host })]);
    await scan(forward, 2, []);
    await scan(late, 2, []);
    await scan(late, 1, [seen({ asset: host })]);
    const rows = (await engine.admin().query(gaps, [forward])).rows;
    expect(rows).toMatchObject([{ absence: 'gone', gaps: ['identity_weak', 'credentials_unstated', 'knowledge_unstated'] }]);
    expect((await engine.admin().query(gaps, [late])).rows).toEqual(rows);
  });

  it.each([
    ['that the tool looked for', searched('secrets'), 'verified', ['checks_unstated', 'search_unstated']],
    ['if the tool looked for something else', searched('licenses'), 'open', null],
    ['if nobody says what the tool looked for', at(2), 'open', null],
  ] as const)('a secret %s', async (_name, newer, status, unstated) => {
    const [forward, late] = [await engine.organization(), await engine.organization()];
    await engine.run(forward, [secret], at(1));
    await engine.run(forward, [inPackage(1), withoutSecrets], newer);
    await engine.run(late, [inPackage(1), withoutSecrets], newer);
    await engine.run(late, [secret], at(1));
    for (const organization of [forward, late]) {
      expect((await engine.findings(organization)).find(({ weakness }) => weakness.includes('aws-key'))).toMatchObject({ status });
      expect((await engine.admin().query(gaps, [organization])).rows).toContainEqual(
        expect.objectContaining({ weakness: expect.stringContaining('aws-key'), gaps: unstated }),
      );
    }
    expect(await engine.stateOf(late, { lawful: true })).toEqual(await engine.stateOf(forward, { lawful: true }));
  });
});
