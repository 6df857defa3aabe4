import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { type AssetFollower, type AssetRow, readAsset } from '../assets.ts';
import { copyTracks, copyVersions, type Numbering } from './merge-tracks.ts';

interface Merge {
  id: string;
  into: string;
  reason: string | null;
  /**
   * Whether the findings of the merged asset are found by the name of the other one, which it keeps. Otherwise the better name of the two is kept, and
   * findings are found by the names that their reports use, as if the two had never been apart.
   */
  renames: boolean;
}

/** What a merge moved from one asset to the other. */
interface Moved {
  keys: { key: string; rank: number }[];
  /** The keys that only the merged asset had. */
  added: string[];
  /** The keys that the asset that stays had before. */
  own: { key: string; rank: number }[];
  tracks: Numbering[];
  /** What the follower needs to undo its part. */
  findings: unknown;
}

/** Merges two assets that a person holds to be one. The older one stays and is returned. */
export async function mergeAssets(tx: TenantTx, actor: Actor, follower: AssetFollower, merge: Omit<Merge, 'renames'>): Promise<AssetRow> {
  const { into } = await joinAssets(tx, actor, follower, { ...merge, renames: true });
  return readAsset(tx, actor.orgId, into);
}

/** Merges two assets. The older one stays. */
export async function joinAssets(tx: TenantTx, actor: Actor, follower: AssetFollower, { id, into, reason, renames }: Merge): Promise<Assets> {
  const { orgId } = actor;
  await follower.prepare(tx, orgId);
  const assets = [await readAsset(tx, orgId, id), await readAsset(tx, orgId, into)] as const;
  assertMergeable(...assets);
  const [kept, merged] = assets.toSorted((one, other) => one.created_at.getTime() - other.created_at.getTime() || (one.id < other.id ? -1 : 1)) as [
    AssetRow,
    AssetRow,
  ];
  const pair = { from: merged.id, into: kept.id };
  const mergeId = newId();
  const tracks = await copyTracks(tx, orgId, pair);
  const versions = await copyVersions(tx, orgId, pair, tracks);
  const keys = await moveKeys(tx, orgId, pair);
  const findings = await follower.merge(tx, actor, { ...pair, tracks, versions, mergeId, reason, renames });
  const moved: Moved = { ...keys, tracks, findings };
  await tx
    .insertInto('asset_merges')
    .values({
      org_id: orgId,
      id: mergeId,
      from_asset_id: merged.id,
      into_asset_id: kept.id,
      person: actor.person?.id ?? null,
      person_name: actor.person?.name ?? actor.name,
      reason,
      moved: JSON.stringify(moved),
    })
    .execute();
  const isBetter = merged.name_rank < kept.name_rank || (merged.name_rank === kept.name_rank && merged.name < kept.name);
  const { name, name_rank } = isBetter ? merged : kept;
  const changes = renames ? { name_words: follower.wordsOf(kept.name) } : { name, name_rank };
  await tx.updateTable('assets').set(changes).where('org_id', '=', orgId).where('id', '=', kept.id).execute();
  await setMergedInto(tx, orgId, pair, kept.id);
  await record(tx, actor, 'asset.merged', merged.id, { merged_into: kept.id, reason });
  return pair;
}

function assertMergeable(one: AssetRow, other: AssetRow): void {
  if (one.id === other.id) throw new AppError('unprocessable', 'An asset cannot be merged into itself.');
  if (one.type !== other.type) {
    throw new AppError(
      'unprocessable',
      `The assets are of different types: "${one.name}" is a ${one.type}, and "${other.name}" is a ${other.type}. Only assets of one type can be merged.`,
    );
  }
  for (const { name, merged_into } of [one, other]) {
    if (merged_into !== null) throw new AppError('conflict', `The asset "${name}" is already merged into "${merged_into}". Use that one.`);
  }
}

/** Undoes the latest merge that the asset took part in. Returns the asset that is separate again. */
export async function unmergeAssets(
  tx: TenantTx,
  actor: Actor,
  follower: AssetFollower,
  { id, reason }: { id: string; reason: string | null },
): Promise<AssetRow> {
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
  const { keys, added, own, tracks, findings } = merge.moved as Moved;
  await returnKeys(tx, orgId, pair, { keys, added, own });
  await copyMissingTracks(tx, orgId, pair);
  await follower.unmerge(tx, actor, { ...pair, tracks, mergeId: merge.id, reason, findings });
  await tx
    .updateTable('asset_merges')
    .set({ undone_at: sql<Date>`now()`, undone_by: actor.person?.name ?? actor.name })
    .where('org_id', '=', orgId)
    .where('id', '=', merge.id)
    .execute();
  await setMergedInto(tx, orgId, pair, null);
  await record(tx, actor, 'asset.unmerged', pair.from, { from: pair.into, reason });
  return readAsset(tx, orgId, pair.from);
}

interface Assets {
  from: string;
  into: string;
}

type MovedKeys = Pick<Moved, 'keys' | 'added' | 'own'>;

/** A key that one of the two shares with other assets is shared. */
async function moveKeys(tx: TenantTx, orgId: string, { from, into }: Assets): Promise<MovedKeys> {
  const keysOf = (id: string) => tx.selectFrom('asset_keys').select(['key', 'rank']).where('org_id', '=', orgId).where('asset_id', '=', id).execute();
  const [keys, own] = [await keysOf(from), await keysOf(into)];
  await sql`
    insert into asset_keys as known (org_id, key, asset_id, rank) select org_id, key, ${into}, rank from asset_keys where org_id = ${orgId} and asset_id = ${from}
    on conflict (org_id, key, asset_id) do update set rank = greatest(known.rank, excluded.rank) where known.rank > 0`.execute(tx);
  await tx.deleteFrom('asset_keys').where('org_id', '=', orgId).where('asset_id', '=', from).execute();
  return { keys, own, added: keys.map(({ key }) => key).filter((key) => own.every((known) => known.key !== key)) };
}

async function returnKeys(tx: TenantTx, orgId: string, { from, into }: Assets, { keys, added, own }: MovedKeys): Promise<void> {
  await sql`delete from asset_keys where org_id = ${orgId} and asset_id = ${into} and key = any(${added}::text[])`.execute(tx);
  await sql`
    update asset_keys set rank = own.rank from jsonb_to_recordset(${JSON.stringify(own)}) as own (key text, rank smallint)
    where asset_keys.org_id = ${orgId} and asset_keys.asset_id = ${into} and asset_keys.key = own.key`.execute(tx);
  await sql`
    insert into asset_keys (org_id, key, asset_id, rank) select ${orgId}, own.key, ${from}, own.rank
    from jsonb_to_recordset(${JSON.stringify(keys)}) as own (key text, rank smallint) on conflict (org_id, key, asset_id) do nothing`.execute(tx);
}

/** Tracks that were scanned first after the merge. */
async function copyMissingTracks(tx: TenantTx, orgId: string, { from, into }: Assets): Promise<void> {
  await sql`
    insert into asset_tracks (org_id, asset_id, n, name, counts, kind) select org_id, ${from}, n, name, counts, kind from asset_tracks where org_id = ${orgId} and asset_id = ${into}
    on conflict do nothing`.execute(tx);
}

async function setMergedInto(tx: TenantTx, orgId: string, { from, into }: Assets, target: string | null): Promise<void> {
  await sql`
    update assets set merged_into = case when id = ${from} then ${target}::uuid end, version = version + 1, updated_at = now()
    where org_id = ${orgId} and id in (${from}, ${into})`.execute(tx);
}

async function record(tx: TenantTx, actor: Actor, action: 'asset.merged' | 'asset.unmerged', id: string, after: Record<string, unknown>): Promise<void> {
  await recordAudit(tx, actor, { action, objectType: 'asset', objectId: id, after });
  await emit(tx, actor.orgId, { type: action, subject: id, data: after });
}
