import type { Asset } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { seen } from '../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../testing/findings/imports-with-api.ts';

const service = useImportsWithApi();
const { get, send } = service;

interface Shown {
  status: string;
  merged_into: string | null;
  asset: { id: string };
  sightings: { track: string; state: string }[];
}

let count = 0;
/** Two repositories whose environments are scanned completely on days of January. */
function repositories() {
  const n = ++count;
  const named = (name: string): Asset => ({ type: 'repository', name: `https://git.example.com/moved-${n}/${name}` });
  const cve = (k: number) => `CVE-2026-${50_000 + 10 * n + k}`;
  const scan = async (name: string, track: string, day: number, found: readonly number[]) => {
    const asset = named(name);
    const items = found.map((k) => seen({ asset, vulnerability_ids: [cve(k)], location: { component: `lib-${k}` } }));
    const scope = { coverage: 'complete' as const, track, started_at: new Date(Date.UTC(2026, 0, day)).toISOString() };
    expect(await service.run([...items, { run: { asset } }], { scope })).toMatchObject({ status: 'succeeded' });
  };
  const assetOf = async (name: string) => (await get<{ data: { id: string }[] }>(`/assets?name=git.example.com/moved-${n}/${name}`)).data[0]?.id ?? '';
  const idOf = async (k: number) => (await get<{ data: { id: string }[] }>(`/findings?cve=${cve(k)}`)).data[0]?.id ?? '';
  return { scan, assetOf, idOf };
}
const post = async (path: string, body: object) => expect(await send('POST', path, body)).toMatchObject({ status: 200 });
const show = async (id: string) => {
  const { status, asset, merged_into, sightings } = await get<Shown>(`/findings/${id}`);
  return { status, asset: asset.id, merged_into, seen: sightings.map(({ track, state }) => `${track} ${state}`).sort() };
};

describe('findings that a person merged and separates again', () => {
  it('are as they were if nothing was scanned meanwhile, also if only one of them was gone', async () => {
    const { scan, idOf } = repositories();
    await scan('stays', 'prod', 1, [2, 3]);
    await scan('stays', 'prod', 2, [3]);
    const findings = [await idOf(2), await idOf(3)];
    for (const [from, into] of [findings, findings.toReversed()]) {
      await post(`/findings/${from}/merge`, { into, reason: 'one library' });
      const merged = (await Promise.all(findings.map(show))).findIndex(({ merged_into }) => merged_into !== null);
      await post(`/findings/${findings[merged]}/split`, { reason: 'two libraries' });
      expect(await Promise.all(findings.map(show))).toMatchObject([
        { status: 'verified', seen: ['prod absent'] },
        { status: 'open', seen: ['prod present'] },
      ]);
    }
  });

  it('are open if scans have shown them since they were verified, and stay verified if scans have shown only the other one', async () => {
    for (const [shown, status] of [
      [[2], ['open', 'open']],
      [[3], ['verified', 'open']],
      [
        [2, 3],
        ['open', 'open'],
      ],
    ] as const) {
      const { scan, idOf } = repositories();
      await scan('stays', 'prod', 1, [2, 3]);
      await scan('stays', 'prod', 2, [3]);
      const [gone, other] = [await idOf(2), await idOf(3)];
      for (const [from, into] of [
        [gone, other],
        [other, gone],
      ] as const) {
        await post(`/findings/${from}/merge`, { into, reason: 'one library' });
        await scan('stays', 'prod', 3, shown);
        const merged = (await show(gone)).merged_into === null ? other : gone;
        await post(`/findings/${merged}/split`, { reason: 'two libraries' });
        expect([await show(gone), await show(other)]).toMatchObject(status.map((one) => ({ status: one })));
      }
    }
  });

  it('are both where a scan showed one of them first while they were one', async () => {
    const { scan, idOf } = repositories();
    await scan('stays', 'live', 1, [2]);
    await scan('stays', 'prod', 2, [3]);
    const [one, other] = [await idOf(2), await idOf(3)];
    await post(`/findings/${other}/merge`, { into: one, reason: 'one library' });
    await scan('stays', 'prod', 3, [2]);
    await post(`/findings/${other}/split`, { reason: 'two libraries' });
    await scan('stays', 'live', 4, []);
    expect([await show(one), await show(other)]).toMatchObject([
      { status: 'open', seen: ['live absent', 'prod present'] },
      { status: 'open', seen: ['prod present'] },
    ]);
    await scan('stays', 'prod', 5, [2]);
    expect([await show(one), await show(other)]).toMatchObject([{ status: 'open' }, { status: 'verified' }]);
  });

  it('are on the asset into which theirs was merged meanwhile, on their own track, and go back with it', async () => {
    const { scan, assetOf, idOf } = repositories();
    await scan('stays', 'staging', 1, [1]);
    await scan('stays', 'prod', 1, [1]);
    await scan('moves', 'prod', 2, [2, 3]);
    const [stays, moves, one, other] = [await assetOf('stays'), await assetOf('moves'), await idOf(2), await idOf(3)];
    await post(`/findings/${other}/merge`, { into: one, reason: 'one library' });
    await post(`/assets/${moves}/merge`, { into: stays });
    await post(`/findings/${other}/split`, { reason: 'two libraries' });
    for (const id of [one, other]) expect(await show(id)).toEqual({ status: 'open', asset: stays, merged_into: null, seen: ['prod present'] });
    await scan('stays', 'staging', 3, []);
    for (const id of [one, other]) expect(await show(id)).toMatchObject({ status: 'open', seen: ['prod present'] });
    await post(`/assets/${moves}/unmerge`, { reason: 'two repositories' });
    for (const id of [one, other]) expect(await show(id)).toEqual({ status: 'open', asset: moves, merged_into: null, seen: ['prod present'] });
    await scan('moves', 'prod', 4, [3]);
    expect([await show(one), await show(other)]).toMatchObject([{ status: 'verified' }, { status: 'open' }]);
  });

  it('are on their own track if their asset was merged and is separate again', async () => {
    const { scan, assetOf, idOf } = repositories();
    await scan('stays', 'staging', 1, [1]);
    await scan('stays', 'prod', 1, [1]);
    await scan('moves', 'prod', 2, [2, 3]);
    const [stays, moves, one, other] = [await assetOf('stays'), await assetOf('moves'), await idOf(2), await idOf(3)];
    await post(`/assets/${moves}/merge`, { into: stays });
    await post(`/findings/${other}/merge`, { into: one, reason: 'one library' });
    await post(`/assets/${moves}/unmerge`, { reason: 'two repositories' });
    await post(`/findings/${other}/split`, { reason: 'two libraries' });
    for (const id of [one, other]) expect(await show(id)).toEqual({ status: 'open', asset: moves, merged_into: null, seen: ['prod present'] });
  });

  it('are on the track into which theirs was merged meanwhile, and on their own once that is separate', async () => {
    const { scan, assetOf, idOf } = repositories();
    await scan('stays', 'prod', 1, [2]);
    await scan('stays', 'live', 2, [2, 3]);
    const [asset, one, other] = [await assetOf('stays'), await idOf(2), await idOf(3)];
    await post(`/findings/${other}/merge`, { into: one, reason: 'one library' });
    await post(`/assets/${asset}/tracks/live/merge`, { into: 'prod' });
    await post(`/findings/${other}/split`, { reason: 'two libraries' });
    expect([await show(one), await show(other)]).toMatchObject([{ seen: ['prod present'] }, { seen: ['prod present'] }]);
    await scan('stays', 'prod', 3, [2]);
    expect([await show(one), await show(other)]).toMatchObject([{ status: 'open' }, { status: 'verified' }]);
    await post(`/assets/${asset}/tracks/live/unmerge`, { reason: 'two environments' });
    expect([await show(one), await show(other)]).toMatchObject([
      { status: 'open', seen: ['live present', 'prod present'] },
      { status: 'open', seen: ['live present'] },
    ]);
  });

  it('are on their own tracks if these were merged and are separate again', async () => {
    const { scan, assetOf, idOf } = repositories();
    await scan('stays', 'prod', 1, [2]);
    await scan('stays', 'live', 2, [2, 3]);
    const [asset, one, other] = [await assetOf('stays'), await idOf(2), await idOf(3)];
    await post(`/findings/${other}/merge`, { into: one, reason: 'one library' });
    await post(`/assets/${asset}/tracks/live/merge`, { into: 'prod' });
    await post(`/assets/${asset}/tracks/live/unmerge`, { reason: 'two environments' });
    await post(`/findings/${other}/split`, { reason: 'two libraries' });
    expect([await show(one), await show(other)]).toMatchObject([{ seen: ['live present', 'prod present'] }, { seen: ['live present'] }]);
  });

  it('are on the tracks whose scans had them if they were merged while the tracks were', async () => {
    const { scan, assetOf, idOf } = repositories();
    await scan('stays', 'prod', 1, [2]);
    await scan('stays', 'live', 2, [2, 3]);
    const [asset, one, other] = [await assetOf('stays'), await idOf(2), await idOf(3)];
    await post(`/assets/${asset}/tracks/live/merge`, { into: 'prod' });
    await post(`/findings/${other}/merge`, { into: one, reason: 'one library' });
    await post(`/assets/${asset}/tracks/live/unmerge`, { reason: 'two environments' });
    await post(`/findings/${other}/split`, { reason: 'two libraries' });
    expect([await show(one), await show(other)]).toMatchObject([{ seen: ['live present', 'prod present'] }, { seen: ['live present'] }]);
    await scan('stays', 'prod', 3, [2]);
    expect([await show(one), await show(other)]).toMatchObject([{ status: 'open' }, { status: 'open' }]);
    await scan('stays', 'live', 4, []);
    expect([await show(one), await show(other)]).toMatchObject([{ status: 'open' }, { status: 'verified' }]);
  });

  it('are on both tracks if scans have first shown them while the tracks were merged', async () => {
    const { scan, assetOf, idOf } = repositories();
    await scan('stays', 'prod', 1, [1]);
    await scan('stays', 'live', 2, [1]);
    const asset = await assetOf('stays');
    await post(`/assets/${asset}/tracks/live/merge`, { into: 'prod' });
    await scan('stays', 'live', 3, [1, 2, 3]);
    const [one, other] = [await idOf(2), await idOf(3)];
    await post(`/findings/${other}/merge`, { into: one, reason: 'one library' });
    await post(`/assets/${asset}/tracks/live/unmerge`, { reason: 'two environments' });
    await post(`/findings/${other}/split`, { reason: 'two libraries' });
    await scan('stays', 'prod', 4, [1]);
    for (const id of [one, other]) expect(await show(id)).toMatchObject({ status: 'open' });
    await scan('stays', 'live', 5, [1]);
    for (const id of [one, other]) expect(await show(id)).toMatchObject({ status: 'verified' });
  });

  it('are separate once their assets are, whichever of the two stayed', async () => {
    for (const [staying, moving] of [
      [2, 1],
      [1, 2],
    ] as const) {
      const { scan, assetOf, idOf } = repositories();
      await scan('one', 'prod', 1, [1]);
      await scan('two', 'prod', 2, [2]);
      const assets = [await assetOf('one'), await assetOf('two')];
      const [stays, moves] = [assets[staying - 1] ?? '', assets[moving - 1] ?? ''];
      const findings = [await idOf(1), await idOf(2)];
      const [kept, moved] = [findings[staying - 1] ?? '', findings[moving - 1] ?? ''];
      await post(`/assets/${moves}/merge`, { into: stays });
      await post(`/findings/${moved}/merge`, { into: kept, reason: 'one library' });
      await post(`/assets/${moves}/unmerge`, { reason: 'two repositories' });
      expect(await show(kept)).toEqual({ status: 'open', asset: stays, merged_into: null, seen: ['prod present'] });
      expect(await show(moved)).toEqual({ status: 'open', asset: moves, merged_into: null, seen: ['prod present'] });
      await scan('one', 'prod', 3, []);
      expect([await show(findings[0] ?? ''), await show(findings[1] ?? '')]).toMatchObject([{ status: 'verified' }, { status: 'open' }]);
    }
  });

  it('is separate from each of two that were merged into it, in any order', async () => {
    const { scan, assetOf, idOf } = repositories();
    await scan('stays', 'prod', 1, [1]);
    await scan('stays', 'prod', 2, [1, 2]);
    await scan('moves', 'prod', 3, [2, 3]);
    const [stays, moves, other] = [await assetOf('stays'), await assetOf('moves'), await idOf(3)];
    const { data } = await get<{ data: { id: string; asset: { id: string } }[] }>(`/findings?asset_id=${stays}`);
    const { data: ofMoves } = await get<{ data: { id: string; title: string }[] }>(`/findings?asset_id=${moves}`);
    const twin = ofMoves.find(({ id }) => id !== other)?.id ?? '';
    const joint = async () => (await show(twin)).merged_into ?? twin;
    await post(`/assets/${moves}/merge`, { into: stays });
    await post(`/findings/${other}/merge`, { into: await joint(), reason: 'one library' });
    await post(`/assets/${moves}/unmerge`, { reason: 'two repositories' });
    for (const id of data.map((one) => one.id)) expect(await show(id)).toEqual({ status: 'open', asset: stays, merged_into: null, seen: ['prod present'] });
    for (const id of [twin, other]) expect(await show(id)).toEqual({ status: 'open', asset: moves, merged_into: null, seen: ['prod present'] });
  });
});
