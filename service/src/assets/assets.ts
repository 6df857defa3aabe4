import { sql } from 'kysely';
import type { Static } from 'typebox';
import { recordAudit } from '../audit/record.ts';
import type { TenantTx } from '../db/database.ts';
import { emit } from '../events/emit.ts';
import type { Actor } from '../shared/actor.ts';
import { AppError, notFound } from '../shared/errors.ts';
import type { Build, Numbering } from './merging/merge-tracks.ts';
import { addNameKey } from './own-keys.ts';
import type { AssetPatch } from './schemas.ts';

export async function readAsset(tx: TenantTx, orgId: string, id: string) {
  const asset = await tx.selectFrom('assets').selectAll().where('org_id', '=', orgId).where('id', '=', id).executeTakeFirst();
  if (!asset) throw notFound('asset', id);
  return asset;
}

export type AssetRow = Awaited<ReturnType<typeof readAsset>>;

export interface AssetMerge {
  from: string;
  into: string;
  mergeId: string;
  reason: string | null;
  tracks: readonly Numbering[];
}

/** An asset that is separate from another one again, with the numbers that its tracks and builds have on both. */
export interface AssetSeparation extends AssetMerge {
  builds: readonly Numbering[];
  /** The keys by which only one of the two was known. */
  keys: Record<'from' | 'into', readonly string[]>;
  mergedAt: Date;
  findings: unknown;
}

/** What scans have covered, by the numbers of the asset that stays. */
export interface Separated {
  /** Tracks and builds of the separated asset since the merge. The tracks of builds have its own numbers. */
  moved: { tracks: number[]; builds: Build[] };
  /** Those of the other asset, at any time. */
  kept: { tracks: number[]; builds: number[] };
  /** Keys that reports of only the separated asset had. */
  keys: string[];
}

/** Two tracks of an asset, and the builds that both have. */
export interface TrackNumbers extends Numbering {
  assetId: string;
  versions: readonly Numbering[];
}

/** A track that is separate from another one again. */
export interface TrackSeparation extends Numbering {
  assetId: string;
  /** The names by which reports mean the separated track. */
  names: readonly string[];
  mergedAt: Date;
  findings: unknown;
}

/** A run that covered a build of a track. */
export interface RunOfBuild {
  import_id: string;
  build: number;
  started_at: Date;
  ended_at: Date;
  /** Whether whoever sent the report has stated the track. */
  is_stated: boolean;
}

/** Runs of a track that belong to another one. */
export interface RunSeparation extends Numbering {
  assetId: string;
  /** With the numbers that the builds have on the other track. */
  moved: readonly Pick<RunOfBuild, 'import_id' | 'build'>[];
  /** Imports whose runs stay and prove nothing. */
  doubtful: readonly string[];
}

/** Branches of an asset that counted until now. */
export interface Uncounted {
  /** Those that go on counting, because people work with what only they have. */
  counting: readonly number[];
  /** How many findings are not listed any more. */
  unlisted: number;
}

/** Applies a change of an asset to what depends on it, in the same transaction. */
export interface AssetFollower {
  /** Called before the asset is locked. */
  prepare(tx: TenantTx, orgId: string): Promise<void>;
  follow(tx: TenantTx, actor: Actor, before: AssetRow, after: AssetRow): Promise<void>;
  /** The words by which findings of an asset with this name are found. */
  wordsOf(name: string): string[];
  /** Called when a person ends a track: its sources say nothing more about its findings. */
  endTrack(tx: TenantTx, actor: Actor, ended: { assetId: string; track: number }): Promise<void>;
  /** Moves what sources say about one track to another. Returns what `unmergeTrack` needs, as JSON. */
  mergeTrack(tx: TenantTx, actor: Actor, merge: TrackNumbers): Promise<unknown>;
  /** Returns the builds that only scans of the separated track have covered since the merge. */
  unmergeTrack(tx: TenantTx, actor: Actor, merge: TrackSeparation): Promise<number[]>;
  runsOf(tx: TenantTx, orgId: string, of: { assetId: string; track: number; builds: readonly number[] }): Promise<RunOfBuild[]>;
  /** Whether a scan has covered the default track. What only repeats findings, such as an export, is no scan. */
  isDefaultScanned(tx: TenantTx, orgId: string, assetId: string): Promise<boolean>;
  /** Keeps what the branches have apart from what counts. */
  uncount(tx: TenantTx, actor: Actor, branches: { importId: string; assetId: string; tracks: readonly number[] }): Promise<Uncounted>;
  /** Moves what the runs have shown to another track. */
  separateRuns(tx: TenantTx, actor: Actor, separation: RunSeparation): Promise<void>;
  /** Moves what belongs to an asset to the one that it was merged into. Returns what `unmerge` needs, as JSON. */
  merge(tx: TenantTx, actor: Actor, merge: AssetMerge & { versions: readonly Numbering[]; renames: boolean }): Promise<unknown>;
  unmerge(tx: TenantTx, actor: Actor, separation: AssetSeparation): Promise<Separated>;
}

interface AssetChange {
  id: string;
  patch: Static<typeof AssetPatch>;
  check: (current: AssetRow) => void;
}

export async function updateAsset(tx: TenantTx, actor: Actor, follower: AssetFollower, { id, patch, check }: AssetChange): Promise<AssetRow> {
  const { orgId } = actor;
  if (patch.criticality !== undefined || patch.exposure !== undefined || patch.retired !== undefined || patch.name !== undefined)
    await follower.prepare(tx, orgId);
  // NO KEY, because findings that reference the asset take a key-share lock on it.
  const current = await tx.selectFrom('assets').selectAll().where('org_id', '=', orgId).where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
  if (!current) throw notFound('asset', id);
  check(current);
  if (current.merged_into !== null) throw new AppError('conflict', `The asset was merged into "${current.merged_into}". Change that one instead.`);
  const { before, after } = difference(current, patch);
  if (Object.keys(after).length === 0) return current;
  const { retired, ...columns } = after;
  if (after.name !== undefined) await addNameKey(tx, current, after.name);
  const updated = await tx
    .updateTable('assets')
    .set({
      ...columns,
      ...(after.name === undefined ? {} : { name_rank: CHOSEN, name_words: follower.wordsOf(after.name) }),
      ...(retired === undefined ? {} : { retired_at: retired ? sql<Date>`now()` : null }),
      version: current.version + 1,
      updated_at: sql<Date>`now()`,
    })
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordAudit(tx, actor, { action: 'asset.updated', objectType: 'asset', objectId: id, before, after: { ...after } });
  await emit(tx, orgId, { type: 'asset.updated', subject: id, data: { ...after } });
  await follower.follow(tx, actor, current, updated);
  return updated;
}

/** The rank of a name that a person chose, which no report replaces. */
export const CHOSEN = -1;

/** The fields that the patch changes, before and after. */
function difference(current: AssetRow, patch: AssetChange['patch']): { before: Record<string, unknown>; after: AssetChange['patch'] } {
  const fields: Record<string, unknown> = { ...current, retired: current.retired_at !== null };
  const changed = Object.entries(patch).filter(([name, value]) => JSON.stringify(fields[name]) !== JSON.stringify(value));
  return { before: Object.fromEntries(changed.map(([name]) => [name, fields[name]])), after: Object.fromEntries(changed) };
}
