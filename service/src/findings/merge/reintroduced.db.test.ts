import type { Asset } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { inLib } from '../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../testing/findings/imports-with-api.ts';
import { someOrders } from '../../testing/findings/orders.ts';

const service = useImportsWithApi();
const { get, send, engine } = service;

let count = 0;
let asset: Asset;
beforeEach(() => {
  asset = { type: 'repository', name: `https://git.example.com/reintroduced/shop-${++count}` };
});

type Coverage = 'complete' | 'partial';
const scan = (track: string, day: number, found: readonly string[], coverage: Coverage = 'complete', source: 'tool_a' | 'tool_b' = 'tool_a') =>
  service.run([...found.map((name) => inLib(name, { asset, title: name })), { run: { asset } }], {
    source,
    scope: { asset: { type: asset.type, name: asset.name }, track, coverage, started_at: new Date(Date.UTC(2026, 0, day, 12)).toISOString() },
  });

interface Listed {
  data: { id: string; title: string; status: string }[];
}
const assetId = async (): Promise<string> =>
  (await engine.admin().query('select id from assets where org_id = $1 and name = $2', [service.api().ours.id, asset.name.slice('https://'.length)])).rows[0]
    .id;
const list = async (filter = '') => (await get<Listed>(`/findings?asset_id=${await assetId()}&sort=first_seen&${filter}`)).data;
const titles = async (filter: string) => (await list(filter)).map(({ title }) => title).sort();
const onTrack = (track: string) => titles(`track=${track}`);
const added = (track: string) => titles(`track=${track}&new_since_track=main`);
const changes = async (id: string) => {
  const { data } = await get<{ data: { title: string; kind: string; to_status: string | null }[] }>(`/imports/${id}/changes`);
  return data.map(({ title, kind, to_status }) => `${title}: ${kind} -> ${to_status}`).sort();
};
/** Everything that is stored about the findings themselves. */
const stored = async () => {
  const of = `f.org_id = $1 and f.asset_id = $2 and f.listed`;
  const { rows } = await engine.admin().query(
    `select f.*, (select jsonb_agg(s order by s.source_id, s.track) from sightings s where s.org_id = f.org_id and s.finding_id = f.id) as sightings,
       (select count(*) from finding_history h where h.org_id = f.org_id and h.finding_id = f.id) as entries from findings f where ${of} order by f.id`,
    [service.api().ours.id, await assetId()],
  );
  return rows;
};

describe.each(['pr-17', 'feature/login'])('what the main branch no longer has and %s has', (track) => {
  beforeEach(async () => {
    await scan('main', 1, ['x', 'y']);
    await scan('main', 2, ['y']);
  });

  it('is on its track, and new', async () => {
    const before = await stored();
    const row = await scan(track, 3, ['x', 'y', 'z']);
    expect(await onTrack(track)).toEqual(['x', 'z']);
    expect(await added(track)).toEqual(['x', 'z']);
    expect(await titles(`track=${track}&new_since_track=main&status=open`)).toEqual(['z']);
    expect(await titles(`import_id=${row.id}`)).toEqual(['x', 'z']);
    expect(row).toMatchObject({ created: 1, reopened: 1, unchanged: 1, closed: 0 });
    expect(await changes(row.id)).toEqual(['x: reopened -> null', 'z: created -> open']);
    expect(await stored()).toEqual(before);
    expect(await list()).toMatchObject([
      { title: 'x', status: 'verified' },
      { title: 'y', status: 'open' },
    ]);
  });

  it('stays there until a complete scan of it no longer shows it', async () => {
    await scan(track, 3, ['x', 'y']);
    expect(await scan(track, 4, ['x', 'y'])).toMatchObject({ created: 0, reopened: 0, unchanged: 2 });
    expect(await added(track)).toEqual(['x']);
    await scan(track, 5, ['y'], 'partial');
    expect(await added(track)).toEqual(['x']);
    await scan(track, 6, ['y']);
    expect(await onTrack(track)).toEqual([]);
    expect(await scan(track, 7, ['x'])).toMatchObject({ reopened: 1 });
    expect(await added(track)).toEqual(['x']);
  });

  it('is not there any more once the main branch has it again', async () => {
    await scan(track, 3, ['x', 'y']);
    expect(await scan('main', 4, ['x', 'y'])).toMatchObject({ reopened: 1 });
    expect(await onTrack(track)).toEqual([]);
    expect(await list()).toMatchObject([{ status: 'open' }, { status: 'open' }]);
  });

  it('is not there any more once the track has ended', async () => {
    await scan(track, 3, ['x', 'y']);
    await send('DELETE', `/assets/${await assetId()}/tracks/${encodeURIComponent(track)}`);
    expect(await onTrack(track)).toEqual([]);
    expect(await list()).toMatchObject([{ status: 'verified' }, { status: 'open' }]);
  });
});

describe('pull requests', () => {
  it('have what several reports of one pipeline show', async () => {
    await scan('main', 1, ['w', 'x', 'y']);
    await scan('main', 2, ['y']);
    await scan('pr-17', 3, ['w', 'y'], 'partial');
    await scan('pr-17', 3, ['x', 'y'], 'partial');
    await scan('pr-17', 3, ['y'], 'partial', 'tool_b');
    expect(await added('pr-17')).toEqual(['w', 'x']);
  });

  it('have what people dismissed or withdrew while the main branch does not have it', async () => {
    await scan('main', 1, ['w', 'x', 'y']);
    for (const [at, body] of [
      { status: 'false_positive', justification: 'code_not_present' },
      { status: 'withdrawn', reason: 'A test' },
    ].entries())
      expect(await send('PATCH', `/findings/${(await list())[at]?.id}`, body)).toMatchObject({ status: 200 });
    await scan('main', 2, ['y']);
    const before = await stored();
    await scan('pr-17', 3, ['w', 'x', 'y']);
    expect((await list('track=pr-17&new_since_track=main')).map(({ status }) => status).sort()).toEqual(['false_positive', 'withdrawn']);
    expect(await titles('track=pr-17&new_since_track=main&not_status=false_positive,risk_accepted')).toHaveLength(1);
    expect(await stored()).toEqual(before);
  });

  it('each have it, and what they closed themselves is not what they add', async () => {
    await scan('main', 1, ['x', 'y']);
    await scan('main', 2, ['y']);
    await scan('pr-1', 3, ['x', 'z']);
    expect(await scan('pr-2', 3, ['x'])).toMatchObject({ reopened: 1 });
    expect(await added('pr-1')).toEqual(['x', 'z']);
    expect(await added('pr-2')).toEqual(['x']);
    expect(await titles('track=pr-1,pr-2')).toEqual(['x', 'z']);
    await scan('pr-1', 4, ['y']);
    expect(await added('pr-1')).toEqual([]);
    expect(await added('pr-2')).toEqual(['x']);
  });

  it('do not have what an environment has', async () => {
    await scan('main', 1, ['x', 'y']);
    await scan('staging', 1, ['x']);
    await scan('main', 2, ['y']);
    expect(await scan('pr-17', 3, ['x'])).toMatchObject({ reopened: 0 });
    expect(await onTrack('pr-17')).toEqual([]);
    expect(await scan('pr-17', 4, ['x'])).toMatchObject({ unchanged: 1 });
  });

  it.each([
    ['it was gone before', ['main x y', 'main y', 'pr-17 x y'], ['x']],
    ['it went later', ['main x y', 'pr-17 x y', 'main y'], ['x']],
    ['the pull request was scanned again', ['main x y', 'main y', 'pr-17 x', 'pr-17 x y'], ['x']],
    ['the pull request fixed it', ['main x y', 'main y', 'pr-17 x', 'pr-17 y'], []],
    ['it came back', ['main x y', 'main y', 'pr-17 x', 'main x'], []],
  ])('have what the main branch does not have in any order of reports: %s', async (_name, scans, expected) => {
    for (const order of someOrders([...scans.entries()], 5)) {
      asset = { type: 'repository', name: `https://git.example.com/reintroduced/order-${++count}` };
      for (const [at, report] of order) {
        const [track = '', ...found] = report.split(' ');
        await scan(track, at + 1, found);
      }
      expect(await added('pr-17'), JSON.stringify(order)).toEqual(expected);
    }
  });
});
