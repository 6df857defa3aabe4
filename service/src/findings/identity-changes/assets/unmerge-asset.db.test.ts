import type { Asset } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ImportOptions, seen } from '../../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../../testing/findings/imports-with-api.ts';

const service = useImportsWithApi();
const { get, send } = service;
const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

let count = 0;
type Side = 'one' | 'two';
let images: Record<Side, Asset>;
beforeEach(() => {
  count++;
  const named = (name: Side): Asset => ({ type: 'container_image', name: `registry.example.com/undo-${count}/${name}:prod` });
  images = { one: named('one'), two: named('two') };
});
const cve = (n: number): string => `CVE-2026-7${String(count).padStart(3, '0')}${n}`;
const report = (asset: Asset, found: readonly number[]) => [
  ...found.map((n) => seen({ asset, vulnerability_ids: [cve(n)], location: { component: `lib-${n}` } })),
  { run: { asset } },
];
const scan = (side: Side, found: readonly number[], days: number, options: ImportOptions & { tag?: string } = {}) => {
  const { tag = 'prod', ...rest } = options;
  const asset = { ...images[side], name: images[side].name.replace(/prod$/, tag) };
  return service.run(report(asset, found), { scope: { coverage: 'complete', started_at: daysAgo(days) }, ...rest });
};

interface Listed {
  id: string;
  vulnerability_ids: string[];
  status: string;
  asset: { id: string };
}
const assetOf = async (side: Side): Promise<string> => {
  const { data } = await get<{ data: { id: string }[] }>(`/assets?name=registry.example.com/undo-${count}/${side}`);
  expect(data).toHaveLength(1);
  return data[0]?.id ?? '';
};
/** The findings of an asset, as `n status`. */
const findingsOf = async (assetId: string): Promise<string[]> => {
  const { data } = await get<{ data: Listed[] }>(`/findings?asset_id=${assetId}&limit=100`);
  return data.map(({ vulnerability_ids: [id], status }) => `${id?.at(-1)} ${status}`).sort();
};
const find = async (assetId: string, n: number): Promise<Record<string, unknown> & { id: string }> => {
  const { data } = await get<{ data: Listed[] }>(`/findings?asset_id=${assetId}&cve=${cve(n)}`);
  return get(`/findings/${data[0]?.id}`);
};
const merge = (id: string, into: string) => send('POST', `/assets/${id}/merge`, { into });
const unmerge = (id: string) => send('POST', `/assets/${id}/unmerge`, { reason: 'two images' });

/** Findings 1 and 2 on the first image, 2 and 3 on the second one, and both merged. */
async function merged(): Promise<Record<Side, string>> {
  await scan('one', [1, 2], 9);
  await scan('two', [2, 3], 8);
  const ids = { one: await assetOf('one'), two: await assetOf('two') };
  expect(await merge(ids.two, ids.one)).toMatchObject({ status: 200, body: { id: ids.one } });
  return ids;
}

describe('assets whose merge is undone', () => {
  it('reopen what a scan of the other one closed, and leave closed what their own scans did not show', async () => {
    const { one, two } = await merged();
    await scan('one', [2], 7);
    expect(await findingsOf(one)).toEqual(['1 verified', '2 open', '3 verified']);
    expect(await unmerge(two)).toMatchObject({ status: 200, body: { id: two } });
    expect(await findingsOf(one)).toEqual(['1 verified', '2 open']);
    expect(await findingsOf(two)).toEqual(['2 open', '3 open']);
    const reopened = await find(two, 3);
    expect(reopened).toMatchObject({ reason_code: 'asset_unmerged', assurance: null, sightings: [{ state: 'present' }] });
    const { data } = await get<{ data: object[] }>(`/findings/${reopened.id}/history`);
    expect(data[0]).toMatchObject({ before: { status: 'verified' }, after: { status: 'open', reason_code: 'asset_unmerged' }, import_id: null });
  });

  it('leave findings as they are that only scans of the asset that stays have shown', async () => {
    const { one, two } = await merged();
    await scan('one', [1, 2], 7);
    const before = await find(one, 1);
    await unmerge(two);
    expect(await find(one, 1)).toEqual(before);
  });

  it('close what both had only for the one whose scan no longer shows it', async () => {
    for (const [side, expected] of [
      ['one', { one: ['1 verified', '2 verified'], two: ['2 open', '3 open'] }],
      ['two', { one: ['1 open', '2 open'], two: ['2 verified', '3 verified'] }],
    ] as const) {
      count++;
      images = {
        one: { ...images.one, name: `registry.example.com/undo-${count}/one:prod` },
        two: { ...images.two, name: `registry.example.com/undo-${count}/two:prod` },
      };
      const { one, two } = await merged();
      await scan(side, [], 7);
      expect(await findingsOf(one)).toEqual(['1 verified', '2 verified', '3 verified']);
      await unmerge(one);
      expect({ one: await findingsOf(one), two: await findingsOf(two) }).toEqual(expected);
    }
  });

  it('leave closed what a run over both did not show', async () => {
    const { one, two } = await merged();
    await service.run([...report(images.one, [1]), ...report(images.two, [3])], { scope: { coverage: 'complete', started_at: daysAgo(7) } });
    await unmerge(one);
    expect({ one: await findingsOf(one), two: await findingsOf(two) }).toEqual({ one: ['1 open', '2 verified'], two: ['2 verified', '3 open'] });
  });

  it('get what was reported since then by the name that the scan used', async () => {
    const { one, two } = await merged();
    await scan('two', [2, 3, 4], 7);
    await scan('one', [1, 2, 5], 6);
    await scan('two', [2, 3, 4], 5);
    expect(await findingsOf(one)).toEqual(['1 verified', '2 open', '3 open', '4 open', '5 verified']);
    await unmerge(one);
    expect({ one: await findingsOf(one), two: await findingsOf(two) }).toEqual({ one: ['1 open', '2 open', '5 open'], two: ['2 open', '3 open', '4 open'] });
    expect(await scan('one', [1, 2, 5], 4)).toMatchObject({ created: 0, closed: 0, reopened: 0 });
    expect(await scan('two', [2, 3, 4], 3)).toMatchObject({ created: 0, closed: 0, reopened: 0 });
  });

  it('have what their own scans showed meanwhile, also if it was known of the other one before', async () => {
    const { one, two } = await merged();
    await scan('one', [1, 2, 3], 7);
    await unmerge(one);
    expect({ one: await findingsOf(one), two: await findingsOf(two) }).toEqual({ one: ['1 open', '2 open', '3 open'], two: ['2 open', '3 open'] });
    expect(await scan('one', [1, 2, 3, 4], 8.5)).toMatchObject({ created: 1 });
    expect(await findingsOf(one)).toEqual(['1 open', '2 open', '3 open', '4 open']);
  });

  it('keep the decisions and claims of people', async () => {
    await scan('one', [1], 9);
    await scan('two', [2, 3, 4], 8);
    const [one, two] = [await assetOf('one'), await assetOf('two')];
    const expires_at = new Date(Date.now() + 86_400_000).toISOString();
    const patch = async (n: number, body: object) => send('PATCH', `/findings/${(await find(two, n)).id}`, body);
    await patch(2, { status: 'risk_accepted', reason: 'for now', owner: 'ada', expires_at });
    await patch(3, { status: 'in_progress' });
    await patch(4, { status: 'false_positive', justification: 'code_not_reachable' });
    await merge(two, one);
    await scan('one', [1], 7);
    await unmerge(one);
    expect(await findingsOf(two)).toEqual(['2 risk_accepted', '3 in_progress', '4 false_positive']);
    expect(await find(two, 2)).toMatchObject({ reason_code: 'by_person', acceptance: { state: 'active', owner: 'ada' } });
  });

  it('have their own names, identifiers, tracks and builds again, and those that scans have named since', async () => {
    await scan('two', [2], 9, { tag: '1.4.2' });
    await scan('one', [1], 8, { tag: 'prod' });
    const [one, two] = [await assetOf('one'), await assetOf('two')];
    const state = async (id: string) => {
      const { name, identifiers } = await get<{ name: string; identifiers: { value: string }[] }>(`/assets/${id}`);
      const tracks = (await get<{ data: { name: string }[] }>(`/assets/${id}/tracks`)).data.map((track) => track.name);
      const builds = (await get<{ data: { name: string; track: string }[] }>(`/assets/${id}/versions`)).data.map((build) => `${build.track} ${build.name}`);
      return { name, identifiers: identifiers.map(({ value }) => value).sort(), tracks, builds: builds.sort() };
    };
    const before = [await state(one), await state(two)];
    await merge(one, two);
    await unmerge(one);
    expect([await state(one), await state(two)]).toEqual(before);

    await merge(one, two);
    await scan('one', [1, 3], 7, { tag: '1.4.3' });
    await scan('one', [1, 4], 6, { tag: 'qa' });
    await scan('two', [2, 5], 5, { tag: '1.4.4' });
    expect(await state(two)).toMatchObject({ tracks: ['1.x', 'default', 'prod', 'qa'] });
    await unmerge(one);
    expect(await state(one)).toMatchObject({ ...before[0], tracks: ['1.x', 'default', 'prod', 'qa'], builds: expect.arrayContaining(['1.x 1.4.3', 'qa qa']) });
    expect(await state(two)).toMatchObject({ ...before[1], builds: ['1.x 1.4.2', '1.x 1.4.4'] });
    const tracksOf = async (n: number) => ((await find(one, n)).sightings as { track: string }[]).map(({ track }) => track);
    expect([await tracksOf(3), await tracksOf(4)]).toEqual([['1.x'], ['qa']]);
    expect(await find(one, 3)).toMatchObject({ status: 'open', versions: [{ name: '1.4.3' }] });
    expect(await findingsOf(two)).toEqual(['2 open', '5 open']);
  });

  it('do not keep severities and tags that people gave the finding of the other one', async () => {
    await scan('one', [2], 9);
    await scan('two', [2], 8);
    const [one, two] = [await assetOf('one'), await assetOf('two')];
    const theirs = await find(two, 2);
    await send('PATCH', `/findings/${theirs.id}`, { severity: 'low', reason: 'not reachable there', tags: ['theirs'] });
    await merge(two, one);
    expect(await find(one, 2)).toMatchObject({ severity: 'low', tags: ['theirs'] });
    await unmerge(two);
    expect(await find(one, 2)).toMatchObject({ severity: 'high', severity_override: null, tags: [] });
    expect(await find(two, 2)).toMatchObject({ severity: 'low', tags: ['theirs'] });
    expect((await get<{ data: object[] }>('/findings?tag=theirs')).data).toHaveLength(1);
  });
});

describe('hosts that a report joined by mistake', () => {
  it('keep the addresses and findings that were reported of each since then', async () => {
    const host = (name: string, ip: string): Asset => ({
      type: 'host',
      name,
      identifiers: [
        { kind: 'fqdn', value: name },
        { kind: 'ip', value: ip },
      ],
    });
    const [web, db] = [`web-${count}.example.com`, `db-${count}.example.com`];
    const check = (asset: Asset, rule: string) => [seen({ asset, rule: `${rule}-${count}`, location: { port: 443 } }), { run: { asset } }];
    const run = (items: Parameters<typeof service.run>[0], days: number) => service.run(items, { scope: { coverage: 'complete', started_at: daysAgo(days) } });
    await run(check(host(web, '192.0.2.1'), 'a'), 9);
    await run(check(host(db, '192.0.2.2'), 'b'), 8);
    const idOf = async (name: string) => (await get<{ data: { id: string }[] }>(`/assets?name=${name}`)).data[0]?.id ?? '';
    const [one, two] = [await idOf(web), await idOf(db)];
    await merge(two, one);
    await run(check(host(db, '192.0.2.77'), 'c'), 7);
    await unmerge(two);
    const valuesOf = async (id: string) => (await get<{ identifiers: { value: string }[] }>(`/assets/${id}`)).identifiers.map(({ value }) => value);
    expect(await valuesOf(two)).toContain('192.0.2.77');
    expect(await valuesOf(one)).not.toContain('192.0.2.77');
    const statuses = async (id: string) =>
      (await get<{ data: { rule: string; status: string }[] }>(`/findings?asset_id=${id}`)).data.map(({ rule, status }) => `${rule} ${status}`).sort();
    expect(await statuses(one)).toEqual([`a-${count} open`]);
    expect(await statuses(two)).toEqual([`b-${count} verified`, `c-${count} open`]);
  });
});
