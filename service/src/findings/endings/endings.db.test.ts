import type { Asset } from '@rrs/scan-reports';
import { describe, expect, it } from 'vitest';
import { type ImportOptions, type Item, seen } from '../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../testing/findings/imports-with-api.ts';

const service = useImportsWithApi();
const { finding, get, send } = service;
const at = (day: number): string => new Date(Date.UTC(2026, 0, day, 12)).toISOString();
let count = 0;
const cve = (): string => `CVE-2026-${20_000 + ++count}`;
const imageOf = (name: string): Asset => ({ type: 'container_image', name });
const scan = (asset: Asset, items: readonly Item[], started_at: string, source: ImportOptions['source'] = 'tool_a') =>
  service.run([...items, { run: { asset } }], { source, scope: { coverage: 'complete', started_at } });

interface Shown {
  id: string;
  status: string;
  severity: string;
  asset: { id: string };
  sightings: { track: string; state: string }[];
}
interface Track {
  name: string;
  default: boolean;
  ended_at: string | null;
  ended_reason: string | null;
}
const tracks = async (id: string): Promise<Track[]> => (await get<{ data: Track[] }>(`/assets/${id}/tracks`)).data;

/** A finding on two tracks. */
async function onTwoTracks(): Promise<{ id: string; prod: Asset; staging: Asset; assetId: string; findingId: string }> {
  const id = cve();
  const [prod, staging] = [imageOf(`ends-${count}:prod`), imageOf(`ends-${count}:staging`)];
  await scan(prod, [seen({ asset: prod, vulnerability_ids: [id], severity: 'low' })], at(1));
  await scan(staging, [seen({ asset: staging, vulnerability_ids: [id], severity: 'critical' })], at(2));
  const shown = await finding<Shown>(id);
  return { id, prod, staging, assetId: shown.asset.id, findingId: shown.id };
}

describe('a track that a person ends', () => {
  it('leaves a finding open that another track has, with what that one says', async () => {
    const { id, assetId } = await onTwoTracks();
    expect(await finding(id)).toMatchObject({ severity: 'critical' });
    expect(await send('DELETE', `/assets/${assetId}/tracks/staging?reason=shut%20down`)).toMatchObject({ status: 204 });
    expect(await finding(id)).toMatchObject({
      status: 'open',
      severity: 'low',
      sightings: [
        { track: 'prod', state: 'present' },
        { track: 'staging', state: 'unknown' },
      ],
    });
    expect((await tracks(assetId)).find(({ name }) => name === 'staging')).toMatchObject({ ended_at: expect.any(String), ended_reason: 'shut down' });
  });

  it('withdraws what only it has, and a later scan brings both back', async () => {
    const { id, assetId, staging, findingId } = await onTwoTracks();
    for (const name of ['prod', 'staging']) await send('DELETE', `/assets/${assetId}/tracks/${name}`);
    expect(await finding(id)).toMatchObject({ status: 'withdrawn', reason_code: 'track_ended', assurance: null });
    const { data } = await get<{ data: object[] }>(`/findings/${findingId}/history`);
    expect(data[0]).toMatchObject({
      action: 'status_changed',
      before: { status: 'open' },
      after: { status: 'withdrawn', reason_code: 'track_ended' },
      import_id: null,
    });
    await service.run([seen({ asset: staging, vulnerability_ids: [id] }), { run: { asset: staging } }], { scope: { coverage: 'complete' } });
    expect(await finding(id)).toMatchObject({ status: 'open' });
    const after = await tracks(assetId);
    expect(after.filter(({ ended_at }) => ended_at === null).map(({ name }) => name)).toContain('staging');
    expect(after.find(({ name }) => name === 'prod')?.ended_at).not.toBeNull();
  });

  it('withdraws what a report of it only calls fixed', async () => {
    const id = cve();
    const asset = imageOf(`claims-${count}:prod`);
    await scan(asset, [seen({ asset, vulnerability_ids: [id] })], at(1));
    await scan(asset, [seen({ asset, vulnerability_ids: [id], present: false })], at(2));
    expect(await finding(id)).toMatchObject({ status: 'remediated', reason_code: 'source_fixed' });
    await send('DELETE', `/assets/${(await finding<Shown>(id)).asset.id}/tracks/prod`);
    expect(await finding(id)).toMatchObject({ status: 'withdrawn', reason_code: 'track_ended', assurance: null, sightings: [{ state: 'unknown' }] });
  });

  it('hides nothing that another track has, even if the scan of that one took place before', async () => {
    const id = cve();
    const [prod, staging] = [imageOf(`hides-${count}:prod`), imageOf(`hides-${count}:staging`)];
    await scan(staging, [seen({ asset: staging, vulnerability_ids: [id] })], at(1));
    await send('DELETE', `/assets/${(await finding<Shown>(id)).asset.id}/tracks/staging`);
    await scan(staging, [seen({ asset: staging, vulnerability_ids: [id] })], at(2));
    expect(await finding(id)).toMatchObject({ status: 'withdrawn' });
    await scan(prod, [seen({ asset: prod, vulnerability_ids: [id] })], at(3));
    expect(await finding(id)).toMatchObject({ status: 'open', reason_code: 'scan_seen_again' });
  });

  it('verifies what a scan has proven to be gone on the other track', async () => {
    const { id, assetId, prod } = await onTwoTracks();
    await scan(prod, [], at(3));
    expect(await finding(id)).toMatchObject({ status: 'open' });
    await send('DELETE', `/assets/${assetId}/tracks/staging`);
    expect(await finding(id)).toMatchObject({ status: 'verified', reason_code: 'scan_absent', assurance: 'scan_only' });
  });

  it('leaves decisions of people alone', async () => {
    const { id, assetId, findingId } = await onTwoTracks();
    await send('PATCH', `/findings/${findingId}`, { status: 'false_positive', justification: 'code_not_reachable' });
    for (const name of ['prod', 'staging']) await send('DELETE', `/assets/${assetId}/tracks/${name}`);
    expect(await finding(id)).toMatchObject({ status: 'false_positive' });
  });

  it('must exist in the organization', async () => {
    const { assetId } = await onTwoTracks();
    const path = `/api/v1/assets/${assetId}/tracks`;
    const { api } = service;
    expect(await send('DELETE', `/assets/${assetId}/tracks/none`)).toMatchObject({ status: 404 });
    for (const [method, body] of [['DELETE'], ['PATCH', { name: 'x' }]] as const) {
      expect(await api().call(method, `${path}/prod`, { as: api().theirs.owner, ...(body ? { body } : {}) })).toMatchObject({ status: 404 });
      expect(await api().call(method, `${path}/prod`, { as: await api().ours.key('viewer'), ...(body ? { body } : {}) })).toMatchObject({ status: 403 });
    }
    for (const list of ['tracks', 'versions']) {
      expect(await api().call('GET', `/api/v1/assets/${assetId}/${list}`, { as: api().theirs.owner })).toMatchObject({ status: 404 });
    }
  });
});

describe('the tracks of an asset', () => {
  it('include the default track before it has a name, and can be renamed', async () => {
    const { body } = await send('POST', '/assets', { type: 'repository', name: 'https://git.example.com/tracks/one' });
    const { id } = body as { id: string };
    expect(await tracks(id)).toMatchObject([{ name: 'default', default: true, kind: 'default', counts: true, ended_at: null }]);
    expect(await send('PATCH', `/assets/${id}/tracks/default`, { name: 'release/2026' })).toMatchObject({
      status: 200,
      body: { name: 'release/2026', default: true },
    });
    expect(await send('PATCH', `/assets/${id}/tracks/release%2F2026`, { name: 'main' })).toMatchObject({ status: 200, body: { name: 'main' } });
    expect(await tracks(id)).toMatchObject([{ name: 'main', default: true }]);
  });

  it('have different names', async () => {
    const { assetId } = await onTwoTracks();
    expect(await send('PATCH', `/assets/${assetId}/tracks/prod`, { name: 'staging' })).toMatchObject({ status: 409 });
    expect(await send('PATCH', `/assets/${assetId}/tracks/prod`, { name: 'prod' })).toMatchObject({ status: 200 });
  });

  it('have the builds that were scanned, the last one first', async () => {
    const name = `versions-${++count}`;
    for (const [day, tag] of [
      [1, '1.4.2'],
      [2, '1.4.3'],
    ] as const)
      await scan(imageOf(`${name}:${tag}`), [seen({ asset: imageOf(`${name}:${tag}`), vulnerability_ids: [`CVE-2026-3${count}`] })], at(day));
    const { asset } = await finding<Shown>(`CVE-2026-3${count}`);
    const { data } = await get<{ data: object[] }>(`/assets/${asset.id}/versions`);
    expect(data).toMatchObject([
      { name: '1.4.3', first_scan: at(2), last_scan: at(2), track: '1.x' },
      { name: '1.4.2', first_scan: at(1), last_scan: at(1) },
    ]);
    const page = await get<{ data: object[]; page: { next_cursor: string } }>(`/assets/${asset.id}/versions?limit=1`);
    expect((await get<{ data: object[] }>(`/assets/${asset.id}/versions?limit=1&cursor=${page.page.next_cursor}`)).data).toMatchObject([{ name: '1.4.2' }]);
  });

  it('name the other tags of their digest, of any image, and no other builds', async () => {
    const id = cve();
    const digest = `sha256:${'ab12'.repeat(16)}`;
    const named = (name: string, tag: string, of = digest): Asset => imageOf(`registry.example.com/${name}-${count}:${tag}@${of}`);
    const images = [named('shop', 'prod'), named('shop', 'staging'), named('mirror', 'prod'), named('shop', 'dev', `sha256:${'cd34'.repeat(16)}`)];
    for (const [index, asset] of images.entries()) await scan(asset, [seen({ asset, vulnerability_ids: [id] })], at(index + 1));
    const { data: assets } = await get<{ data: { id: string; name: string }[] }>(`/assets?q=-${count}&sort=name`);
    const [mirror, shop] = ['mirror', 'shop'].map((name) => assets.find((asset) => asset.name.includes(`/${name}-`)));
    const { data } = await get<{ data: { name: string; same_digest: object[] }[] }>(`/assets/${shop?.id}/versions`);
    const inShop = (name: string) => ({ asset: { id: shop?.id, name: shop?.name }, name, track: name });
    const inMirror = { asset: { id: mirror?.id, name: mirror?.name }, name: 'prod', track: 'prod' };
    expect(data.map(({ name, same_digest }) => ({ name, same_digest }))).toEqual([
      { name: 'dev', same_digest: [] },
      { name: 'staging', same_digest: [inMirror, inShop('prod')] },
      { name: 'prod', same_digest: [inMirror, inShop('staging')] },
    ]);
  });
});

describe('a retired asset', () => {
  it('is back in use when a later scan sees it, and its findings are open again', async () => {
    const id = cve();
    const asset = imageOf(`retired-${count}:prod`);
    const report = [seen({ asset, vulnerability_ids: [id] })];
    await scan(asset, report, at(1));
    const { asset: stored } = await finding<Shown>(id);
    await send('PATCH', `/assets/${stored.id}`, { retired: true });
    expect(await finding(id)).toMatchObject({ status: 'withdrawn', reason_code: 'asset_retired' });
    await scan(asset, report, at(2), 'tool_b');
    expect(await get(`/assets/${stored.id}`)).toMatchObject({ retired: true });
    await service.run([...report, { run: { asset } }], { scope: { coverage: 'complete' } });
    expect(await get(`/assets/${stored.id}`)).toMatchObject({ retired: false, retired_at: null, version: 3 });
    expect(await finding(id)).toMatchObject({ status: 'open' });
    const { rows } = await service.engine.admin().query('select type, data from events where subject = $1 order by xact desc, id desc limit 1', [stored.id]);
    expect(rows).toMatchObject([{ type: 'asset.reactivated', data: { retired: false } }]);
    const { data } = await get<{ data: object[] }>(`/audit-events?object_id=${stored.id}`);
    expect(data[0]).toMatchObject({ action: 'asset.reactivated', actor: { type: 'system' } });
  });
});

describe('a source that is retired', () => {
  interface Source {
    id: string;
    provider: string;
    open_findings: number;
    stale: boolean;
    first_scan: string | null;
    last_scan: string | null;
    retired_at: string | null;
  }
  const sourceOf = async (provider: string): Promise<Source> => {
    const found = (await get<{ data: Source[] }>('/sources?limit=200')).data.filter((source) => source.provider === provider);
    expect(found).toHaveLength(1);
    return found[0] as Source;
  };

  it('leaves open what others see, verifies what they have shown to be gone, and withdraws the rest', async () => {
    const asset = imageOf(`sources-${++count}:prod`);
    const [both, gone, alone] = [cve(), cve(), cve()];
    const each = (...ids: string[]) => ids.map((id) => seen({ asset, vulnerability_ids: [id] }));
    await scan(asset, each(both, gone, alone), at(1), 'tool_c');
    await scan(asset, each(both, gone), at(1), 'tool_b');
    await scan(asset, each(both), at(5), 'tool_b');
    const before = await sourceOf('tool_c');
    expect(before).toMatchObject({ open_findings: 3, first_scan: at(1), last_scan: at(1), stale: true, retired_at: null, retired_by: null });
    const retired = await send('POST', `/sources/${before.id}/retire`, { reason: 'replaced' });
    expect(retired).toMatchObject({ status: 200, body: { retired_at: expect.any(String), retired_reason: 'replaced', open_findings: 0, stale: false } });
    expect(await finding(both)).toMatchObject({ status: 'open' });
    expect(await finding(gone)).toMatchObject({ status: 'verified', reason_code: 'scan_absent' });
    expect(await finding(alone)).toMatchObject({ status: 'withdrawn', reason_code: 'source_retired' });
    expect(await send('POST', `/sources/${before.id}/retire`, { reason: 'again' })).toMatchObject({ status: 409 });
    const { data } = await get<{ data: object[] }>(`/audit-events?object_id=${before.id}`);
    expect(data[0]).toMatchObject({ action: 'source.retired', after: { reason: 'replaced' } });

    expect(await send('POST', `/sources/${before.id}/reactivate`)).toMatchObject({ status: 200, body: { retired_at: null } });
    expect(await finding(alone)).toMatchObject({ status: 'withdrawn' });
    await service.run([...each(alone), { run: { asset } }], { source: 'tool_c' });
    expect(await finding(alone)).toMatchObject({ status: 'open' });
    expect(await send('POST', `/sources/${before.id}/reactivate`)).toMatchObject({ status: 409 });
  });

  it('belongs to the organization, and people cannot be retired', async () => {
    await send('POST', '/findings', { title: 'manual', severity: 'low', asset: { type: 'host', name: 'manual.example' } });
    const { api } = service;
    const manual = await sourceOf('manual');
    expect(manual).toMatchObject({ stale: false, last_scan: null });
    expect(await send('POST', `/sources/${manual.id}/retire`, { reason: 'no more people' })).toMatchObject({ status: 409 });
    const path = `/api/v1/sources/${(await sourceOf('tool_b')).id}/retire`;
    const body = { reason: 'not mine' };
    expect(await api().call('POST', path, { as: api().theirs.owner, body })).toMatchObject({ status: 404 });
    expect(await api().call('POST', path, { as: await api().ours.key('viewer'), body })).toMatchObject({ status: 403 });
    expect((await api().call('GET', '/api/v1/sources', { as: api().theirs.owner })).body).toMatchObject({ data: [] });
  });
});
