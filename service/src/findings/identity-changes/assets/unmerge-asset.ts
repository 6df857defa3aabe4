import { sql } from 'kysely';
import type { AssetSeparation, Separated } from '../../../assets/assets.ts';
import type { TenantTx } from '../../../db/database.ts';
import type { Actor } from '../../../shared/actor.ts';
import { followPlaces } from '../../decisions/follow-places.ts';
import { foldAgain } from '../../endings/fold-again.ts';
import { type FindingFollower, idsSql } from '../../follower.ts';
import { countPlaces } from '../../merge/write-places.ts';
import { reopenUnproven } from '../reopen-unproven.ts';
import { splitFindings } from '../split-findings.ts';
import { readAbsences, returnAbsences } from './absences.ts';
import { keepLastSeen, type MovedFindings, moveFindings, renumberTracks } from './merge-asset.ts';
import { returnCoverage } from './move-coverage.ts';
import { learnedBy, readSides, type Sides, sidesSql } from './sides.ts';

/**
 * Separates the findings of two assets that were merged. Scans since the merge count for the asset that they named: a scan of one of them closes nothing on
 * the other. Returns the findings of the separated asset, and what else of it scans have named since.
 */
export async function unmergeAssetFindings(
  tx: TenantTx,
  actor: Actor,
  follower: FindingFollower,
  merge: AssetSeparation,
): Promise<{ ids: string[]; separated: Separated }> {
  const { orgId } = actor;
  const { from, into, mergeId, reason, tracks } = merge;
  const { ids: own, coverage } = merge.findings as MovedFindings;
  await keepLastSeen(tx, orgId, [into]);
  const sides = await readSides(tx, orgId, merge, coverage.imports);
  const absences = await readAbsences(tx, orgId, into, sides);
  const ids = [...own, ...(await reportedSince(tx, orgId, merge, sides))];
  const rules = sql`select id from identity_rules where org_id = ${orgId} and asset_merge_id = ${mergeId}`;
  const pairs = await splitFindings(tx, actor, rules, { reason, settle: (apart) => returnAbsences(tx, orgId, absences, { pairs: apart, ids }) });
  const moved = await namedSince(tx, orgId, merge, sides);
  await moveFindings(tx, orgId, ids, { from: into, into: from });
  await renumberTracks(
    tx,
    orgId,
    ids,
    tracks.map((track) => ({ from: track.into, into: track.from })),
  );
  await returnCoverage(tx, orgId, merge, coverage, sides);
  const kept = await namedOf(tx, orgId, into);
  const changed = [...new Set([...ids, ...pairs.flatMap(({ from_id, into_id }) => [from_id, into_id]), ...absences.map(({ finding_id }) => finding_id)])];
  await foldAgain(tx, actor, changed);
  await countPlaces(tx, orgId, idsSql(changed));
  const reopened = await reopenUnproven(tx, actor, changed, 'asset_unmerged');
  await followPlaces(tx, actor, { ids: idsSql(reopened), importId: null });
  await follower.restoreLinks(tx, actor, pairs);
  await follower.follow(tx, actor, idsSql(changed));
  return { ids, separated: { moved, kept, keys: learnedBy('from', sides, merge.keys) } };
}

/** Findings that only scans of the separated asset have reported, since the merge. */
async function reportedSince(tx: TenantTx, orgId: string, { into, mergedAt }: AssetSeparation, sides: Sides): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with side as materialized (select * from ${sidesSql(sides)} where side = 'from')
    select f.id from findings f join sightings s on s.org_id = ${orgId} and s.finding_id = f.id
    left join side on side.import_id = s.seen_import_id and side.track = s.track
    where f.org_id = ${orgId} and f.asset_id = ${into} and f.created_at > ${mergedAt} and f.merged_into is null
    group by f.id having bool_and(side.import_id is not null)`.execute(tx);
  return rows.map(({ id }) => id);
}

interface Covered {
  track: number;
  n: number | null;
  first_scan: string;
  last_scan: string;
}

/** The tracks and builds of the separated asset that scans have named since the merge. */
async function namedSince(tx: TenantTx, orgId: string, { into, tracks }: AssetSeparation, sides: Sides): Promise<Separated['moved']> {
  const { rows } = await sql<Covered>`
    select run.track, run.version_n as n, min(run.started_at)::text as first_scan, max(run.ended_at)::text as last_scan
    from ${sidesSql(sides)} join run_assets run on run.org_id = ${orgId} and run.asset_id = ${into} and run.import_id = side.import_id and run.track = side.track
    where side.side = 'from' and (run.track_name is distinct from '' or run.version_n is not null) group by 1, 2`.execute(tx);
  const ownTrack = (n: number): number => tracks.find((track) => track.into === n)?.from ?? n;
  const builds = rows.flatMap(({ n, track, ...scans }) => (n === null ? [] : [{ n, track: ownTrack(track), ...scans }]));
  return { tracks: rows.map(({ track }) => track), builds };
}

/** The tracks and builds that scans of the asset have named. */
async function namedOf(tx: TenantTx, orgId: string, assetId: string): Promise<Separated['kept']> {
  const { rows } = await sql<Separated['kept']>`
    select coalesce(array_agg(distinct track) filter (where track_name is distinct from ''), '{}') as tracks,
      coalesce(array_agg(distinct version_n) filter (where version_n is not null), '{}') as builds
    from run_assets where org_id = ${orgId} and asset_id = ${assetId}`.execute(tx);
  return rows[0] ?? { tracks: [], builds: [] };
}
