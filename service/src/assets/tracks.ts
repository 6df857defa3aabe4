import { sql } from 'kysely';
import { recordAudit } from '../audit/record.ts';
import type { TenantTx } from '../db/database.ts';
import { fetchPage, type PageRequest, presentPage } from '../db/pages.ts';
import { emit } from '../events/emit.ts';
import { readPolicy } from '../organizations/read-policy.ts';
import type { Actor } from '../shared/actor.ts';
import { AppError } from '../shared/errors.ts';
import { type AssetFollower, readAsset } from './assets.ts';
import { trackOf } from './names/track.ts';
import { DEFAULT_TRACK } from './track-name.ts';

export interface TrackRow {
  id: string;
  n: number;
  name: string;
  kind: 'default' | 'named' | 'release' | 'build' | 'pull_request' | 'development';
  counts: boolean;
  ended_at: Date | null;
  ended_by: string | null;
  ended_reason: string | null;
}

/** The tracks of an asset, with the default track even if it has no name yet. */
function tracksSql(orgId: string, assetId: string) {
  return sql<TrackRow>`(
    select md5(asset_id::text || n)::uuid as id, n, name, kind, counts, ended_at, ended_by, ended_reason from asset_tracks where org_id = ${orgId} and asset_id = ${assetId} and merged_into is null
    union all
    select md5(${assetId} || '0')::uuid, 0::smallint, ${DEFAULT_TRACK}, 'default', true, null, null, null
    where not exists (select from asset_tracks where org_id = ${orgId} and asset_id = ${assetId} and (n = 0 or name = ${DEFAULT_TRACK})))`;
}

export async function listTracks(tx: TenantTx, orgId: string, assetId: string, page: PageRequest) {
  await readAsset(tx, orgId, assetId);
  return fetchPage(tx, tx.selectFrom(tracksSql(orgId, assetId).as('tracks')).selectAll(), { name: { column: 'name', type: 'text' } }, page);
}

export interface VersionRow {
  id: string;
  track_name: string | null;
  name: string;
  digest: string | null;
  commit: string | null;
  first_scan: Date;
  last_scan: Date;
}

/** A build of this or another asset that has the digest of a build. */
interface SameBuild {
  id: string;
  asset_id: string;
  asset_name: string;
  track_name: string | null;
  name: string;
}

export type LinkedVersion = VersionRow & { same_digest: SameBuild[] };

/** How many builds with the same digest are listed with a build. */
const LINKED = 20;

/** The builds of an asset, with the others that have the same digest. They are links: what a scan of one says holds for this one only. */
export async function listVersions(tx: TenantTx, orgId: string, assetId: string, page: PageRequest) {
  await readAsset(tx, orgId, assetId);
  const versions = sql<VersionRow>`(
    select md5(v.asset_id::text || v.n)::uuid as id, t.name as track_name, v.name, v.digest, v.commit, v.first_scan, v.last_scan
    from asset_versions v left join asset_tracks t on t.org_id = v.org_id and t.asset_id = v.asset_id and t.n = v.track
    where v.org_id = ${orgId} and v.asset_id = ${assetId} and t.merged_into is null)`;
  const columns = { last_scan: { column: 'last_scan', type: 'timestamptz' }, first_scan: { column: 'first_scan', type: 'timestamptz' } } as const;
  const found = await fetchPage(tx, tx.selectFrom(versions.as('versions')).selectAll(), columns, page);
  const same = await readSameBuilds(
    tx,
    orgId,
    found.data.flatMap(({ digest }) => digest ?? []),
  );
  return presentPage(found, (version): LinkedVersion => {
    const others = same.get(version.digest ?? '') ?? [];
    return { ...version, same_digest: others.filter(({ id }) => id !== version.id).slice(0, LINKED) };
  });
}

/** The builds with each digest, the one that was scanned last first. */
async function readSameBuilds(tx: TenantTx, orgId: string, digests: readonly string[]): Promise<Map<string, SameBuild[]>> {
  if (digests.length === 0) return new Map();
  const { rows } = await sql<SameBuild & { digest: string }>`
    select given.digest, v.id, v.asset_id, a.name as asset_name, v.track_name, v.name
    from unnest(${[...new Set(digests)]}::text[]) as given (digest)
    cross join lateral (
      select md5(v.asset_id::text || v.n)::uuid as id, v.asset_id, t.name as track_name, v.name, v.last_scan, v.n
      from asset_versions v left join asset_tracks t on t.org_id = ${orgId} and t.asset_id = v.asset_id and t.n = v.track
      where v.org_id = ${orgId} and v.digest = given.digest and t.merged_into is null order by v.last_scan desc, v.asset_id, v.n limit ${LINKED + 1}) v
    join assets a on a.org_id = ${orgId} and a.id = v.asset_id
    order by given.digest, v.last_scan desc, v.asset_id, v.n`.execute(tx);
  return Map.groupBy(rows, ({ digest }) => digest);
}

interface TrackChange {
  assetId: string;
  name: string;
}

export async function renameTrack(tx: TenantTx, actor: Actor, follower: AssetFollower, { assetId, name, to }: TrackChange & { to: string }): Promise<TrackRow> {
  const { orgId } = actor;
  const track = await prepareTrack(tx, actor, follower, { assetId, name });
  if (track.name === to) return track;
  await assertSameMeaning(tx, orgId, track, { assetId, to });
  const taken = await tx
    .selectFrom('asset_tracks')
    .select('merged_into')
    .where('org_id', '=', orgId)
    .where('asset_id', '=', assetId)
    .where('name', '=', to)
    .executeTakeFirst();
  if (taken) {
    const why = taken.merged_into === null ? 'The asset already has a track' : 'Scans of a merged track have the name';
    throw new AppError('conflict', `${why} "${to}". Choose another name, or merge the two tracks.`);
  }
  await tx.updateTable('asset_tracks').set({ name: to }).where('org_id', '=', orgId).where('asset_id', '=', assetId).where('n', '=', track.n).execute();
  await recordTrack(tx, actor, assetId, 'asset.track_renamed', { track: name }, { track: to });
  return { ...track, name: to };
}

/** What a track is. Only that which counts can close findings. */
const MEANINGS = {
  counted: 'a branch, environment or release line whose findings count',
  pull_request: 'a pull request',
  development: 'a branch in development',
} as const;

function meaningOf(kind: TrackRow['kind']): keyof typeof MEANINGS {
  return kind === 'pull_request' || kind === 'development' ? kind : 'counted';
}

/** Scans that state the new name belong to the track, so it must not mean something else: a pull request would close findings, or hide those of a branch. */
async function assertSameMeaning(tx: TenantTx, orgId: string, { name, kind }: TrackRow, { assetId, to }: { assetId: string; to: string }): Promise<void> {
  const { type } = await readAsset(tx, orgId, assetId);
  const stated = trackOf({ type, stated: { track: to }, tag: null, digest: null, commit: null, ref: null }, await readPolicy(tx, orgId));
  if ('error' in stated) throw new AppError('unprocessable', stated.error);
  const [from, into] = [meaningOf(kind), meaningOf(stated.kind)];
  if (from === into) return;
  const adding = `${from === 'development' ? `To count "${name}"` : `If "${to}" should count`}, add it to \`track_names\` of the policy${from === 'counted' ? ' first' : ''}.`;
  const instead = from === 'counted' ? 'Choose another name.' : `Scan with the track "${to}" instead, and end "${name}".`;
  const advice = [from, into].includes('development') && [from, into].includes('counted') ? `${instead} ${adding}` : instead;
  throw new AppError('unprocessable', `The track "${name}" is ${MEANINGS[from]}, but "${to}" is the name of ${MEANINGS[into]}. ${advice}`);
}

/** Ends a branch or environment that no longer exists. This proves nothing about its findings, so none of them is verified because of it. */
export async function endTrack(tx: TenantTx, actor: Actor, follower: AssetFollower, { assetId, name, reason }: TrackChange & { reason: string | null }) {
  const { orgId } = actor;
  const track = await prepareTrack(tx, actor, follower, { assetId, name });
  if (track.ended_at !== null) return;
  await tx
    .updateTable('asset_tracks')
    .set({ ended_at: sql<Date>`now()`, ended_by: actor.person?.name ?? actor.name, ended_reason: reason })
    .where('org_id', '=', orgId)
    .where('asset_id', '=', assetId)
    .where('n', '=', track.n)
    .execute();
  await recordTrack(tx, actor, assetId, 'asset.track_ended', { track: name, ended: false }, { track: name, ended: true, reason });
  await follower.endTrack(tx, actor, { assetId, track: track.n });
}

/** Locks the tracks against imports and finds one by its name. The default track gets a row if it has none. */
export async function prepareTrack(tx: TenantTx, { orgId }: Actor, follower: AssetFollower, { assetId, name }: TrackChange): Promise<TrackRow> {
  await follower.prepare(tx, orgId);
  await readAsset(tx, orgId, assetId);
  const { rows } = await sql<TrackRow & { is_stored: boolean }>`
    select *, exists (select from asset_tracks known where known.org_id = ${orgId} and known.asset_id = ${assetId} and known.n = tracks.n) as is_stored
    from ${tracksSql(orgId, assetId)} tracks where name = ${name}`.execute(tx);
  const [track] = rows;
  if (!track) throw new AppError('not_found', `The asset has no track "${name}". \`GET /assets/{id}/tracks\` lists its tracks.`);
  if (!track.is_stored) {
    const { n, kind, counts } = track;
    await tx.insertInto('asset_tracks').values({ org_id: orgId, asset_id: assetId, n, name, kind, counts }).execute();
  }
  return track;
}

export async function recordTrack(
  tx: TenantTx,
  actor: Actor,
  assetId: string,
  action: 'asset.track_renamed' | 'asset.track_ended' | 'asset.track_merged' | 'asset.track_unmerged',
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): Promise<void> {
  await recordAudit(tx, actor, { action, objectType: 'asset', objectId: assetId, before, after });
  await emit(tx, actor.orgId, { type: action, subject: assetId, data: { from: before.track, ...after } });
}
