import type { Asset } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { type ImportOptions, seen } from '../../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../../testing/findings/imports-with-api.ts';

const service = useImportsWithApi();
const { get, scan, send } = service;
let count = 0;

interface Finding {
  id: string;
  status: string;
  merged_into: string | null;
  asset: { id: string };
  sightings: { source: { provider: string }; track: string; state: string }[];
  still_open_because: { code: string }[];
}
interface Shown {
  id: string;
  name: string;
  merged_into: string | null;
  identifiers: { kind: string; value: string }[];
}
const findingsOf = async (assetId: string): Promise<Finding[]> =>
  Promise.all((await get<{ data: Finding[] }>(`/findings?asset_id=${assetId}&sort=created_at`)).data.map(({ id }) => get<Finding>(`/findings/${id}`)));
const merge = (id: string, into: string) => send('POST', `/assets/${id}/merge`, { into, reason: 'one image' });
const unmerge = (id: string) => send('POST', `/assets/${id}/unmerge`, { reason: 'two images' });

/** Two images, of which each has a finding of its own and one that the other has too. The first one is older. */
async function twoAssets(
  tags: readonly [string, string] = ['prod', 'prod'],
  sources: readonly [ImportOptions['source'], ImportOptions['source']] = ['tool_a', 'tool_b'],
) {
  const n = ++count;
  const images = ['one', 'two'].map((name, at): Asset => ({ type: 'container_image', name: `registry.example.com/m${n}/${name}:${tags[at]}` })) as [
    Asset,
    Asset,
  ];
  const cve = (k: number) => `CVE-2026-${50_000 + 10 * n + k}`;
  const report = (at: 0 | 1) => [1, at + 2].map((k) => seen({ asset: images[at], vulnerability_ids: [cve(k)] }));
  await scan(images[0], report(0), 1, sources[0]);
  await scan(images[1], report(1), 2, sources[1]);
  const idOf = async (k: number) =>
    (await get<{ data: Finding[] }>(`/findings?cve=${cve(k)}&sort=created_at`)).data.map(({ id, asset }) => ({ id, asset: asset.id }));
  const shared = await idOf(1);
  expect(shared).toHaveLength(2);
  const [older, newer] = shared.map(({ asset }) => asset) as [string, string];
  return { images, cve, report, older, newer, shared: shared.map(({ id }) => id) as [string, string], alone: (await idOf(3))[0]?.id ?? '', sources };
}

describe('assets that a person merges', () => {
  it('are one: the older one has the identifiers and findings of both', async () => {
    const { images, report, older, newer, shared, alone } = await twoAssets();
    const answer = await merge(older, newer);
    expect(answer).toMatchObject({ status: 200, body: { id: older, merged_into: null } });
    expect((answer.body as Shown).identifiers.map(({ value }) => value)).toEqual(
      expect.arrayContaining([expect.stringContaining('/one'), expect.stringContaining('/two')]),
    );
    const findings = await findingsOf(older);
    expect(findings).toHaveLength(3);
    expect(findings[0]).toMatchObject({
      id: shared[0],
      status: 'open',
      sightings: [
        { source: { provider: 'tool_a' }, track: 'prod' },
        { source: { provider: 'tool_b' }, track: 'prod' },
      ],
    });
    expect(findings.map(({ id }) => id)).toContain(alone);
    expect(await get(`/findings/${shared[1]}`)).toMatchObject({ merged_into: shared[0], status: 'withdrawn' });
    expect(await get(`/assets/${newer}`)).toMatchObject({ merged_into: older, identifiers: [] });
    expect((await get<{ data: Shown[] }>('/assets?limit=200')).data.map(({ id }) => id)).not.toContain(newer);
    expect(await send('PATCH', `/assets/${newer}`, { owner: 'x' })).toMatchObject({ status: 409 });

    // A report under either name is about the one asset now.
    expect(await scan(images[1], report(1), 3, 'tool_b')).toMatchObject({ created: 0, closed: 0 });
    expect(await scan(images[1], [], 4, 'tool_b')).toMatchObject({ closed: 1 });
    expect(await get(`/findings/${alone}`)).toMatchObject({ status: 'verified' });
    expect(await get(`/findings/${shared[0]}`)).toMatchObject({ status: 'open' });
  });

  it('keep their tracks apart, and match those with the same name', async () => {
    const { older, newer, shared } = await twoAssets(['prod', 'staging'], ['tool_a', 'tool_a']);
    await merge(newer, older);
    const { data } = await get<{ data: { name: string }[] }>(`/assets/${older}/tracks`);
    expect(data.map(({ name }) => name)).toEqual(expect.arrayContaining(['prod', 'staging']));
    expect((await get<Finding>(`/findings/${shared[0]}`)).sightings.map(({ track }) => track).toSorted()).toEqual(['prod', 'staging']);
  });

  it('have the builds of both', async () => {
    const { older, newer, shared, alone } = await twoAssets(['1.4.2', '1.4.3']);
    await merge(newer, older);
    const { data } = await get<{ data: { name: string }[] }>(`/assets/${older}/versions`);
    expect(data.map(({ name }) => name)).toEqual(['1.4.3', '1.4.2']);
    expect(await get(`/findings/${alone}`)).toMatchObject({ versions: [{ name: '1.4.3' }] });
    expect((await get<{ versions: { name: string }[] }>(`/findings/${shared[0]}`)).versions.map(({ name }) => name).toSorted()).toEqual(['1.4.2', '1.4.3']);
  });

  it('are covered together by the next complete scan, and not by one before', async () => {
    const { images, older, newer, shared } = await twoAssets(['prod', 'prod'], ['tool_a', 'tool_a']);
    await merge(newer, older);
    const [kept] = shared;
    expect((await get<Finding>(`/findings/${kept}`)).sightings).toHaveLength(1);
    const open = (await findingsOf(older)).map(({ status }) => status);
    expect(open).toEqual(['open', 'open', 'open']);
    await scan(images[0], [], 5);
    expect((await findingsOf(older)).map(({ status }) => status)).toEqual(['verified', 'verified', 'verified']);
  });
});

describe('undoing the merge of assets', () => {
  it('restores both, whichever of them is named', async () => {
    for (const [tags, sources, by] of [
      [['prod', 'prod'], ['tool_a', 'tool_b'], 'older'],
      [['prod', 'staging'], ['tool_a', 'tool_a'], 'newer'],
      [['prod', 'prod'], ['tool_a', 'tool_a'], 'newer'],
    ] as const) {
      const two = await twoAssets(tags, sources);
      const { older, newer, images, report } = two;
      const state = async () => {
        const shown = ({ id, status, merged_into, asset, sightings }: Finding) => ({
          id,
          status,
          merged_into,
          asset: asset.id,
          sightings: sightings.map(({ track, state, source }) => [track, state, source.provider]),
        });
        const identifiers = await Promise.all([older, newer].map(async (id) => (await get<Shown>(`/assets/${id}`)).identifiers));
        return { identifiers, findings: await Promise.all([older, newer].map(async (id) => (await findingsOf(id)).map(shown))) };
      };
      const before = await state();
      expect(await merge(newer, older)).toMatchObject({ status: 200 });
      expect(await unmerge(two[by])).toMatchObject({ status: 200, body: { id: newer, merged_into: null } });
      expect(await state()).toEqual(before);
      expect(await scan(images[1], report(1), 6, sources[1])).toMatchObject({ created: 0, closed: 0 });
      expect(await scan(images[1], [], 7, sources[1])).toMatchObject({ closed: 2 });
      expect((await findingsOf(older)).map(({ status }) => status)).toEqual(['open', 'open']);
      expect(await unmerge(older)).toMatchObject({ status: 409 });
    }
  });

  it('undoes the latest merge first', async () => {
    const [a, b] = [await twoAssets(), await twoAssets()];
    await merge(a.newer, a.older);
    await merge(a.older, b.older);
    expect(await get(`/assets/${b.older}`)).toMatchObject({ merged_into: a.older });
    expect(await unmerge(a.older)).toMatchObject({ body: { id: b.older } });
    expect(await unmerge(a.older)).toMatchObject({ body: { id: a.newer } });
    expect(await findingsOf(a.newer)).toHaveLength(2);
    await merge(b.newer, b.older);
    await merge(b.older, a.older);
    expect(await unmerge(b.newer)).toMatchObject({ status: 409, body: { detail: expect.stringContaining(a.older) } });
  });

  it('refuses to undo an earlier merge before a later one, which has combined more', async () => {
    const [a, b] = [await twoAssets(), await twoAssets()];
    await merge(a.newer, a.older);
    await merge(b.older, a.older);
    expect(await unmerge(a.newer)).toMatchObject({ status: 409, body: { detail: expect.stringMatching(new RegExp(`\\(${b.older}\\) was merged .* later`)) } });
    expect(await unmerge(b.older)).toMatchObject({ status: 200 });
    expect(await unmerge(a.newer)).toMatchObject({ status: 200 });
  });
});

describe('merging assets is refused', () => {
  it('for one asset, for other types and for merged ones', async () => {
    const { older, newer } = await twoAssets();
    const { body } = await send('POST', '/assets', { type: 'host', name: `refused-${count}.example` });
    expect(await merge(older, older)).toMatchObject({ status: 422 });
    expect(await merge(older, (body as Shown).id)).toMatchObject({ status: 422, body: { detail: expect.stringContaining('different types') } });
    expect(await unmerge(older)).toMatchObject({ status: 409 });
    await merge(older, newer);
    expect(await merge(older, newer)).toMatchObject({ status: 409 });
    expect(await merge(newer, older)).toMatchObject({ status: 409 });
  });

  it('for assets of another organization, and for viewers', async () => {
    const { older, newer } = await twoAssets();
    const { api } = service;
    for (const path of ['merge', 'unmerge']) {
      const body = path === 'merge' ? { into: older } : {};
      expect(await api().call('POST', `/api/v1/assets/${newer}/${path}`, { as: api().theirs.owner, body })).toMatchObject({ status: 404 });
      expect(await api().call('POST', `/api/v1/assets/${newer}/${path}`, { as: await api().ours.key('viewer'), body })).toMatchObject({ status: 403 });
    }
    const theirs = await api().call('POST', '/api/v1/assets', { as: api().theirs.owner, body: { type: 'container_image', name: 'theirs' } });
    expect(await merge(newer, (theirs.body as Shown).id)).toMatchObject({ status: 404 });
  });
});

describe('the search', () => {
  const found = async (q: string) => (await get<{ data: Finding[] }>(`/findings?q=${q}&sort=created_at`)).data.map(({ id }) => id);

  it('finds findings by the new name of a renamed asset, and no longer by the old one', async () => {
    const n = ++count;
    const image: Asset = { type: 'container_image', name: `registry.example.com/oldname${n}:prod` };
    const item = (k: number, component: string) => seen({ asset: image, vulnerability_ids: [`CVE-2026-${60_000 + 10 * n + k}`], location: { component } });
    await scan(image, [item(1, 'lib'), item(2, `oldname${n}-core`)], 1);
    await scan(image, [item(1, 'lib')], 1, 'tool_b');
    const before = await found(`oldname${n}`);
    expect(before).toHaveLength(2);
    const { asset } = await get<Finding>(`/findings/${before[0]}`);
    expect(await send('PATCH', `/assets/${asset.id}`, { name: `registry.example.com/newname${n}` })).toMatchObject({ status: 200 });
    expect(await found(`newname${n}`)).toEqual(before);
    // The name of a component contains it.
    expect(await found(`oldname${n}`)).toHaveLength(1);
    // A new statement of a source does not bring the old name back, and new findings have the new one.
    await scan(image, [{ ...item(1, 'lib'), severity: 'critical' }, item(2, `oldname${n}-core`), item(3, 'other')], 2);
    expect(await found(`newname${n}`)).toHaveLength(3);
  });

  it('finds findings by the name of the asset that they were merged into, and by their own after the merge is undone', async () => {
    const n = ++count;
    const hosts = ['alpha', 'beta'].map((name): Asset => ({ type: 'host', name: `${name}${n}.example.com` })) as [Asset, Asset];
    for (const [at, host] of hosts.entries()) await scan(host, [seen({ asset: host, rule: `r${n}${at}`, location: { port: 80 + at } })], at + 1);
    const [one, two] = [(await found(`alpha${n}`))[0] ?? '', (await found(`beta${n}`))[0] ?? ''];
    const [a, b] = [(await get<Finding>(`/findings/${one}`)).asset.id, (await get<Finding>(`/findings/${two}`)).asset.id];
    expect(await merge(b, a)).toMatchObject({ status: 200 });
    expect(await found(`alpha${n}`)).toEqual([one, two]);
    expect(await found(`beta${n}`)).toEqual([]);
    expect(await unmerge(b)).toMatchObject({ status: 200 });
    expect(await found(`alpha${n}`)).toEqual([one]);
    expect(await found(`beta${n}`)).toEqual([two]);
  });
});
