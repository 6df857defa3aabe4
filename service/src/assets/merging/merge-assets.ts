import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { type AssetFollower, type AssetRow, readAsset } from '../assets.ts';
import { type Assets, copyTracks, copyVersions, differentlyMerged, type Numbering, numbersOf } from './merge-tracks.ts';

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
export interface Moved {
  keys: { key: string; rank: number }[];
  /** The keys that only the merged asset had. */
  added: string[];
  /** The keys that the asset that stays had before. */
  own: { key: string; rank: number }[];
  tracks: Numbering[];
  /** The tracks and builds that the asset that stays did not have before. */
  copied: { tracks: number[]; builds: number[] };
  /** The name that the asset that stays had before. */
  name: Pick<AssetRow, 'name' | 'name_rank' | 'name_words'>;
  /** What the follower needs to undo its part. */
  findings: unknown;
}

/** Merges two assets that a person holds to be one. The older one stays and is returned. */
export async function mergeAssets(tx: TenantTx, actor: Actor, follower: AssetFollower, merge: Omit<Merge, 'renames'>): Promise<AssetRow> {
  const [track] = await differentlyMerged(tx, actor.orgId, { from: merge.id, into: merge.into });
  if (track !== undefined) {
    throw new AppError(
      'conflict',
      `The track "${track}" of one of the assets is merged into another one. Merge it on both assets, or undo the merge of the tracks.`,
    );
  }
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
  const known = await numbersOf(tx, orgId, kept.id);
  const tracks = await copyTracks(tx, orgId, pair);
  const versions = await copyVersions(tx, orgId, pair, tracks);
  const keys = await moveKeys(tx, orgId, pair, { byHand: renames });
  const findings = await follower.merge(tx, actor, { ...pair, tracks, versions, mergeId, reason, renames });
  const added = (numbers: readonly Numbering[], own: readonly number[]) => numbers.map((number) => number.into).filter((n) => !own.includes(n));
  const copied = { tracks: added(tracks, known.tracks), builds: added(versions, known.builds) };
  const { name: keptName, name_rank: keptRank, name_words } = kept;
  const moved: Moved = { ...keys, tracks, copied, name: { name: keptName, name_rank: keptRank, name_words }, findings };
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
  await recordMerge(tx, actor, 'asset.merged', merged.id, { merged_into: kept.id, reason });
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

export type MovedKeys = Pick<Moved, 'keys' | 'added' | 'own'>;

/** Names that other assets may share. They recognize an asset of which nothing better is known, or that a person has merged with one. */
const MAYBE_SHARED = '^(host:(ip|hostname|netbios)|repository:repo-path):';

/**
 * A key that one of the two shares with other assets is shared, unless it is the own name of the other one: reports that use it still mean that one. What a
 * person merges stays recognized by all that recognized it, whatever reports say later.
 */
async function moveKeys(tx: TenantTx, orgId: string, { from, into }: Assets, { byHand }: { byHand: boolean }): Promise<MovedKeys> {
  const keysOf = (id: string) => tx.selectFrom('asset_keys').select(['key', 'rank']).where('org_id', '=', orgId).where('asset_id', '=', id).execute();
  const [keys, own] = [await keysOf(from), await keysOf(into)];
  if (byHand)
    await sql`
      update asset_keys set rank = 0 where org_id = ${orgId} and asset_id in (${from}, ${into}) and rank = 1 and key ~ ${MAYBE_SHARED}`.execute(tx);
  await sql`
    insert into asset_keys as known (org_id, key, asset_id, rank) select org_id, key, ${into}, rank from asset_keys where org_id = ${orgId} and asset_id = ${from}
    on conflict (org_id, key, asset_id) do update set rank = case when excluded.rank = 0 then 0 else greatest(known.rank, excluded.rank) end where known.rank > 0`.execute(
    tx,
  );
  await tx.deleteFrom('asset_keys').where('org_id', '=', orgId).where('asset_id', '=', from).execute();
  return { keys, own, added: keys.map(({ key }) => key).filter((key) => own.every((known) => known.key !== key)) };
}

export async function setMergedInto(tx: TenantTx, orgId: string, { from, into }: Assets, target: string | null): Promise<void> {
  await sql`
    update assets set merged_into = case when id = ${from} then ${target}::uuid end, version = version + 1, updated_at = now()
    where org_id = ${orgId} and id in (${from}, ${into})`.execute(tx);
}

export async function recordMerge(
  tx: TenantTx,
  actor: Actor,
  action: 'asset.merged' | 'asset.unmerged',
  id: string,
  after: Record<string, unknown>,
): Promise<void> {
  await recordAudit(tx, actor, { action, objectType: 'asset', objectId: id, after });
  await emit(tx, actor.orgId, { type: action, subject: id, data: after });
}
