import type { Asset } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { seen } from '../../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../../testing/findings/imports-with-api.ts';

const service = useImportsWithApi();
const { finding, get, send } = service;
const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

let count = 0;
let repository: Asset;
beforeEach(() => {
  repository = { type: 'repository', name: `https://git.example.com/tracks/unmerge-${++count}` };
});
const cve = (n: number): string => `CVE-2026-6${String(count).padStart(2, '0')}${n}`;
const scan = (track: string | undefined, found: readonly number[], days: number, version?: string) =>
  service.run(
    [...found.map((n) => seen({ asset: repository, vulnerability_ids: [cve(n)], location: { component: `lib-${n}` } })), { run: { asset: repository } }],
    {
      scope: { coverage: 'complete', started_at: daysAgo(days), ...(track === undefined ? {} : { track }), ...(version === undefined ? {} : { version }) },
    },
  );

interface Shown {
  asset: { id: string };
  sightings: { track: string; state: string }[];
}
const onTracks = async (n: number) => (await finding<Shown>(cve(n))).sightings.map(({ track, state }) => `${track} ${state}`).sort();
const assetId = async (n: number): Promise<string> => (await finding<Shown>(cve(n))).asset.id;
const names = async (id: string) => (await get<{ data: { name: string }[] }>(`/assets/${id}/tracks`)).data.map(({ name }) => name);
const builds = async (id: string) =>
  (await get<{ data: { name: string; track: string }[] }>(`/assets/${id}/versions`)).data.map(({ name, track }) => `${track} ${name}`).sort();
const merge = (id: string, name: string, into: string) => send('POST', `/assets/${id}/tracks/${name}/merge`, { into });
const unmerge = (id: string, name: string) => send('POST', `/assets/${id}/tracks/${name}/unmerge`, { reason: 'two environments' });

/** Findings 1 and 2 on `prod`, 2 and 3 on `live`, and both tracks merged. Returns the asset. */
async function merged(): Promise<string> {
  await scan('prod', [1, 2], 9, '1.0.0');
  await scan('live', [2, 3], 8, '1.0.0');
  const id = await assetId(1);
  expect(await merge(id, 'live', 'prod')).toMatchObject({ status: 200 });
  return id;
}

describe('tracks whose merge is undone', () => {
  it('have their findings and builds again, and scans of one say nothing about the other', async () => {
    const id = await merged();
    expect(await builds(id)).toEqual(['prod 1.0.0']);
    expect(await unmerge(id, 'live')).toMatchObject({ status: 200, body: { name: 'live', ended_at: null } });
    expect(await names(id)).toEqual(['default', 'live', 'prod']);
    expect(await builds(id)).toEqual(['live 1.0.0', 'prod 1.0.0']);
    expect([await onTracks(1), await onTracks(2), await onTracks(3)]).toEqual([['prod present'], ['live present', 'prod present'], ['live present']]);
    const { data } = await get<{ data: object[] }>(`/audit-events?object_id=${id}`);
    expect(data[0]).toMatchObject({ action: 'asset.track_unmerged', before: { track: 'prod' }, after: { track: 'live', reason: 'two environments' } });

    expect(await scan('live', [], 5)).toMatchObject({ closed: 1 });
    expect([await onTracks(1), await onTracks(2), await onTracks(3)]).toEqual([['prod present'], ['live absent', 'prod present'], ['live absent']]);
    expect(await finding(cve(3))).toMatchObject({ status: 'verified' });
    expect(await unmerge(id, 'live')).toMatchObject({ status: 409, body: { detail: expect.stringContaining('"live" is not merged') } });
  });

  it('have what their own late scans showed first meanwhile, and scans of the other one close nothing of it', async () => {
    const id = await merged();
    await scan('live', [2], 3);
    await scan('prod', [1, 2, 5], 6);
    expect(await finding(cve(5))).toMatchObject({ status: 'verified' });
    expect(await unmerge(id, 'live')).toMatchObject({ status: 200 });
    expect(await onTracks(5)).toEqual(['prod present']);
    expect(await finding(cve(5))).toMatchObject({ status: 'open' });
  });

  it('and those of merged assets are separated in the reverse order', async () => {
    const one = await merged();
    repository = { ...repository, name: `${repository.name}-other` };
    await scan('prod', [6], 9);
    const two = await assetId(6);
    const mergeAssets = () => send('POST', `/assets/${two}/merge`, { into: one });
    const unmergeAssets = () => send('POST', `/assets/${two}/unmerge`, { reason: 'two repositories' });
    expect(await mergeAssets()).toMatchObject({ status: 200 });
    expect(await unmerge(one, 'live')).toMatchObject({
      status: 409,
      body: { detail: expect.stringMatching(/-other".*after the tracks were. Undo that merge first/) },
    });
    expect(await unmergeAssets()).toMatchObject({ status: 200 });
    expect(await unmerge(one, 'live')).toMatchObject({ status: 200 });

    expect(await mergeAssets()).toMatchObject({ status: 200 });
    expect(await merge(one, 'live', 'prod')).toMatchObject({ status: 200 });
    expect(await unmergeAssets()).toMatchObject({ status: 409, body: { detail: expect.stringMatching(/"live" of .* was merged into another one later/) } });
    expect(await unmerge(one, 'live')).toMatchObject({ status: 200 });
    expect(await unmergeAssets()).toMatchObject({ status: 200 });
  });

  it('must be merged on both of two assets that a person merges, or on none', async () => {
    const one = await merged();
    repository = { ...repository, name: `${repository.name}-other` };
    await scan('prod', [6], 9);
    await scan('live', [7], 9);
    const two = await assetId(6);
    const refused = { status: 409, body: { detail: expect.stringContaining('The track "live" of one of the assets is merged into another one') } };
    expect(await send('POST', `/assets/${two}/merge`, { into: one })).toMatchObject(refused);
    expect(await send('POST', `/assets/${one}/merge`, { into: two })).toMatchObject(refused);
    expect(await merge(two, 'live', 'prod')).toMatchObject({ status: 200 });
    expect(await send('POST', `/assets/${two}/merge`, { into: one })).toMatchObject({ status: 200 });
    expect([await onTracks(6), await onTracks(7)]).toEqual([['prod present'], ['prod present']]);
  });

  it('were last seen by their own scans, so a scan that did not show a finding is not said to have shown it', async () => {
    await scan('prod', [1, 2], 9);
    await scan('live', [1, 2], 8);
    const id = await assetId(1);
    await merge(id, 'live', 'prod');
    await scan('prod', [2], 7);
    await scan('live', [1, 2], 6);
    await scan('prod', [2], 5);
    await scan('live', [1, 2], 4);
    expect(await unmerge(id, 'live')).toMatchObject({ status: 200 });
    const lastSeen = async (n: number) =>
      Object.fromEntries(
        (await finding<{ sightings: { track: string; last_seen: string }[] }>(cve(n))).sightings.map(({ track, last_seen }) => [
          track,
          Math.round((Date.now() - Date.parse(last_seen)) / 86_400_000),
        ]),
      );
    expect([await lastSeen(1), await lastSeen(2)]).toEqual([
      { prod: 9, live: 4 },
      { prod: 5, live: 4 },
    ]);
    // The scan of prod without the finding is not known to have been able to see it. The next one decides.
    expect(await scan('prod', [2], 3)).toMatchObject({ closed: 0 });
    expect(await onTracks(1)).toEqual(['live present', 'prod absent']);
    expect(await scan('live', [2], 2)).toMatchObject({ closed: 1 });
  });

  it('get what was reported since then by the name that the scan used', async () => {
    const id = await merged();
    await scan('live', [2, 3, 4], 7, '1.1.0');
    await scan('prod', [1, 2, 3, 4, 5], 6, '1.2.0');
    await scan('live', [2, 3, 4, 5, 6], 5, '1.1.0');
    expect(await finding(cve(1))).toMatchObject({ status: 'verified' });
    expect(await unmerge(id, 'prod')).toMatchObject({ status: 200, body: { name: 'live' } });
    expect(await onTracks(1)).toEqual(['prod present']);
    expect(await onTracks(2)).toEqual(['live present', 'prod present']);
    expect(await onTracks(6)).toEqual(['live present']);
    expect(await builds(id)).toEqual(['live 1.0.0', 'live 1.1.0', 'prod 1.0.0', 'prod 1.2.0']);
    expect(await scan('live', [2, 3, 4, 5, 6], 4)).toMatchObject({ created: 0, closed: 0 });
    expect(await scan('prod', [1, 2, 3, 4, 5], 3)).toMatchObject({ created: 0, closed: 0 });
    for (const n of [3, 4, 5]) expect(await onTracks(n)).toEqual(['live present', 'prod present']);
  });

  it('reopen what a scan of the other one closed, and leave closed what their own scans did not show', async () => {
    const id = await merged();
    await scan('prod', [2], 7);
    for (const n of [1, 3]) expect(await finding(cve(n))).toMatchObject({ status: 'verified' });
    await unmerge(id, 'live');
    expect(await finding(cve(1))).toMatchObject({ status: 'verified', reason_code: 'scan_absent' });
    const reopened = await finding(cve(3));
    expect(reopened).toMatchObject({ status: 'open', reason_code: 'track_unmerged', assurance: null });
    expect(await onTracks(3)).toEqual(['live present']);
    const { data } = await get<{ data: object[] }>(`/findings/${reopened.id}/history`);
    expect(data[0]).toMatchObject({ before: { status: 'verified' }, after: { status: 'open', reason_code: 'track_unmerged' }, import_id: null });
  });

  it('keep the decisions and claims of people', async () => {
    await scan('prod', [1], 9);
    await scan('live', [2, 3, 4], 8);
    const id = await assetId(1);
    const expires_at = new Date(Date.now() + 86_400_000).toISOString();
    const patch = async (n: number, body: object) => send('PATCH', `/findings/${(await finding(cve(n))).id}`, body);
    await patch(2, { status: 'risk_accepted', reason: 'for now', owner: 'ada', expires_at });
    await patch(3, { status: 'in_progress' });
    await patch(4, { status: 'false_positive', justification: 'code_not_reachable' });
    await merge(id, 'live', 'prod');
    await scan('prod', [1], 7);
    expect(await finding(cve(2))).toMatchObject({ status: 'verified', reason_code: 'acceptance_fixed' });
    expect(await finding(cve(3))).toMatchObject({ status: 'verified' });
    await unmerge(id, 'live');
    expect(await finding(cve(2))).toMatchObject({ status: 'risk_accepted', reason_code: 'acceptance_resumed', acceptance: { state: 'active', owner: 'ada' } });
    expect(await finding(cve(3))).toMatchObject({ status: 'in_progress' });
    expect(await finding(cve(4))).toMatchObject({ status: 'false_positive' });
  });

  it('have their names again if the default track was one of them', async () => {
    await scan(undefined, [1], 9);
    await scan('prod', [2], 8);
    const id = await assetId(1);
    await merge(id, 'default', 'prod');
    await scan('prod', [2, 3], 7);
    expect(await finding(cve(1))).toMatchObject({ status: 'verified' });
    expect(await unmerge(id, 'prod')).toMatchObject({ status: 200, body: { name: 'default', default: true } });
    expect([await onTracks(1), await onTracks(2), await onTracks(3)]).toEqual([['default present'], ['prod present'], ['prod present']]);
    expect(await finding(cve(1))).toMatchObject({ status: 'open' });
  });

  it('must be merged, in the organization, and come apart in the opposite order', async () => {
    const id = await merged();
    await scan('staging', [1], 7);
    expect(await unmerge(id, 'staging')).toMatchObject({ status: 409 });
    expect(await unmerge(id, 'none')).toMatchObject({ status: 404 });
    await merge(id, 'staging', 'prod');
    expect(await unmerge(id, 'live')).toMatchObject({ status: 409, body: { detail: expect.stringContaining('"staging" was merged into "prod"') } });
    const { call, theirs, ours } = service.api();
    const path = `/api/v1/assets/${id}/tracks/staging/unmerge`;
    expect(await call('POST', path, { as: theirs.owner, body: {} })).toMatchObject({ status: 404 });
    expect(await call('POST', path, { as: await ours.key('viewer'), body: {} })).toMatchObject({ status: 403 });
    for (const name of ['staging', 'live']) expect(await unmerge(id, name)).toMatchObject({ status: 200, body: { name } });
    expect(await names(id)).toEqual(['default', 'live', 'prod', 'staging']);
    expect([await onTracks(1), await onTracks(2), await onTracks(3)]).toEqual([
      ['prod present', 'staging present'],
      ['live present', 'prod present'],
      ['live present'],
    ]);
  });

  it('stay merged while another track has the name', async () => {
    await scan(undefined, [1], 9);
    await scan('prod', [2], 8);
    const id = await assetId(1);
    await merge(id, 'default', 'prod');
    await send('PATCH', `/assets/${id}/tracks/prod`, { name: 'production' });
    await scan('prod', [3], 7);
    expect(await unmerge(id, 'production')).toMatchObject({ status: 409, body: { detail: expect.stringContaining('another track "prod"') } });
    await send('PATCH', `/assets/${id}/tracks/prod`, { name: 'prod-old' });
    expect(await unmerge(id, 'production')).toMatchObject({ status: 200, body: { name: 'default' } });
    expect(await names(id)).toEqual(['default', 'prod', 'prod-old']);
  });
});
