import type { Asset, Observation, RunFacts } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { type ImportOptions, seen, useImports } from '../../testing/findings/imports.ts';

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
  ['code in a file that was renamed', [code(10, { fingerprint: 'f1' })], [code(10, { path: 'src/b.ts', fingerprint: 'f1' })], ['open']],
  ['a finding that the tool moved to another component', [alert('old-name')], [alert('new-name')], ['open']],
];

describe('a report that arrives late leads to the same findings and places:', () => {
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
  });
});
