import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { AssetFollower } from '../assets.ts';
import { prepareTrack, recordTrack, type TrackRow } from '../tracks.ts';
import type { Numbering } from './merge-tracks.ts';

interface TrackMerge {
  assetId: string;
  name: string;
  into: string;
  reason: string | null;
}

/** A track before the merge. */
interface TrackBefore {
  n: number;
  name: string;
  merged_into: number | null;
}

interface Builds {
  /** Builds that only the merged track had. */
  moved: number[];
  /** Builds that both had: the numbers, and when the one of the track that stays was scanned, before the merge and after it. */
  shared: (Numbering & { first_scan: string; last_scan: string; later_scan: string })[];
}

/** What a merge of two tracks moved. */
export interface MovedTrack {
  /** Both tracks, and those that had been merged into the one that goes. */
  tracks: TrackBefore[];
  builds: Builds;
  /** What the follower needs to undo its part. */
  findings: unknown;
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
  const tracks = await tx
    .selectFrom('asset_tracks')
    .select(['n', 'name', 'merged_into'])
    .where('org_id', '=', orgId)
    .where('asset_id', '=', assetId)
    .where((either) => either.or([either('n', 'in', [from, to]), either('merged_into', '=', from)]))
    .execute();
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
  const builds = await moveBuilds(tx, { orgId, assetId, from, to });
  const findings = await follower.mergeTrack(tx, actor, { assetId, from, into: to, versions: builds.shared });
  const moved: MovedTrack = { tracks, builds, findings };
  await tx
    .insertInto('asset_track_merges')
    .values({
      org_id: orgId,
      id: newId(),
      asset_id: assetId,
      from_track: from,
      into_track: to,
      person: actor.person?.id ?? null,
      person_name: actor.person?.name ?? actor.name,
      reason,
      moved: JSON.stringify(moved),
    })
    .execute();
  await recordTrack(tx, actor, assetId, 'asset.track_merged', { track: name }, { track: into, reason });
  return prepareTrack(tx, actor, follower, { assetId, name: into });
}

interface Moving {
  orgId: string;
  assetId: string;
  from: number;
  to: number;
}

/** Moves the builds of a track. Those that the other one has as well stay with the merged track, which is not listed. */
async function moveBuilds(tx: TenantTx, { orgId, assetId, from, to }: Moving): Promise<Builds> {
  const { rows: shared } = await sql<Builds['shared'][number]>`
    with shared as materialized (
      select v.n as "from", known.n as "into", known.first_scan, known.last_scan, least(known.first_scan, v.first_scan) as earlier, greatest(known.last_scan, v.last_scan) as later_scan
      from asset_versions v join asset_versions known on known.org_id = v.org_id and known.asset_id = v.asset_id and known.track = ${to}
        and known.name = v.name and (known.digest, known.commit) is not distinct from (v.digest, v.commit)
      where v.org_id = ${orgId} and v.asset_id = ${assetId} and v.track = ${from}
    ), extended as (
      update asset_versions known set first_scan = shared.earlier, last_scan = shared.later_scan from shared
      where known.org_id = ${orgId} and known.asset_id = ${assetId} and known.n = shared."into"
    )
    select "from", "into", first_scan, last_scan, later_scan from shared`.execute(tx);
  const { rows } = await sql<{ n: number }>`
    update asset_versions set track = ${to}
    where org_id = ${orgId} and asset_id = ${assetId} and track = ${from} and n <> all(${shared.map((build) => build.from)}::integer[]) returning n`.execute(
    tx,
  );
  return { moved: rows.map(({ n }) => n), shared };
}
