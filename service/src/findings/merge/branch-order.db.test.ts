import type { Asset, Observation } from '@rrs/scan-reports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seen, useImports } from '../../testing/findings/imports.ts';
import { histories, LAW } from '../../testing/findings/laws.ts';
import { someOrders } from '../../testing/findings/orders.ts';

const engine = useImports();
const repository: Asset = { type: 'repository', name: 'https://git.example.com/shop' };

/** A complete scan of a branch on a day of January. */
interface Scan {
  branch: string | null;
  day: number;
  found: Readonly<Record<string, Observation['severity']>>;
}

const VEX = 'a VEX document, which names no branch';

/** Says of components of the repository that they are affected. */
function vexOf({ day, found }: Scan): Buffer {
  const subcomponents = Object.keys(found).map((component) => ({ '@id': component }));
  const statements = [{ vulnerability: { name: 'CVE-2024-0001' }, products: [{ '@id': repository.name, subcomponents }], status: 'affected' }];
  const head = { '@context': 'https://openvex.dev/ns/v0.2.0', '@id': 'urn:example:vex', author: 'Acme', version: 1, timestamp: dayOf(day) };
  return Buffer.from(JSON.stringify({ ...head, statements }));
}

const dayOf = (day: number) => new Date(Date.UTC(2026, 0, day)).toISOString();

async function send(org: string, { branch, day, found }: Scan) {
  if (branch === VEX) {
    const file = { format: 'openvex', name: 'shop.openvex.json', bytes: vexOf({ branch, day, found }) };
    const row = await engine.runFile(org, file, { started_at: dayOf(day), asset: repository });
    expect(row).toMatchObject({ status: 'succeeded', rejected: 0 });
    return row;
  }
  const asset = branch === null ? repository : { ...repository, ref: branch };
  const items = Object.entries(found).map(([component, severity]) => seen({ asset, severity, location: { component, path: `${component}.lock` } }));
  const row = await engine.run(org, [...items, { run: { asset } }], {
    scope: { coverage: 'complete', started_at: dayOf(day) },
  });
  expect(row).toMatchObject({ status: 'succeeded' });
  return row;
}

async function sendAll(scans: readonly Scan[]): Promise<string> {
  const org = await engine.organization();
  for (const scan of scans) await send(org, scan);
  return org;
}

const rowsOf = async (org: string, query: string) => (await engine.admin().query(query, [org])).rows;
const listed = (org: string) => rowsOf(org, 'select component, listed, status, first_seen from findings where org_id = $1 order by 1');
const tracks = (org: string) => rowsOf(org, 'select name, counts, kind from asset_tracks where org_id = $1 order by 1');
const stateOf = async (org: string) => ({
  ...(await engine.stateOf(org, { lawful: true })),
  listed: await listed(org),
  tracks: await tracks(org),
  places: await rowsOf(
    org,
    `select f.component, o.label, o.state from occurrences o join findings f on f.org_id = o.org_id and f.id = o.finding_id where o.org_id = $1 order by 1, 2`,
  ),
});

const main = { branch: 'main', day: 5, found: { a: 'low', b: 'high' } } satisfies Scan;
const feature = { branch: 'feature/x', day: 3, found: { a: 'critical', x: 'high' } } satisfies Scan;

describe('a branch that is scanned before the default one counts no longer than until that one is known', () => {
  it.each<[string, Scan[]]>([
    ['main after it', [feature, main]],
    ['main before it', [feature, { ...main, day: 1 }]],
    ['main, and the branch again', [feature, main, { branch: 'feature/x', day: 6, found: { y: 'low' } }]],
    ['main, which no longer has what it had', [feature, main, { branch: 'main', day: 8, found: {} }]],
    ['two such branches', [feature, main, { branch: 'feature/y', day: 4, found: { x: 'low', z: 'low' } }]],
    ['two such branches and no other', [feature, { branch: 'feature/y', day: 4, found: { x: 'low', z: 'low' } }]],
    ['scans that name no branch', [feature, { branch: null, day: 4, found: { a: 'high', c: 'low' } }]],
    [VEX, [feature, { branch: VEX, day: 4, found: { a: 'unknown', c: 'unknown' } }]],
    ['a VEX document and main', [feature, { branch: VEX, day: 4, found: { a: 'unknown', x: 'unknown' } }, main]],
    ['an environment', [feature, { branch: 'staging', day: 4, found: { a: 'high', c: 'low' } }, main]],
    ['a branch and its environment only', [feature, { branch: 'staging', day: 4, found: { a: 'high', c: 'low' } }]],
  ])('%s, in every order', LAW, async (_name, scans) => {
    const expected = await stateOf(await sendAll(scans.toReversed()));
    for (const order of someOrders(scans))
      expect(await stateOf(await sendAll(order)), JSON.stringify(order.map(({ branch, day }) => [branch, day]))).toEqual(expected);
  });

  it('for any scans, in any order', LAW, async () => {
    const scan = fc.record({
      branch: fc.constantFrom('main', 'feature/x', 'feature/y', 'staging', null),
      day: fc.integer({ min: 1, max: 9 }),
      found: fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('low' as const, 'high' as const), { maxKeys: 2 }),
    });
    const history = fc
      .uniqueArray(scan, { minLength: 2, maxLength: 5, selector: ({ day }) => day })
      .chain((scans) => fc.tuple(fc.constant(scans.toSorted((a, b) => a.day - b.day)), fc.shuffledSubarray(scans, { minLength: scans.length })));
    await fc.assert(
      fc.asyncProperty(history, async ([scans, order]) => {
        expect(await stateOf(await sendAll(order))).toEqual(await stateOf(await sendAll(scans)));
      }),
      histories(4),
    );
  });

  it('and a note says so', async () => {
    const org = await sendAll([feature]);
    expect(await listed(org)).toMatchObject([
      { component: 'a', listed: true },
      { component: 'x', listed: true },
    ]);
    const { notes } = await send(org, main);
    expect(JSON.stringify(notes)).toContain('The branch \\"feature/x\\" no longer counts');
    expect(await listed(org)).toMatchObject([
      { component: 'a', listed: true, first_seen: new Date('2026-01-05') },
      { component: 'b', listed: true },
      { component: 'x', listed: false },
    ]);
    expect(JSON.stringify((await send(org, { ...main, day: 6 })).notes)).not.toContain('feature/x');
  });

  it('unless a person has decided about what only it has', async () => {
    const org = await sendAll([feature]);
    await engine.admin().query(`update findings set status = 'in_progress', status_changed_by = 'somebody' where org_id = $1 and component = 'x'`, [org]);
    const { notes } = await send(org, main);
    expect(JSON.stringify(notes)).toContain('The branch \\"feature/x\\" goes on counting');
    expect(await listed(org)).toMatchObject([{ listed: true }, { listed: true }, { component: 'x', listed: true, status: 'in_progress' }]);
    expect(await tracks(org)).toMatchObject([{ name: 'feature/x', counts: true }, { name: 'main' }]);
  });

  it('unless what only it has is on a work item', async () => {
    const org = await sendAll([feature]);
    await engine.admin().query(
      `with item as (insert into work_items (org_id, id, title, created_by_name) values ($1, new_id(), 'Fix it', 'Ada') returning id)
       insert into work_item_findings (org_id, id, work_item_id, finding_id, linked_at, linked_by)
       select $1, new_id(), item.id, f.id, now(), 'Ada' from item, findings f where f.org_id = $1 and f.component = 'x'`,
      [org],
    );
    const { notes } = await send(org, main);
    expect(JSON.stringify(notes)).toContain('goes on counting');
    expect(await listed(org)).toMatchObject([{ listed: true }, { listed: true }, { component: 'x', listed: true }]);
  });

  it('counts with its next scan once the policy names it, also if it was kept apart', async () => {
    const org = await sendAll([main, feature]);
    expect(await listed(org)).toMatchObject([
      { component: 'a', listed: true },
      { component: 'b', listed: true },
      { component: 'x', listed: false },
    ]);
    await engine.admin().query(`update organizations set policy = '{"track_names": ["feature/*"]}' where id = $1`, [org]);
    await send(org, { ...feature, day: 6 });
    expect(await listed(org)).toMatchObject([
      { component: 'a', listed: true },
      { component: 'b', listed: true },
      { component: 'x', listed: true },
    ]);
    await send(org, { branch: 'main', day: 7, found: {} });
    expect(await listed(org)).toMatchObject([{ status: 'open' }, { status: 'verified' }, { status: 'open' }]);
  });

  it('unless the policy names it', async () => {
    const org = await sendAll([feature]);
    await engine.admin().query(`update organizations set policy = '{"track_names": ["feature/*"]}' where id = $1`, [org]);
    await send(org, main);
    expect(await listed(org)).toMatchObject([{ listed: true }, { listed: true }, { component: 'x', listed: true }]);
  });
});
