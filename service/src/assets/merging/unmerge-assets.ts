import { type Selectable, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { DB } from '../../db/types.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import { type AssetFollower, type AssetRow, CHOSEN, readAsset } from '../assets.ts';
import { type Moved, type MovedKeys, recordMerge, setMergedInto } from './merge-assets.ts';
import type { Assets } from './merge-tracks.ts';
import { removeUnnamed, returnBuilds, returnTracks, separateBuilds, separateTracks } from './separate-tracks.ts';

interface Unmerge {
  id: string;
  reason: string | null;
}

/** Undoes the latest merge that the asset took part in. Returns the asset that is separate again. */
export async function unmergeAssets(tx: TenantTx, actor: Actor, follower: AssetFollower, { id, reason }: Unmerge): Promise<AssetRow> {
  const { orgId } = actor;
  await follower.prepare(tx, orgId);
  await readAsset(tx, orgId, id);
  const merge = await tx
    .selectFrom('asset_merges')
    .selectAll()
    .where('org_id', '=', orgId)
    .where((either) => either.or([either('from_asset_id', '=', id), either('into_asset_id', '=', id)]))
    .where('undone_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirst();
  if (!merge) throw new AppError('conflict', 'The asset is not merged with another one.');
  const pair = { from: merge.from_asset_id, into: merge.into_asset_id };
  const kept = await readAsset(tx, orgId, pair.into);
  if (kept.merged_into !== null) throw new AppError('conflict', `The asset "${kept.name}" was merged into "${kept.merged_into}" later. Undo that merge first.`);
  await assertLatest(tx, orgId, merge.id, kept);
  await assertSameTracks(tx, orgId, merge, kept);
  const moved = merge.moved as Moved;
  const tracks = await separateTracks(tx, orgId, pair, moved.tracks);
  const builds = await separateBuilds(tx, orgId, pair, tracks);
  const { findings } = moved;
  const keys = { from: moved.added, into: moved.own.map(({ key }) => key).filter((key) => moved.keys.every((other) => other.key !== key)) };
  const separated = await follower.unmerge(tx, actor, { ...pair, tracks, builds, keys, mergeId: merge.id, mergedAt: merge.created_at, reason, findings });
  await returnTracks(tx, orgId, pair, separated.moved.tracks, tracks);
  await returnBuilds(tx, orgId, pair, separated.moved.builds, builds);
  const foreign = {
    tracks: [...moved.copied.tracks, ...separated.moved.tracks.filter((n) => n > 0)],
    builds: [...moved.copied.builds, ...separated.moved.builds.map(({ n }) => n)],
  };
  await removeUnnamed(tx, orgId, pair.into, foreign, separated.kept);
  await returnKeys(tx, orgId, pair, { ...moved, learned: separated.keys });
  await restoreName(tx, kept, moved.name);
  await tx
    .updateTable('asset_merges')
    .set({ undone_at: sql<Date>`now()`, undone_by: actor.person?.name ?? actor.name })
    .where('org_id', '=', orgId)
    .where('id', '=', merge.id)
    .execute();
  await setMergedInto(tx, orgId, pair, null);
  await recordMerge(tx, actor, 'asset.unmerged', pair.from, { from: pair.into, reason });
  return readAsset(tx, orgId, pair.from);
}

/** A later merge has combined what the earlier one moved with what it moved itself. */
async function assertLatest(tx: TenantTx, orgId: string, mergeId: string, kept: AssetRow): Promise<void> {
  const latest = await tx
    .selectFrom('asset_merges')
    .select(['id', 'from_asset_id'])
    .where('org_id', '=', orgId)
    .where('into_asset_id', '=', kept.id)
    .where('undone_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow();
  if (latest.id === mergeId) return;
  const { name, id } = await readAsset(tx, orgId, latest.from_asset_id);
  throw new AppError('conflict', `The asset "${name}" (${id}) was merged into "${kept.name}" later. Undo that merge first.`);
}

/** Scans of both assets have said since then what the merged track has. */
async function assertSameTracks(tx: TenantTx, orgId: string, merge: Pick<Selectable<DB['asset_merges']>, 'created_at'>, kept: AssetRow): Promise<void> {
  const later = await tx
    .selectFrom('asset_track_merges as merge')
    .innerJoin('asset_tracks as track', (join) =>
      join.onRef('track.org_id', '=', 'merge.org_id').onRef('track.asset_id', '=', 'merge.asset_id').onRef('track.n', '=', 'merge.from_track'),
    )
    .select('track.name')
    .where('merge.org_id', '=', orgId)
    .where('merge.asset_id', '=', kept.id)
    .where('merge.created_at', '>', merge.created_at)
    .where('merge.undone_at', 'is', null)
    .orderBy('merge.created_at', 'desc')
    .executeTakeFirst();
  if (later) throw new AppError('conflict', `The track "${later.name}" of "${kept.name}" was merged into another one later. Undo that merge first.`);
}

/** Keys that reports have learned since the merge go to the asset that they named. */
async function returnKeys(
  tx: TenantTx,
  orgId: string,
  { from, into }: Assets,
  { keys, added, own, learned }: MovedKeys & { learned: readonly string[] },
): Promise<void> {
  await sql`
    update asset_keys set asset_id = ${from} where org_id = ${orgId} and asset_id = ${into} and key = any(${learned as string[]}::text[])`.execute(tx);
  await sql`delete from asset_keys where org_id = ${orgId} and asset_id = ${into} and key = any(${added}::text[])`.execute(tx);
  await sql`
    update asset_keys set rank = own.rank from jsonb_to_recordset(${JSON.stringify(own)}) as own (key text, rank smallint)
    where asset_keys.org_id = ${orgId} and asset_keys.asset_id = ${into} and asset_keys.key = own.key`.execute(tx);
  await sql`
    insert into asset_keys (org_id, key, asset_id, rank) select ${orgId}, own.key, ${from}, own.rank
    from jsonb_to_recordset(${JSON.stringify(keys)}) as own (key text, rank smallint) on conflict (org_id, key, asset_id) do nothing`.execute(tx);
}

/** While the two were one, it was shown with the better name of both. A name that a person has chosen since then stays. */
async function restoreName(tx: TenantTx, { org_id, id, name, name_rank }: AssetRow, before: Moved['name']): Promise<void> {
  const isChosen = name_rank === CHOSEN && name !== before.name;
  if (isChosen) return;
  await tx.updateTable('assets').set(before).where('org_id', '=', org_id).where('id', '=', id).execute();
}
