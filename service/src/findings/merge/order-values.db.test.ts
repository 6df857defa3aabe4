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
      'if a newer scan says something else',
      [
        { items: [low], day: 1 },
        { items: [critical], day: 1 },
        { items: [lib({ severity: 'medium', title: 'New' })], day: 3 },
      ],
      [{ severity: 3, title: 'New' }],
    ],
    [
      'if a newer scan shows that it is gone',
      [
        { items: [low], day: 1, complete: true },
        { items: [critical], day: 1, complete: true },
        { items: [lib({ location: { component: 'lib2' } })], day: 3, complete: true },
      ],
      [{ ...severe, status: 'verified' }, { status: 'open' }],
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

describe('a deadline follows from the worst that was said since it began, in any order', () => {
  const dueAfter = (from: number, days: number) => ({ first_seen: day(from), clock_from: day(from), due_at: day(from + days) });
  const [ofCritical, ofLow] = [15, 180];
  const said = (n: number, severity: Observation['severity'], source: Step['source'] = 'tool_a', given: Partial<Observation> = {}): Step => ({
    items: [lib({ severity, ...given })],
    day: n,
    source,
  });
  const gone = (n: number): Step => ({ items: [other], day: n, complete: true });

  it.each<[string, Step[], object]>([
    [
      'of one tool',
      [said(1, 'critical'), said(5, 'low')],
      { severity: 2, ...dueAfter(1, ofCritical), sightings: [['tool_a', 'present', 2, 5, false, expect.any(String)]] },
    ],
    ['of one tool that said it later', [said(1, 'low'), said(5, 'critical')], { severity: 5, ...dueAfter(1, ofCritical) }],
    ['of one tool three times', [said(1, 'low'), said(3, 'critical'), said(5, 'medium')], { severity: 3, ...dueAfter(1, ofCritical) }],
    ['of two tools', [said(1, 'critical'), said(3, 'medium', 'tool_b'), said(5, 'low')], { severity: 3, ...dueAfter(1, ofCritical) }],
    ['of two tools, the first of which was mild', [said(1, 'low', 'tool_b'), said(3, 'critical'), said(5, 'low')], { severity: 2, ...dueAfter(1, ofCritical) }],
    [
      'that includes known exploitation',
      [said(1, 'low', 'tool_a', { known_exploited: true }), said(5, 'low')],
      { severity: 2, first_seen: day(1), due_at: expect.not.stringContaining(day(1 + ofLow)) },
    ],
    ['of what is gone', [said(1, 'critical'), said(5, 'low'), gone(7)], { status: 'verified', ...dueAfter(1, ofCritical) }],
    ['of what is gone and became worse before', [said(1, 'low'), said(5, 'critical'), gone(7)], { status: 'verified', ...dueAfter(1, ofCritical) }],
  ])('%s', async (_name, steps, expected) => {
    await expectInAnyOrder(steps, [expected, ...(steps.some(({ items }) => items[0] === other) ? [{}] : [])]);
  });

  it('unless a distribution had rated it by then', async () => {
    const rated = said(1, 'low', 'tool_b', { severity_source: 'debian' });
    const [copied, later] = [said(3, 'critical', 'tool_a', { severity_source: 'nvd' }), said(5, 'low')];
    const inOrder = await outcomeOf([rated, copied, later]);
    expect(inOrder).toMatchObject([{ severity: 2, ...dueAfter(1, ofLow) }]);
    expect(await outcomeOf([rated, later, copied])).toEqual(inOrder);
  });

  it('that began again when the finding came back: what was said before does not matter', async () => {
    const steps = [said(2, 'high'), gone(3), said(5, 'low'), said(1, 'critical')];
    expect(await outcomeOf(steps)).toMatchObject([{ status: 'open', first_seen: day(1), clock_from: day(5), due_at: day(5 + ofLow) }, {}]);
  });

  it('that a person set does not change', async () => {
    const org = await imported([said(5, 'low')]);
    await engine.admin().query('update findings set severity_override = 2, severity = 2 where org_id = $1', [org]);
    const scope = { started_at: day(1), asset: { type: repository.type, name: repository.name } };
    await engine.run(org, [lib({ severity: 'critical' })], { scope });
    expect(await findingsOf(org)).toMatchObject([{ due_at: new Date(day(1 + ofLow)) }]);
  });
});
