import type { Asset } from '@rrs/scan-reports';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { seen } from '../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../testing/findings/imports-with-api.ts';

const service = useImportsWithApi();
const { get, send } = service;
beforeAll(async () => {
  expect(await send('PATCH', '/organization', { policy: { brake: { share: 0.2, count: 3 } } })).toMatchObject({ status: 200 });
});

let count = 0;
let one: Asset;
let two: Asset;
beforeEach(() => {
  count++;
  one = { type: 'repository', name: `https://git.example.com/held/one-${count}` };
  two = { type: 'repository', name: `https://git.example.com/held/two-${count}` };
});

const all = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
const some = [0, 1];
const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
const cve = (n: number): string => `CVE-2026-${40_000 + count * 10 + n}`;
const report = (asset: Asset, found: readonly number[]) => [
  ...found.map((n) => seen({ asset, vulnerability_ids: [cve(n)], location: { component: `lib-${n}` } })),
  { run: { asset } },
];
const scan = (asset: Asset, found: readonly number[], days: number, track?: string) =>
  service.run(report(asset, found), { scope: { coverage: 'complete', started_at: daysAgo(days), ...(track === undefined ? {} : { track }) } });
const hold = async (...given: Parameters<typeof scan>): Promise<string> => {
  const held = await scan(...given);
  expect(held).toMatchObject({ status: 'needs_confirmation' });
  return held.id;
};
const confirm = async (id: string) => expect(await send('POST', `/imports/${id}/confirm`, {})).toMatchObject({ status: 200 });

interface Listed {
  id: string;
  status: string;
  sightings: { track: string; state: string }[];
}
const assetOf = async ({ name }: Asset): Promise<string> => {
  const { data } = await get<{ data: { id: string }[] }>(`/assets?name=${encodeURIComponent(name.replace('https://', ''))}`);
  return data[0]?.id ?? '';
};
const statusesOn = async (assetId: string) => {
  const { data } = await get<{ data: Listed[] }>(`/findings?asset_id=${assetId}&limit=100`);
  return Object.fromEntries([...Map.groupBy(data, ({ status }) => status)].map(([status, { length }]) => [status, length]));
};
const statuses = async (asset: Asset) => statusesOn(await assetOf(asset));
const find = async (asset: Asset, n: number): Promise<Listed> => {
  const { data } = await get<{ data: Listed[] }>(`/findings?asset_id=${await assetOf(asset)}&cve=${cve(n)}`);
  return get(`/findings/${data[0]?.id}`);
};
const onTracks = async (n: number) => (await find(one, n)).sightings.map(({ track, state }) => `${track} ${state}`).sort();

/** Returns the asset that stays. */
const mergeAssets = async (): Promise<string> => {
  expect(await send('POST', `/assets/${await assetOf(two)}/merge`, { into: await assetOf(one) })).toMatchObject({ status: 200 });
  return (await service.finding<{ asset: { id: string } }>(cve(0))).asset.id;
};
const unmergeAssets = async (id: string) => expect(await send('POST', `/assets/${id}/unmerge`, { reason: 'two' })).toMatchObject({ status: 200 });
const track = async (name: string, change: 'merge' | 'unmerge', body: object) =>
  expect(await send('POST', `/assets/${await assetOf(one)}/tracks/${name}/${change}`, body)).toMatchObject({ status: 200 });
const open = { open: 10 };
const closed = { open: 2, verified: 8 };

describe('an import on merged assets that is confirmed after the merge was undone', () => {
  it.each(['one', 'two'] as const)('closes only the findings of the asset that it named: %s', async (side) => {
    await scan(one, all, 9);
    await scan(two, all, 8);
    const other = await assetOf(two);
    await mergeAssets();
    const held = await hold(side === 'one' ? one : two, some, 5);
    await unmergeAssets(other);
    await confirm(held);
    expect([await statuses(one), await statuses(two)]).toEqual(side === 'one' ? [closed, open] : [open, closed]);
  });

  it('closes findings of both if it named both', async () => {
    await scan(one, all, 9);
    await scan(two, all, 8);
    const other = await assetOf(two);
    await mergeAssets();
    const held = await service.run([...report(one, some), ...report(two, some)], { scope: { coverage: 'complete', started_at: daysAgo(5) } });
    expect(held).toMatchObject({ status: 'needs_confirmation' });
    await unmergeAssets(other);
    await confirm(held.id);
    expect([await statuses(one), await statuses(two)]).toEqual([closed, closed]);
  });

  it('closes findings on the track that it named, whatever number that had', async () => {
    await scan(one, some, 9, 'live');
    await scan(one, all, 9, 'prod');
    await scan(two, all, 9, 'prod');
    await scan(two, some, 9, 'live');
    const other = await assetOf(two);
    await mergeAssets();
    const held = await hold(two, some, 5, 'prod');
    await unmergeAssets(other);
    await confirm(held);
    expect([await statuses(one), await statuses(two)]).toEqual([open, closed]);
  });
});

describe('an import that was held before', () => {
  it.each(['one', 'two'] as const)('the merge of assets closes nothing that a scan of the other one still shows: %s', async (side) => {
    const [named, kept] = side === 'one' ? [one, two] : [two, one];
    await scan(named, all, 9);
    await scan(kept, all, 8);
    const held = await hold(named, some, 5);
    const id = await mergeAssets();
    await confirm(held);
    expect(await statusesOn(id)).toEqual(open);
  });

  it('the merge of assets closes what only the named one has, on the right track', async () => {
    await scan(one, some, 9, 'live');
    await scan(one, some, 9, 'prod');
    await scan(two, all, 9, 'prod');
    const held = await hold(two, some, 5, 'prod');
    await mergeAssets();
    await confirm(held);
    expect(await statuses(one)).toEqual(closed);
  });

  it('the merge of tracks closes nothing that a scan of the other one still shows', async () => {
    for (const [held, other] of [
      ['prod', 'live'],
      ['live', 'prod'],
    ] as const) {
      one = { ...one, name: `${one.name}-${held}` };
      await scan(one, all, 9, held);
      const id = await hold(one, some, 5, held);
      await scan(one, all, 8, other);
      await track('live', 'merge', { into: 'prod' });
      await confirm(id);
      expect(await statuses(one)).toEqual(open);
    }
  });

  it.each([0, 5])('the merge of two findings closes nothing that it still shows, the first one reported being %i', async (first) => {
    await scan(one, [first], 9);
    await scan(one, all, 8);
    const held = await hold(one, some, 5);
    const [{ id }, { id: into }] = [await find(one, 0), await find(one, 5)];
    expect(await send('POST', `/findings/${id}/merge`, { into, reason: 'one' })).toMatchObject({ status: 200 });
    await confirm(held);
    expect(await statuses(one)).toEqual({ open: 2, verified: 7 });
    expect(await find(one, 0)).toMatchObject({ status: 'open' });
  });
});

describe('an import on merged tracks that is confirmed after the merge was undone', () => {
  it.each([
    ['live', ['live absent', 'prod present']],
    ['prod', ['live present', 'prod absent']],
  ])('says nothing about the other track: %s', async (name, expected) => {
    await scan(one, all, 9, 'prod');
    await scan(one, all, 8, 'live');
    await track('live', 'merge', { into: 'prod' });
    const held = await hold(one, some, 5, name);
    await track('live', 'unmerge', { reason: 'two' });
    await confirm(held);
    expect(await onTracks(5)).toEqual(expected);
    expect(await statuses(one)).toEqual(open);
  });
});
