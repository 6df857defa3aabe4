import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import type { AssetFollower } from '../assets.ts';
import { prepareTrack, recordTrack, type TrackRow } from '../tracks.ts';
import type { Numbering } from './merge-tracks.ts';

interface TrackMerge {
  assetId: string;
  name: string;
  into: string;
  reason: string | null;
}

/** Merges two names of one branch or environment. Later scans of the merged name belong to the track that stays. */
export async function mergeTrack(tx: TenantTx, actor: Actor, follower: AssetFollower, { assetId, name, into, reason }: TrackMerge): Promise<TrackRow> {
  const { orgId } = actor;
  const merged = await prepareTrack(tx, actor, follower, { assetId, name });
  if (name === into) throw new AppError('unprocessable', 'A track cannot be merged into itself.');
  const kept = await prepareTrack(tx, actor, follower, { assetId, name: into });
  if (merged.counts !== kept.counts) {
    const [counting, other] = merged.counts ? [merged, kept] : [kept, merged];
    throw new AppError(
      'unprocessable',
      `The findings of "${counting.name}" count, and those of "${other.name}" do not. End "${other.name}" instead, and scan "${counting.name}".`,
    );
  }
  // Scans that name no track belong to the track 0, so that one always stays.
  const [from, to] = merged.n === 0 ? [kept.n, 0] : [merged.n, kept.n];
  const own = tx.updateTable('asset_tracks').where('org_id', '=', orgId).where('asset_id', '=', assetId);
  if (merged.n === 0) {
    await own
      .set({ name: `${into} (${kept.n})` })
      .where('n', '=', kept.n)
      .execute();
    await own.set({ name: into, ended_at: kept.ended_at, ended_by: kept.ended_by, ended_reason: kept.ended_reason }).where('n', '=', 0).execute();
    await own.set({ name }).where('n', '=', kept.n).execute();
  }
  await own
    .set({ merged_into: to })
    .where((either) => either.or([either('n', '=', from), either('merged_into', '=', from)]))
    .execute();
  const versions = await moveVersions(tx, { orgId, assetId, from, to });
  await follower.mergeTrack(tx, actor, { assetId, from, into: to, versions });
  await recordTrack(tx, actor, assetId, 'asset.track_merged', { track: name }, { track: into, reason });
  return prepareTrack(tx, actor, follower, { assetId, name: into });
}

interface Moving {
  orgId: string;
  assetId: string;
  from: number;
  to: number;
}

/** Moves the builds of a track. Returns the numbers of those that the other one has as well. */
async function moveVersions(tx: TenantTx, { orgId, assetId, from, to }: Moving): Promise<Numbering[]> {
  const { rows } = await sql<Numbering>`
    update asset_versions known set first_scan = least(known.first_scan, v.first_scan), last_scan = greatest(known.last_scan, v.last_scan) from asset_versions v
    where v.org_id = ${orgId} and v.asset_id = ${assetId} and v.track = ${from} and known.org_id = ${orgId} and known.asset_id = ${assetId} and known.track = ${to}
      and known.name = v.name and (known.digest, known.commit) is not distinct from (v.digest, v.commit)
    returning v.n as "from", known.n as "into"`.execute(tx);
  await sql`delete from asset_versions where org_id = ${orgId} and asset_id = ${assetId} and n = any(${rows.map((row) => row.from)}::integer[])`.execute(tx);
  await tx.updateTable('asset_versions').set({ track: to }).where('org_id', '=', orgId).where('asset_id', '=', assetId).where('track', '=', from).execute();
  return rows;
}
