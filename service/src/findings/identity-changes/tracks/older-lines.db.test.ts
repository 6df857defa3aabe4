import type { Asset, Observation } from '@rrs/scan-reports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seen, useImports } from '../../../testing/findings/imports.ts';
import { histories, LAW } from '../../../testing/findings/laws.ts';
import { someOrders } from '../../../testing/findings/orders.ts';

const engine = useImports();

type Severity = Observation['severity'];

/** One scan of a version on a day of January. */
interface Scan {
  version: string;
  day: number;
  found: Readonly<Record<string, Severity>>;
  partial?: boolean;
  track?: string;
  tool?: 'tool_a' | 'tool_b';
}

const imageOf = (version: string): Asset => ({ type: 'container_image', name: `registry.example.com/shop:${version}` });

async function send(org: string, { version, day, found, partial = false, track, tool = 'tool_a' }: Scan): Promise<void> {
  const asset = imageOf(version);
  const started_at = new Date(Date.UTC(2026, 0, 1) + day * 86_400_000).toISOString();
  const row = await engine.run(
    org,
    [...Object.entries(found).map(([component, severity]) => seen({ asset, severity, location: { component } })), { run: { asset } }],
    { source: tool, scope: { started_at, coverage: partial ? 'partial' : 'complete', ...(track === undefined ? {} : { track }) } },
  );
  expect(row).toMatchObject({ status: 'succeeded' });
}

async function sendAll(scans: readonly Scan[]): Promise<string> {
  const org = await engine.organization();
  await engine.admin().query(`update organizations set policy = '{"brake": {"share": 1, "count": 1000000}}' where id = $1`, [org]);
  for (const scan of scans) await send(org, scan);
  return org;
}

const tracksOf = async (org: string) =>
  (
    await engine.admin().query(
      `select t.name as track, v.name as build, v.first_scan, v.last_scan from asset_versions v
       join asset_tracks t on t.org_id = v.org_id and t.asset_id = v.asset_id and t.n = v.track where v.org_id = $1 order by 1, 2`,
      [org],
    )
  ).rows;
const runsOf = async (org: string) =>
  (
    await engine.admin().query(
      `select t.name as track, v.name as build, run.started_at, run.complete from run_assets run
       join asset_tracks t on t.org_id = run.org_id and t.asset_id = run.asset_id and t.n = run.track
       join asset_versions v on v.org_id = run.org_id and v.asset_id = run.asset_id and v.n = run.version_n where run.org_id = $1 order by 3, 1`,
      [org],
    )
  ).rows;
const coverageOf = async (org: string) =>
  (
    await engine.admin().query(
      `select t.name as track, c.seen_at, c.complete_at from source_coverage c
       join asset_tracks t on t.org_id = c.org_id and t.asset_id = c.asset_id and t.n = c.track where c.org_id = $1 order by 1, 2`,
      [org],
    )
  ).rows;
const stateOf = async (org: string) => ({
  ...(await engine.stateOf(org, { lawful: true })),
  tracks: await tracksOf(org),
  runs: await runsOf(org),
  coverage: await coverageOf(org),
});

const HISTORIES: Record<string, Scan[]> = {
  'one scan of each': [
    { version: '1.0.1', day: 10, found: { x: 'critical' } },
    { version: '1.0.0', day: 15, found: { x: 'low' } },
  ],
  'the older version before and after': [
    { version: '1.0.0', day: 1, found: { x: 'high', y: 'high' } },
    { version: '1.0.1', day: 10, found: { x: 'critical' } },
    { version: '1.0.0', day: 15, found: { x: 'low', z: 'low' } },
  ],
  'nothing found in the older version any more': [
    { version: '1.0.0', day: 1, found: { x: 'high', y: 'high' } },
    { version: '1.0.1', day: 10, found: { x: 'critical' } },
    { version: '1.0.0', day: 15, found: {} },
  ],
  'a higher version after both': [
    { version: '1.0.1', day: 10, found: { x: 'high' } },
    { version: '1.0.0', day: 15, found: { x: 'low', y: 'low' } },
    { version: '1.0.2', day: 20, found: { z: 'medium' } },
  ],
  'two lines that are still maintained': [
    { version: '1.2.0', day: 1, found: { x: 'high' } },
    { version: '1.0.5', day: 5, found: { x: 'low', y: 'low' } },
    { version: '1.1.3', day: 7, found: { z: 'low' } },
  ],
  'a scan that is not complete': [
    { version: '1.0.1', day: 10, found: { x: 'critical' }, partial: true },
    { version: '1.0.0', day: 15, found: { x: 'low' } },
    { version: '1.0.0', day: 18, found: { y: 'low' } },
  ],
  'another tool': [
    { version: '1.0.0', day: 9, found: { x: 'low', y: 'low', z: 'low' }, tool: 'tool_b' },
    { version: '1.0.1', day: 10, found: { x: 'critical' } },
    { version: '1.0.0', day: 15, found: { x: 'low', y: 'low' }, tool: 'tool_b' },
  ],
  'the older version within a day': [
    { version: '1.0.0', day: 9, found: { x: 'high', y: 'high' } },
    { version: '1.0.1', day: 10, found: { x: 'critical' }, partial: true },
    { version: '1.0.0', day: 10.5, found: { x: 'low' } },
  ],
};

describe('a lower version that is scanned more than a day after a higher one is on a line of its own, in every order of the reports', () => {
  it.each(Object.entries(HISTORIES))('%s', LAW, async (_name, scans) => {
    const expected = await stateOf(await sendAll(scans));
    for (const order of someOrders(scans)) expect(await stateOf(await sendAll(order)), JSON.stringify(order.map(({ day }) => day))).toEqual(expected);
  });
});

const scan = fc.record({
  version: fc.constantFrom('1.0.0', '1.0.1', '1.1.0', '1.2.0'),
  day: fc.integer({ min: 0, max: 14 }).map((half) => half / 2),
  found: fc.dictionary(fc.constantFrom('x', 'y', 'z'), fc.constantFrom<Severity>('low', 'high'), { maxKeys: 3 }),
  partial: fc.boolean(),
  tool: fc.constantFrom('tool_a' as const, 'tool_b' as const),
});

/** Sightings that are present, as words. */
const presentOf = async (org: string): Promise<string[]> =>
  (
    await engine.admin().query(
      `select f.component || ' on ' || t.name as text from sightings s join findings f on f.org_id = s.org_id and f.id = s.finding_id
       join asset_tracks t on t.org_id = f.org_id and t.asset_id = f.asset_id and t.n = s.track where s.org_id = $1 and s.state = 'present' order by 1`,
      [org],
    )
  ).rows.map(({ text }) => text);
const openOf = async (org: string): Promise<string[]> =>
  (await engine.admin().query(`select component from findings where org_id = $1 and status = 'open' order by 1`, [org])).rows.map(({ component }) => component);

it('shows and closes nothing less in another order than in the order of the scans', LAW, async () => {
  const history = fc
    .uniqueArray(scan, { minLength: 2, maxLength: 4, selector: ({ day }) => day })
    .chain((scans) => fc.tuple(fc.constant(scans.toSorted((a, b) => a.day - b.day)), fc.shuffledSubarray(scans, { minLength: scans.length })));
  await fc.assert(
    fc.asyncProperty(history, async ([scans, order]) => {
      const [forward, shuffled] = [await sendAll(scans), await sendAll(order)];
      expect(await tracksOf(shuffled)).toEqual(await tracksOf(forward));
      expect(await presentOf(shuffled)).toEqual(expect.arrayContaining(await presentOf(forward)));
      expect(await openOf(shuffled)).toEqual(expect.arrayContaining(await openOf(forward)));
    }),
    histories(4),
  );
});

it('adds late what belongs to a line that is known already, and closes nothing there', async () => {
  const scans: Scan[] = [
    { version: '1.0.2', day: 1, found: { x: 'high' } },
    { version: '1.0.1', day: 12, found: { y: 'low' } },
    { version: '1.0.2', day: 20, found: { x: 'high', z: 'low' } },
    { version: '1.1.0', day: 15, found: {} },
  ];
  const org = await sendAll(scans);
  expect(await presentOf(org)).toEqual(['x on 1.0.x', 'y on 1.0.x', 'z on 1.0.x']);
  expect(await tracksOf(org)).toEqual(await tracksOf(await sendAll(scans.toSorted((a, b) => a.day - b.day))));
  await send(org, { version: '1.0.2', day: 21, found: { x: 'high' } });
  expect(await openOf(org)).toEqual(['x']);
});

it('leaves a scan where its sender has stated the release line', async () => {
  const org = await sendAll([
    { version: '1.0.0', day: 15, found: { x: 'low' }, track: '1.x' },
    { version: '1.0.1', day: 10, found: { x: 'critical' } },
  ]);
  expect((await tracksOf(org)).map(({ track, build }) => `${track} ${build}`)).toEqual(['1.x 1.0.0', '1.x 1.0.1']);
});

it('opens again what only a scan of another line no longer showed, and says so', async () => {
  const org = await sendAll([
    { version: '1.0.0', day: 1, found: { x: 'high' } },
    { version: '1.0.0', day: 15, found: {} },
  ]);
  const statusOf = async () => (await engine.admin().query('select status, reason_code from findings where org_id = $1', [org])).rows;
  expect(await statusOf()).toEqual([{ status: 'verified', reason_code: 'scan_absent' }]);
  await send(org, { version: '1.0.1', day: 10, found: {}, partial: true });
  expect(await statusOf()).toEqual([{ status: 'open', reason_code: 'track_unmerged' }]);
});
