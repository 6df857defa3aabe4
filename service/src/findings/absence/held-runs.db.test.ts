import type { Asset } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemActor } from '../../shared/actor.ts';
import { seen, useImports } from '../../testing/findings/imports.ts';
import { confirmImport } from '../import/manage-imports.ts';

const engine = useImports();
let org: string;
beforeEach(async () => {
  org = await engine.organization();
});

const at = (day: number): string => new Date(Date.UTC(2026, 0, day, 12)).toISOString();
const shop: Asset = { type: 'container_image', name: 'shop:prod' };
const built = (asset: Asset, digest: string): Asset => ({ ...asset, identifiers: [{ kind: 'digest', value: `sha256:${digest.repeat(64)}` }] });
const found = (asset: Asset, from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => seen({ asset, vulnerability_ids: [`CVE-2022-${10_000 + from + n}`], location: { component: `lib${from + n}` } }));
const scan = (asset: Asset, [from, to]: readonly [number, number], day: number, coverage: 'complete' | 'partial' = 'complete') =>
  engine.run(org, [...found(asset, from, to), { run: { asset } }], { scope: { coverage, started_at: at(day) } });
const countOf = async (status: string) => (await engine.findings(org)).filter((finding) => finding.status === status).length;
const confirm = (id: string) => engine.db().withTenant({ orgId: org }, (tx) => confirmImport(tx, systemActor(org, 'Ada'), id, engine.follower));

describe('a run whose closures wait for confirmation', () => {
  it('is replaced by the next complete run of the same asset', async () => {
    await scan(shop, [0, 60], 1);
    const held = await scan(shop, [0, 5], 2);
    expect(held.status).toBe('needs_confirmation');
    expect(await scan(shop, [0, 60], 3)).toMatchObject({ status: 'succeeded', closed: 0 });
    expect(await engine.read(org, held.id)).toMatchObject({ status: 'discarded', notes: [expect.any(String), expect.stringContaining('newer run')] });
    await expect(confirm(held.id)).rejects.toMatchObject({ code: 'conflict' });
    const { rows } = await engine.admin().query(`select data from events where org_id = $1 and type = 'import.discarded'`, [org]);
    expect(rows).toHaveLength(1);
  });

  it('is replaced by one that waits as well, so that only the newer one can be confirmed', async () => {
    await scan(shop, [0, 60], 1);
    const first = await scan(shop, [0, 5], 2);
    const second = await scan(shop, [0, 3], 3);
    expect([(await engine.read(org, first.id)).status, second.status]).toEqual(['discarded', 'needs_confirmation']);
    expect(await confirm(second.id)).toMatchObject({ closed: 57 });
  });

  it('keeps the closures of assets that the newer run does not cover, and of a newer time', async () => {
    const other: Asset = { type: 'container_image', name: 'other:prod' };
    await engine.run(org, [...found(shop, 0, 30), ...found(other, 30, 60)], { scope: { started_at: at(1) } });
    const held = await engine.run(org, [{ run: { asset: shop } }, { run: { asset: other } }], { scope: { coverage: 'complete', started_at: at(3) } });
    await scan(shop, [0, 30], 2);
    await scan(other, [30, 60], 4, 'partial');
    expect(await engine.read(org, held.id)).toMatchObject({ status: 'needs_confirmation' });
    await scan(shop, [0, 30], 4);
    expect(await engine.read(org, held.id)).toMatchObject({ status: 'discarded' });
    expect(await countOf('open')).toBe(60);
  });

  it.each([
    ['what it said before', {}],
    ['something else', { severity: 'critical' }],
  ] as const)('still closes on its branch what a scan of a pull request shows: %s', async (_name, said) => {
    const repository: Asset = { type: 'repository', name: 'https://git.example.com/shop' };
    const on = (track: string, [from, to]: readonly [number, number], day: number) =>
      engine.run(org, [...found(repository, from, to).map((one) => ({ ...one, ...(track === 'main' ? {} : said) })), { run: { asset: repository } }], {
        scope: { coverage: 'complete', track, started_at: at(day) },
      });
    await on('main', [0, 60], 1);
    await on('pr-7', [0, 60], 1);
    const held = await on('main', [0, 5], 2);
    expect(held.status).toBe('needs_confirmation');
    await on('pr-7', [0, 60], 3);
    expect(await confirm(held.id)).toMatchObject({ closed: 55 });
  });
});

describe('the limit for one asset', () => {
  /** The asset is a small part of what the source has. */
  const many = async () => {
    for (const n of [0, 1, 2, 3]) await scan({ type: 'container_image', name: `big-${n}:prod` }, [100 * n + 100, 100 * n + 200], 1);
  };

  it('holds if the build is the same or unknown', async () => {
    await many();
    await scan(shop, [0, 60], 1);
    expect(await scan(shop, [0, 5], 2)).toMatchObject({ status: 'needs_confirmation', notes: [expect.stringContaining('on one asset')] });
  });

  it('does not hold for another build, of which much can be gone', async () => {
    await many();
    await scan(built(shop, 'a'), [0, 60], 1);
    expect(await scan(built(shop, 'b'), [0, 5], 2)).toMatchObject({ status: 'succeeded', closed: 55 });
  });
});

describe('a workload of a cluster', () => {
  const runs = (workload: string, tag: string): Asset => ({ type: 'container_image', name: `pay:${tag}`, workload });

  it('has its own track, so that another workload with a newer build closes nothing', async () => {
    const [web, api] = [runs('shop/ReplicaSet/web/app', '1.4.2'), runs('shop/ReplicaSet/api/app', '1.4.3')];
    await scan(web, [0, 1], 1);
    expect(await scan(api, [0, 0], 2)).toMatchObject({ closed: 0 });
    expect(await scan(runs('shop/ReplicaSet/web/app', '1.4.3'), [0, 0], 3)).toMatchObject({ closed: 1 });
    const { rows } = await engine.admin().query('select name from asset_tracks where org_id = $1 order by name', [org]);
    expect(rows.map(({ name }) => name)).toEqual(['shop/replicaset/api/app', 'shop/replicaset/web/app']);
  });
});

describe('a status that a scan changes', () => {
  it('names the track, build and time of the scan, in the history and in the event', async () => {
    const version = (tag: string): Asset => ({ type: 'container_image', name: `pay:${tag}` });
    await scan(version('1.4.2'), [0, 1], 1);
    await scan(version('1.4.3'), [0, 0], 2);
    await scan(version('1.4.4'), [0, 1], 3);
    const { rows } = await engine.admin().query(`select after from finding_history where org_id = $1 and action = 'reopened'`, [org]);
    const scanned = { track: '1.x', version: '1.4.4', scanned_at: expect.stringContaining('2026-01-03') };
    expect(rows).toMatchObject([{ after: { status: 'open', reason_code: 'scan_seen_again', ...scanned } }]);
    const { rows: events } = await engine
      .admin()
      .query(`select data from events where org_id = $1 and type = 'finding.status_changed' order by xact desc, id desc limit 1`, [org]);
    expect(events).toMatchObject([{ data: { to: 'open', ...scanned } }]);
  });
});
