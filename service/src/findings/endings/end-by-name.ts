import { sql } from 'kysely';
import { readAsset } from '../../assets/assets.ts';
import { findByName } from '../../assets/find-by-name.ts';
import { assetFacts } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import type { FindingFollower } from '../follower.ts';
import { takeImportLock } from '../import-lock.ts';
import { endNamedTracks } from './end-named-tracks.ts';

interface Ended {
  asset: { type: string; name: string };
  tracks: readonly string[];
}

/** Ends the pull requests and branches of an asset that have been merged or closed, for pipelines that know its name only. */
export async function endTracksOf(
  tx: TenantTx,
  actor: Actor,
  follower: FindingFollower,
  { asset, tracks }: Ended,
): Promise<Record<'ended' | 'not_ended', string[]>> {
  const { orgId } = actor;
  await takeImportLock(tx, orgId);
  const assets = await assetsNamed(tx, orgId, asset);
  await assertTrusted(tx, actor, assets);
  const names = [...new Set(tracks)];
  const not_ended = await endNamedTracks(tx, actor, follower, { names, assets });
  return { ended: names.filter((name) => !not_ended.includes(name)), not_ended };
}

async function assetsNamed(tx: TenantTx, orgId: string, { type, name }: Ended['asset']): Promise<string[]> {
  const ids = await findByName(tx, orgId, name);
  const { rows } = await sql<{
    id: string;
  }>`select a.id from ${assetFacts} a where a.org_id = ${orgId} and a.id = any(${ids}::uuid[]) and a.type = ${type}`.execute(tx);
  return rows.map(({ id }) => id);
}

/** A pipeline that is trusted for one asset ends nothing of another. */
async function assertTrusted(tx: TenantTx, { orgId, pipeline }: Actor, assets: readonly string[]): Promise<void> {
  const own = pipeline?.trust.asset_id ?? null;
  if (own === null) return;
  const { merged_into, type, name } = await readAsset(tx, orgId, own);
  if (assets.some((id) => id !== (merged_into ?? own))) throw new AppError('forbidden', `This pipeline is trusted for the ${type} "${name}" only.`);
}
