import { type Selectable, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { DB } from '../../db/types.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import { type AssetFollower, readAsset } from '../assets.ts';
import { prepareTrack, recordTrack, type TrackRow } from '../tracks.ts';
import type { MovedTrack } from './merge-track.ts';

interface TrackUnmerge {
  assetId: string;
  name: string;
  reason: string | null;
}

/** Undoes the latest merge that the track took part in. Returns the track that is separate again. */
export async function unmergeTrack(tx: TenantTx, actor: Actor, follower: AssetFollower, { assetId, name, reason }: TrackUnmerge): Promise<TrackRow> {
  const { orgId } = actor;
  await follower.prepare(tx, orgId);
  const asset = await readAsset(tx, orgId, assetId);
  if (asset.merged_into !== null) throw new AppError('conflict', `The asset was merged into "${asset.merged_into}". Undo that merge first.`);
  const merge = await findMerge(tx, orgId, { assetId, name });
  await assertSameAsset(tx, orgId, merge);
  const { from_track: from, into_track: into } = merge;
  const { tracks, builds, findings } = merge.moved as MovedTrack;
  const before = (n: number): string => tracks.find((track) => track.n === n)?.name ?? '';
  const wasRenamed = await restoreTracks(tx, orgId, { assetId, from, into, tracks });
  const names = tracks.filter((track) => track.n === from || track.merged_into === from).map((track) => track.name);
  const added = await follower.unmergeTrack(tx, actor, { assetId, from, into, names, mergedAt: merge.created_at, findings });
  await returnBuilds(tx, orgId, { assetId, from, builds, added });
  await tx
    .updateTable('asset_track_merges')
    .set({ undone_at: sql<Date>`now()`, undone_by: actor.person?.name ?? actor.name })
    .where('org_id', '=', orgId)
    .where('id', '=', merge.id)
    .execute();
  // The default track always stays, so the name that a person merged can be its own.
  const separated = wasRenamed ? before(into) : before(from);
  await recordTrack(tx, actor, assetId, 'asset.track_unmerged', { track: wasRenamed ? before(from) : before(into) }, { track: separated, reason });
  return prepareTrack(tx, actor, follower, { assetId, name: separated });
}

type Merge = Selectable<DB['asset_track_merges']>;

async function findMerge(tx: TenantTx, orgId: string, { assetId, name }: { assetId: string; name: string }): Promise<Merge> {
  const tracks = await tx.selectFrom('asset_tracks').select(['n', 'name', 'merged_into']).where('org_id', '=', orgId).where('asset_id', '=', assetId).execute();
  const track = tracks.find((one) => one.name === name);
  if (!track) throw new AppError('not_found', `The asset has no track "${name}", and none was merged under this name.`);
  const merges = await tx
    .selectFrom('asset_track_merges')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('asset_id', '=', assetId)
    .where('undone_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  const takesPart = (n: number) => (merge: Merge) => merge.from_track === n || merge.into_track === n;
  const merge = merges.find(takesPart(track.n));
  if (!merge) throw new AppError('conflict', `The track "${name}" is not merged with another one.`);
  const later = merges.find(takesPart(merge.into_track));
  if (later && later.id !== merge.id) {
    const nameOf = (n: number): string => tracks.find((one) => one.n === n)?.name ?? '';
    throw new AppError(
      'conflict',
      `The track "${nameOf(later.from_track)}" was merged into "${nameOf(later.into_track)}" after "${name}" was. Undo that merge first.`,
    );
  }
  return merge;
}

/** The tracks have what scans said of both assets since then. */
async function assertSameAsset(tx: TenantTx, orgId: string, { asset_id, created_at }: Merge): Promise<void> {
  const later = await tx
    .selectFrom('asset_merges as merge')
    .innerJoin('assets as asset', (join) => join.onRef('asset.org_id', '=', 'merge.org_id').onRef('asset.id', '=', 'merge.from_asset_id'))
    .select(['asset.id', 'asset.name'])
    .where('merge.org_id', '=', orgId)
    .where('merge.into_asset_id', '=', asset_id)
    .where('merge.created_at', '>', created_at)
    .where('merge.undone_at', 'is', null)
    .orderBy('merge.created_at', 'desc')
    .executeTakeFirst();
  if (later) throw new AppError('conflict', `The asset "${later.name}" (${later.id}) was merged into this one after the tracks were. Undo that merge first.`);
}

interface Separation {
  assetId: string;
  from: number;
  into: number;
  tracks: MovedTrack['tracks'];
}

/** Lets names mean their own tracks again. Returns whether the two had exchanged their names, because the default track stays whatever is merged. */
async function restoreTracks(tx: TenantTx, orgId: string, { assetId, from, into, tracks }: Separation): Promise<boolean> {
  const own = tx.updateTable('asset_tracks').where('org_id', '=', orgId).where('asset_id', '=', assetId);
  const rows = await tx.selectFrom('asset_tracks').select(['n', 'name']).where('org_id', '=', orgId).where('asset_id', '=', assetId).execute();
  const before = (n: number): string => tracks.find((track) => track.n === n)?.name ?? '';
  const hadOtherName = rows.find(({ n }) => n === from)?.name !== before(from);
  const moving = tracks.filter((track) => track.n !== into).map(({ n }) => n);
  if (hadOtherName) {
    const taken = rows.find(({ n, name }) => n !== from && n !== into && [before(from), before(into)].includes(name));
    if (taken) throw new AppError('conflict', `The asset has another track "${taken.name}" now. Rename that one first.`);
    await own.set({ name: sql<string>`name || ' (' || n || ')'` }).where('n', 'in', [from, into]).execute();
    for (const n of [from, into])
      await own
        .set({ name: before(n) })
        .where('n', '=', n)
        .execute();
  }
  await own
    .set({ merged_into: sql<number | null>`case when n = ${from} then null else ${from}::smallint end` })
    .where('n', 'in', moving)
    .execute();
  return hadOtherName;
}

interface Returned {
  assetId: string;
  from: number;
  builds: MovedTrack['builds'];
  /** Builds that only scans of the separated track have covered since the merge. */
  added: readonly number[];
}

async function returnBuilds(tx: TenantTx, orgId: string, { assetId, from, builds: { moved, shared }, added }: Returned): Promise<void> {
  await sql`
    update asset_versions set track = ${from} where org_id = ${orgId} and asset_id = ${assetId} and n = any(${[...moved, ...added]}::integer[])`.execute(tx);
  await sql`
    update asset_versions known set first_scan = build.first_scan, last_scan = case when known.last_scan = build.later_scan then build.last_scan else known.last_scan end
    from jsonb_to_recordset(${JSON.stringify(shared)}) as build ("into" integer, first_scan timestamptz, last_scan timestamptz, later_scan timestamptz)
    where known.org_id = ${orgId} and known.asset_id = ${assetId} and known.n = build."into"`.execute(tx);
}
