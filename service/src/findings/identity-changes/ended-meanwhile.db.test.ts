import type { Asset } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ImportOptions, seen } from '../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../testing/findings/imports-with-api.ts';

const service = useImportsWithApi();
const { get, send } = service;

let count = 0;
beforeEach(() => {
  count++;
});
const cve = (n: number): string => `CVE-2026-${50_000 + count * 10 + n}`;
const ghsa = (): string => `GHSA-gggg-hhhh-${String(count).padStart(4, '0')}`;
const repository = (name: string): Asset => ({ type: 'repository', name: `https://git.example.com/meanwhile/${name}-${count}` });
const day = (n: number): string => new Date(Date.UTC(2026, 0, n, 12)).toISOString();

interface Scan {
  asset?: string;
  ids?: string[];
  source?: ImportOptions['source'];
  track?: string;
}
const scan = (n: number, { asset: name = 'one', ids = [cve(1)], source = 'tool_a', track }: Scan = {}) => {
  const asset = repository(name);
  // Another component for each CVE. Aliases are about the one of the first.
  const items = ids.map((id) => seen({ asset, vulnerability_ids: [id], location: { component: `npm:lib-${id.startsWith('GHSA') ? cve(1) : id}` } }));
  return service.run([...items, { run: { asset } }], {
    source,
    scope: { coverage: 'complete', started_at: day(n), ...(track === undefined ? {} : { track }) },
  });
};
interface Shown {
  id: string;
  status: string;
  reason_code: string | null;
  sightings: { track: string; state: string }[];
}
const post = async (path: string, body: object) => {
  const { status, body: answer } = await send('POST', path, body);
  expect({ status, answer }).toMatchObject({ status: expect.toBeOneOf([200, 201]) });
};
/** Findings of the asset that are kept under the id. */
const idsOf = async (name: string, weakness: string): Promise<string[]> => {
  const { rows } = await service.engine.admin().query<{ id: string }>(
    `select f.id from findings f join assets a on a.org_id = f.org_id and a.id = f.asset_id
     where f.org_id = $1 and a.name like $2 and f.weakness = $3 order by f.merged_into is not null`,
    [service.api().ours.id, `%meanwhile/${name}-${count}`, weakness],
  );
  return rows.map(({ id }) => id);
};
const find = async (name: string, weakness: string): Promise<Shown> => get(`/findings/${(await idsOf(name, weakness))[0]}`);
const assetOf = async (name: string): Promise<string> => {
  const { data } = await get<{ data: { id: string }[] }>(`/assets?name=git.example.com/meanwhile/${name}-${count}`);
  return data[0]?.id ?? '';
};
const change = async (what: 'retire' | 'reactivate', source: string) => {
  const { data } = await get<{ data: { id: string; provider: string; tool: string }[] }>('/sources?limit=200');
  const found = data.find(({ provider, tool }) => provider === source || tool === source);
  await post(`/sources/${found?.id}/${what}`, what === 'retire' ? { reason: 'replaced' } : {});
};
const retired = { status: 'withdrawn', reason_code: 'source_retired' };

describe('a source that was retired while two were one stays retired', () => {
  it.each([
    ['tool_a', retired, { status: 'open' }],
    ['tool_b', { status: 'open' }, retired],
  ])('for assets: %s', async (source, one, two) => {
    await scan(1);
    await scan(1, { asset: 'two', source: 'tool_b' });
    const id = await assetOf('two');
    await post(`/assets/${id}/merge`, { into: await assetOf('one') });
    await change('retire', source);
    await post(`/assets/${id}/unmerge`, { reason: 'two' });
    expect(await find('one', cve(1))).toMatchObject(one);
    expect(await find('two', cve(1))).toMatchObject(two);
    await scan(4, source === 'tool_a' ? {} : { asset: 'two', source: 'tool_b' });
    expect(await find(source === 'tool_a' ? 'one' : 'two', cve(1))).toMatchObject({ status: 'open', sightings: [{ state: 'present' }] });
  });

  it('for assets that it had both scanned', async () => {
    await scan(1);
    await scan(1, { asset: 'two' });
    const id = await assetOf('two');
    await post(`/assets/${id}/merge`, { into: await assetOf('one') });
    await change('retire', 'tool_a');
    await post(`/assets/${id}/unmerge`, { reason: 'two' });
    expect(await find('one', cve(1))).toMatchObject(retired);
    expect(await find('two', cve(1))).toMatchObject(retired);
  });

  it('for tracks that it had both scanned', async () => {
    await scan(1, { track: 'prod' });
    await scan(2, { track: 'live' });
    const tracks = `/assets/${await assetOf('one')}/tracks/live`;
    await post(`${tracks}/merge`, { into: 'prod' });
    await change('retire', 'tool_a');
    await post(`${tracks}/unmerge`, { reason: 'two' });
    expect(await find('one', cve(1))).toMatchObject({ ...retired, sightings: [{ state: 'unknown' }, { state: 'unknown' }] });
  });

  it('for findings that a person had merged', async () => {
    await scan(1, { ids: [cve(1), cve(2)] });
    const [one, two] = [await find('one', cve(1)), await find('one', cve(2))];
    await post(`/findings/${one.id}/merge`, { into: two.id, reason: 'one' });
    await change('retire', 'tool_a');
    const merged = (await get<{ merged_into: string | null }>(`/findings/${one.id}`)).merged_into === null ? two : one;
    await post(`/findings/${merged.id}/split`, { reason: 'two' });
    for (const { id } of [one, two]) expect(await get(`/findings/${id}`)).toMatchObject({ ...retired, sightings: [{ state: 'unknown' }] });
  });

  it('for ids that were aliases', async () => {
    await scan(1, { ids: [ghsa(), cve(1)] });
    await post('/vulnerability-aliases', { alias: ghsa(), vulnerability: cve(1), reason: 'one' });
    await change('retire', 'tool_a');
    await post(`/vulnerability-aliases/${ghsa()}/revoke`, { reason: 'two' });
    for (const id of [ghsa(), cve(1)]) expect(await find('one', id)).toMatchObject({ ...retired, sightings: [{ state: 'unknown' }] });
  });
});

describe('a track that ended while two were one', () => {
  it('has ended after the merge of tracks was undone, and the other one has what its scans had shown', async () => {
    await scan(1, { track: 'prod' });
    await scan(2, { track: 'live' });
    const tracks = `/assets/${await assetOf('one')}/tracks`;
    await post(`${tracks}/live/merge`, { into: 'prod' });
    expect(await send('DELETE', `${tracks}/prod`)).toMatchObject({ status: 204 });
    await post(`${tracks}/live/unmerge`, { reason: 'two' });
    const { status, sightings } = await find('one', cve(1));
    expect(status).toBe('open');
    expect(sightings.map(({ track, state }) => `${track} ${state}`).sort()).toEqual(['live present', 'prod unknown']);
    await scan(4, { track: 'live', ids: [cve(2)] });
    expect(await find('one', cve(1))).toMatchObject({ status: 'verified' });
  });

  it('has ended after the merge of assets was undone', async () => {
    await scan(1, { track: 'prod' });
    await scan(1, { track: 'live', ids: [cve(2)] });
    await scan(2, { track: 'prod', asset: 'two' });
    const [one, two] = [await assetOf('one'), await assetOf('two')];
    await post(`/assets/${two}/merge`, { into: one });
    expect(await send('DELETE', `/assets/${one}/tracks/prod`)).toMatchObject({ status: 204 });
    await post(`/assets/${two}/unmerge`, { reason: 'two' });
    expect(await find('one', cve(1))).toMatchObject({ status: 'withdrawn', sightings: [{ track: 'prod', state: 'unknown' }] });
  });
});
