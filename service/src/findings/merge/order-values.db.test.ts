import type { Asset, Observation } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { type ImportOptions, seen, useImports } from '../../testing/findings/imports.ts';

const engine = useImports();
const repository: Asset = { type: 'repository', name: 'https://git.example.com/shop' };

const day = (n: number): string => new Date(Date.UTC(2026, 0, n)).toISOString();
const findingsOf = async (org: string) => (await engine.admin().query('select * from findings where org_id = $1 order by weakness', [org])).rows;

interface Step {
  items: Observation[];
  day: number;
  source?: ImportOptions['source'];
  complete?: boolean;
}

/** Imports the reports into a new organization. */
async function imported(steps: readonly Step[]): Promise<string> {
  const org = await engine.organization();
  for (const { items, day: n, source, complete } of steps) {
    const scope = {
      started_at: day(n),
      coverage: complete ? ('complete' as const) : ('partial' as const),
      asset: { type: repository.type, name: repository.name },
    };
    expect(await engine.run(org, items, { scope, ...(source ? { source } : {}) })).toMatchObject({ status: 'succeeded' });
  }
  return org;
}

describe('a finding has what all records of a report about it say', () => {
  const page = (path: string, given: Partial<Observation>) =>
    seen({ asset: repository, rule: 'xss', location: { url: `https://shop.example.com${path}` }, ...given });
  const records = [page('/a', { severity: 'high', cwes: [79] }), page('/b', { severity: 'low', cwes: [80, 79] }), page('/c', { severity: 'low', cwes: [116] })];

  it.each([[records], [records.toReversed()]])('its CWEs, in any order', async (items) => {
    const org = await imported([{ items, day: 1 }]);
    expect(await findingsOf(org)).toMatchObject([{ severity: 4, cwes: [79, 80, 116] }]);
  });

  it('its CWEs, also of a later report and next to another tool', async () => {
    const org = await imported([
      { items: records.slice(0, 1), day: 1 },
      { items: records, day: 2 },
    ]);
    expect(await findingsOf(org)).toMatchObject([{ cwes: [79, 80, 116] }]);
    const both = await imported([
      { items: records, day: 1 },
      { items: [page('/a', { cwes: [20] })], day: 2, source: 'tool_b' },
      { items: records.slice(0, 1), day: 3 },
    ]);
    expect(await findingsOf(both)).toMatchObject([{ cwes: [20, 79] }]);
  });

  it('its ids', async () => {
    const lib = (severity: Observation['severity'], path: string, ...vulnerability_ids: string[]) =>
      seen({ asset: repository, severity, vulnerability_ids, location: { component: 'lib', path } });
    const org = await imported([{ items: [lib('critical', 'a.jar', 'CVE-2024-0001'), lib('low', 'b.jar', 'CVE-2024-0001', 'GHSA-aaaa-bbbb-cccc')], day: 1 }]);
    expect(await findingsOf(org)).toMatchObject([{ vulnerability_ids: ['CVE-2024-0001', 'GHSA-aaaa-bbbb-cccc'] }]);
  });
});

const ordersOf = <T>(all: readonly T[]): T[][] =>
  all.length <= 1 ? [[...all]] : all.flatMap((one, at) => ordersOf(all.toSpliced(at, 1)).map((others) => [one, ...others]));

/** What is known in the end. When it was last seen is written once a day. */
async function outcomeOf(steps: readonly Step[]): Promise<unknown> {
  const org = await imported(steps);
  const { rows } = await engine.admin().query(
    `select f.weakness, f.status, f.severity, f.title, f.cwes, f.first_seen, date_trunc('day', f.last_seen) as last_seen, f.clock_from, f.due_at, f.place_count, f.risk_score, f.search::text,
       (select jsonb_agg(jsonb_build_array(o.provider, s.state, s.severity, s.peak_severity, s.suppressed, s.content) order by o.provider)
        from sightings s join sources o on o.org_id = s.org_id and o.id = s.source_id where s.org_id = f.org_id and s.finding_id = f.id) as sightings,
       (select jsonb_agg(jsonb_build_array(p.label, p.state) order by p.source_id, p.label) from occurrences p where p.org_id = f.org_id and p.finding_id = f.id) as places
     from findings f where f.org_id = $1 order by f.weakness, f.component`,
    [org],
  );
  const sources = await engine.admin().query('select id, provider from sources where org_id = $1', [org]);
  return JSON.parse(sources.rows.reduce((text, { id, provider }) => text.replaceAll(id, provider), JSON.stringify(rows)));
}

async function expectInAnyOrder(steps: readonly Step[], expected: readonly object[]): Promise<void> {
  const forward = await outcomeOf(steps);
  expect(forward).toMatchObject(expected);
  for (const order of ordersOf(steps)) expect(await outcomeOf(order), order.map((step) => steps.indexOf(step)).join(' ')).toEqual(forward);
}

const lib = (given: Partial<Observation> = {}) => seen({ asset: repository, location: { component: 'lib', version: '1.0' }, ...given });
const other = seen({ asset: repository, vulnerability_ids: ['CVE-2024-0009'], location: { component: 'other', version: '1.0' } });

describe('of reports of the same time, the order does not matter', () => {
  const low = lib({ severity: 'low', title: 'Mild' });
  const critical = lib({ severity: 'critical', title: 'Severe', cwes: [79] });
  const severe = { severity: 5, title: 'Severe', cwes: [79], status: 'open' };
  const page = (path: string, given: Partial<Observation> = {}) =>
    seen({ asset: repository, rule: 'xss', location: { url: `https://shop.example.com${path}` }, ...given });

  it.each<[string, Step[], object[]]>([
    [
      'the less favourable statement counts',
      [
        { items: [low], day: 1 },
        { items: [critical], day: 1 },
      ],
      [severe],
    ],
    [
      'the less favourable of several statements counts, also of complete scans',
      [
        { items: [low], day: 1, complete: true },
        { items: [critical], day: 1, complete: true },
        { items: [lib({ severity: 'medium' })], day: 1, complete: true },
      ],
      [severe],
    ],
    [
      'one of equal severity counts',
      [
        { items: [lib({ title: 'One' })], day: 1 },
        { items: [lib({ title: 'Two', cwes: [20] })], day: 1 },
      ],
      [{ severity: 4 }],
    ],
    [
      'next to another tool',
      [
        { items: [low], day: 1 },
        { items: [critical], day: 1 },
        { items: [lib({ severity: 'medium' })], day: 2, source: 'tool_b' },
      ],
      [severe],
    ],
    [
      'what one of them shows is there',
      [
        { items: [critical], day: 1, complete: true },
        { items: [other], day: 1, complete: true },
      ],
      [severe, { status: 'open' }],
    ],
    [
      'a place that one of them shows is there',
      [
        { items: [page('/a'), page('/b')], day: 1, complete: true },
        { items: [page('/b', { severity: 'low' }), page('/c')], day: 1, complete: true },
      ],
      [{ place_count: 3 }],
    ],
  ])('%s', async (_name, steps, expected) => {
    await expectInAnyOrder(steps, expected);
  });
});
