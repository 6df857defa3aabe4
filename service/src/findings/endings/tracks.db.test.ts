import type { Asset } from '@rrs/scan-reports';
import { beforeEach, describe, expect, it } from 'vitest';
import { seen } from '../../testing/findings/imports.ts';
import { useImportsWithApi } from '../../testing/findings/imports-with-api.ts';
import { idleTracks } from './end-idle-tracks.ts';

const service = useImportsWithApi();
const { finding, get, send, engine } = service;
const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

let count = 0;
let repository: Asset;
beforeEach(() => {
  repository = { type: 'repository', name: `https://git.example.com/tracks/merge-${++count}` };
});
const cve = (n: number): string => `CVE-2026-5${String(count).padStart(2, '0')}${n}`;
const scan = (track: string | undefined, found: readonly number[], days: number) =>
  service.run([...found.map((n) => seen({ asset: repository, vulnerability_ids: [cve(n)] })), { run: { asset: repository } }], {
    scope: { coverage: 'complete', started_at: daysAgo(days), ...(track === undefined ? {} : { track }) },
  });

interface Shown {
  status: string;
  asset: { id: string };
  sightings: { track: string; state: string }[];
}
const onTracks = async (n: number) => (await finding<Shown>(cve(n))).sightings.map(({ track, state }) => `${track} ${state}`);
const tracks = async (id: string) =>
  (await get<{ data: { name: string; default: boolean; ended_at: string | null; ended_by: string; ended_reason: string }[] }>(`/assets/${id}/tracks`)).data;
const merge = (id: string, name: string, into: string) => send('POST', `/assets/${id}/tracks/${name}/merge`, { into, reason: 'renamed' });

describe('tracks that a person merges', () => {
  it('are one track: what both had is one sighting, the next scan decides, and the old name still works', async () => {
    await scan('prod', [1, 2], 9);
    await scan('live', [2, 3], 8);
    const { asset } = await finding<Shown>(cve(1));
    expect(await merge(asset.id, 'live', 'prod')).toMatchObject({ status: 200, body: { name: 'prod', ended_at: null } });
    expect((await tracks(asset.id)).map(({ name }) => name)).toEqual(['default', 'prod']);
    for (const n of [1, 2, 3]) {
      expect(await onTracks(n)).toEqual(['prod present']);
      expect(await finding(cve(n))).toMatchObject({ status: 'open' });
    }
    expect(await scan('live', [1, 2, 3], 7)).toMatchObject({ created: 0, closed: 0 });
    expect(await scan('live', [2], 6)).toMatchObject({ closed: 2 });
    expect(await finding(cve(3))).toMatchObject({ status: 'verified' });
    expect(await onTracks(2)).toEqual(['prod present']);
    expect(await send('PATCH', `/assets/${asset.id}/tracks/prod`, { name: 'live' })).toMatchObject({ status: 409 });
    const { data } = await get<{ data: { action: string }[] }>(`/audit-events?object_id=${asset.id}`);
    expect(data.map(({ action }) => action)).toContain('asset.track_merged');
  });

  it('closes nothing because of a scan that covered only one of them', async () => {
    await scan('prod', [1], 9);
    await scan('live', [1], 8);
    await scan('prod', [], 7);
    const { asset } = await finding<Shown>(cve(1));
    await merge(asset.id, 'prod', 'live');
    expect(await onTracks(1)).toEqual(['live present']);
    expect(await finding(cve(1))).toMatchObject({ status: 'open' });
  });

  it('leave the default track in place, under the name that stays', async () => {
    await scan(undefined, [1], 9);
    await scan('prod', [2], 8);
    const { asset } = await finding<Shown>(cve(1));
    expect(await merge(asset.id, 'default', 'prod')).toMatchObject({ status: 200, body: { name: 'prod', default: true } });
    expect(await tracks(asset.id)).toMatchObject([{ name: 'prod', default: true }]);
    expect(await scan(undefined, [1, 2], 7)).toMatchObject({ created: 0, closed: 0 });
    expect(await onTracks(2)).toEqual(['prod present']);
  });

  it('must exist, be two, and both count or not', async () => {
    await scan('main', [1], 9);
    await scan('pr-7', [2], 8);
    const { asset } = await finding<Shown>(cve(1));
    expect(await merge(asset.id, 'main', 'main')).toMatchObject({ status: 422, body: { detail: expect.stringContaining('itself') } });
    expect(await merge(asset.id, 'pr-7', 'main')).toMatchObject({ status: 422, body: { detail: expect.stringContaining('"pr-7" do not') } });
    expect(await merge(asset.id, 'main', 'none')).toMatchObject({ status: 404 });
    expect(await merge(asset.id, 'none', 'main')).toMatchObject({ status: 404 });
    const { call, theirs } = service.api();
    expect(await call('POST', `/api/v1/assets/${asset.id}/tracks/main/merge`, { as: theirs.owner, body: { into: 'pr-7' } })).toMatchObject({ status: 404 });
  });
});

describe('a track that a person renames', () => {
  const rename = (id: string, name: string, to: string) => send('PATCH', `/assets/${id}/tracks/${encodeURIComponent(name)}`, { name: to });
  const refused = (text: string) => ({ status: 422, body: { detail: expect.stringContaining(text) } });

  it('stays what it is: a pull request does not become the main branch, nor the other way round', async () => {
    await scan('main', [1], 9);
    await scan('pr-1', [2], 8);
    await scan('feature/x', [3], 7);
    const { asset } = await finding<Shown>(cve(1));
    expect(await rename(asset.id, 'pr-1', 'master')).toMatchObject(refused('Scan with the track "master" instead, and end "pr-1".'));
    expect(await rename(asset.id, 'pr-1', 'main')).toMatchObject(refused('"pr-1" is a pull request'));
    expect(await rename(asset.id, 'pr-1', 'feature/y')).toMatchObject(refused('"feature/y" is the name of a branch in development'));
    expect(await rename(asset.id, 'main', 'pr-3')).toMatchObject(refused('Choose another name.'));
    expect(await rename(asset.id, 'main', 'refs/pull/3/merge')).toMatchObject(refused('"refs/pull/3/merge" is the name of a pull request'));
    expect(await rename(asset.id, 'main', 'feature/y')).toMatchObject(refused('add it to `track_names` of the policy first'));
    expect(await rename(asset.id, 'main', '1a2b3c4')).toMatchObject(refused('is a commit'));
    expect(await rename(asset.id, 'feature/x', 'production')).toMatchObject(refused('To count "feature/x", add it to `track_names`'));
    expect((await tracks(asset.id)).map(({ name }) => name)).toEqual(['feature/x', 'main', 'pr-1']);
    await scan('pr-3', [], 1);
    expect(await finding(cve(1))).toMatchObject({ status: 'open' });
  });

  it('can have any name of the same kind, also one that the policy counts', async () => {
    await scan('main', [1], 9);
    await scan('staging', [1], 9);
    await scan('pr-1', [2], 8);
    await scan('feature/x', [3], 7);
    const { asset } = await finding<Shown>(cve(1));
    await send('PATCH', '/organization', { policy: { track_names: ['customer/*'] } });
    for (const [from, to] of [
      ['main', 'master'],
      ['staging', 'production'],
      ['production', '1.x'],
      ['pr-1', 'mr-2'],
      ['feature/x', 'feature/y'],
      ['master', 'customer/acme'],
    ] as const)
      expect(await rename(asset.id, from, to)).toMatchObject({ status: 200, body: { name: to } });
  });
});

describe('pull requests and branches in development', () => {
  const endIdle = () =>
    idleTracks(engine.follower).run(
      {},
      { db: engine.db(), log: { info: () => {}, error: () => {} }, signal: new AbortController().signal, lastAttempt: false },
    );
  const ended = async (id: string) => (await tracks(id)).filter(({ ended_at }) => ended_at !== null).map(({ name }) => name);

  it('end after the days of the policy without a scan, which verifies nothing and is no event', async () => {
    await scan('main', [1], 100);
    await scan('pr-7', [1, 2], 40);
    await scan('pr-8', [3], 20);
    await scan('feature/login', [4], 31);
    const { asset } = await finding<Shown>(cve(1));
    await endIdle();
    expect(await ended(asset.id)).toEqual(['feature/login', 'pr-7']);
    expect((await tracks(asset.id)).find(({ name }) => name === 'pr-7')).toMatchObject({ ended_by: 'worker', ended_reason: 'No scan for 30 days.' });
    expect(await finding(cve(1))).toMatchObject({ status: 'open' });
    const two = await finding(cve(2));
    expect(two).toMatchObject({ status: 'withdrawn', reason_code: 'track_ended', assurance: null });
    const { rows } = await engine.admin().query(`select type from events where subject = $1`, [two.id]);
    expect(rows).toEqual([]);
    expect(await finding(cve(3))).toMatchObject({ status: 'open' });

    await send('PATCH', '/organization', { policy: { track_days: 10 } });
    await endIdle();
    expect(await ended(asset.id)).toEqual(['feature/login', 'pr-7', 'pr-8']);
    await send('PATCH', '/organization', { policy: { track_days: null } });
    await scan('pr-7', [2], 0);
    await endIdle();
    expect(await ended(asset.id)).toEqual(['feature/login', 'pr-8']);
    expect(await finding(cve(2))).toMatchObject({ status: 'open' });
  });

  it('end when a pipeline says that they are merged or closed, and branches whose findings count do not', async () => {
    await scan('main', [1], 9);
    await scan('pr-17', [1, 2], 8);
    await scan('prod', [3], 8);
    const { asset } = await finding<Shown>(cve(1));
    const row = await service.run([seen({ asset: repository, vulnerability_ids: [cve(1)] })], {
      scope: { track: 'main', started_at: daysAgo(1), ended_tracks: ['refs/pull/17/merge', 'prod', 'pr-99'] },
    });
    expect(row.notes).toEqual([expect.stringContaining('"prod" was not ended'), expect.stringContaining('"pr-99" was not ended')]);
    expect(await ended(asset.id)).toEqual(['pr-17']);
    expect(await finding(cve(2))).toMatchObject({ status: 'withdrawn', reason_code: 'track_ended' });
    expect(await finding(cve(1))).toMatchObject({ status: 'open' });
    expect(await finding(cve(3))).toMatchObject({ status: 'open' });
    await scan('pr-17', [2], 0);
    expect(await ended(asset.id)).toEqual([]);
  });

  it('end without a scan when the pipeline of a closed pull request says so, by any spelling of the repository', async () => {
    await scan('main', [1], 9);
    await scan('pr-17', [1, 2], 8);
    const { asset } = await finding<Shown>(cve(1));
    const end = (name: string, ended: string[]) => send('POST', '/ended-tracks', { asset: { type: 'repository', name }, tracks: ended });
    expect(await end('git.example.com/tracks/nowhere', ['pr-17'])).toMatchObject({ status: 200, body: { ended: [], not_ended: ['pr-17'] } });
    expect(await ended(asset.id)).toEqual([]);
    expect(await end(`git@git.example.com:tracks/merge-${count}.git`, ['refs/pull/17/merge', 'main'])).toMatchObject({
      status: 200,
      body: { ended: ['refs/pull/17/merge'], not_ended: ['main'] },
    });
    expect(await ended(asset.id)).toEqual(['pr-17']);
    expect(await finding(cve(2))).toMatchObject({ status: 'withdrawn', reason_code: 'track_ended' });
    expect(await finding(cve(1))).toMatchObject({ status: 'open' });
    expect(await end(repository.name, [])).toMatchObject({ status: 400 });
  });

  it('that count because they are the only branch do not end by age', async () => {
    await scan('feature/only', [1], 400);
    const { asset } = await finding<Shown>(cve(1));
    await endIdle();
    expect(await ended(asset.id)).toEqual([]);
    expect(await finding(cve(1))).toMatchObject({ status: 'open' });
  });
});
