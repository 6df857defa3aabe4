import { sql } from 'kysely';
import type { AssetSeparation, Separated } from '../../../assets/assets.ts';
import type { TenantTx } from '../../../db/database.ts';
import { readPolicy } from '../../../organizations/read-policy.ts';
import type { Actor } from '../../../shared/actor.ts';
import { endAgain } from '../../endings/end-again.ts';
import { foldAgain } from '../../endings/fold-again.ts';
import { type FindingFollower, idsSql, type MergedPair } from '../../follower.ts';
import { closeUnseen } from '../../merge/change-status.ts';
import { countPlaces } from '../../merge/write-places.ts';
import { dueSql } from '../../sla.ts';
import { keepLastSeen, returnUncovered, setMissed } from '../cover-by-runs.ts';
import { reopenUnproven } from '../reopen-unproven.ts';
import { followDecisions, returnStatements, setTimes, splitFindings, type Unseen } from '../split-findings.ts';
import { returnStored } from '../stored-sightings.ts';
import { readAbsences, returnAbsences, returnClosures } from './absences.ts';
import { copyFindings } from './copy-findings.ts';
import { type MovedFindings, moveFindings, renumberTracks } from './merge-asset.ts';
import { earlierSides, returnCoverage, returnShown } from './move-coverage.ts';
import { giveSightings, type Member, readSeen, type Seen, type SeenBefore, shareSightings } from './seen.ts';
import { learnedBy, readSides, type Sides, sidesSql } from './sides.ts';
import { changedByOthers, restorePlaces, restoreStatuses } from './statuses.ts';

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
  const { from, into, reason, tracks } = merge;
  const { coverage, seen: before, statuses, ...moved } = merge.findings as MovedFindings;
  const own = [...moved.ids, ...(await splitSince(tx, orgId, moved.merged))];
  await keepLastSeen(tx, orgId, sql`f.asset_id = ${into}`);
  const sides = await readSides(tx, orgId, merge, coverage.imports);
  const absences = await readAbsences(tx, orgId, into, [...sides, ...(await earlierSides(tx, orgId, merge, coverage))]);
  const seen = await readSeen(tx, orgId, into, { before, sides });
  const separated = new Set([...own, ...reportedSince(seen, before)]);
  const byOthers = new Set(await changedByOthers(tx, orgId, merge, { own: [...separated], sides, statuses }));
  const restored = statuses.filter(({ id }) => byOthers.has(id));
  const rules = mergedBy(orgId, merge, [...separated]);
  let copies: MergedPair[] = [];
  let members: Member[] = [];
  const pairs = await splitFindings(tx, actor, rules, {
    reason,
    settle: async (split) => {
      copies = await copyFindings(tx, actor, { ids: ofBoth(seen, split), assetId: from, mergedAt: merge.mergedAt });
      const apart = [...split, ...copies];
      for (const copy of copies) if (!separated.has(copy.into_id)) separated.add(copy.from_id);
      const confused = confusedBy(seen, apart, separated);
      members = membersOf(confused, apart, separated);
      await shareSightings(tx, orgId, members, confused);
      const unseen = unseenOf(members, confused);
      await returnStatements(tx, orgId, rules, unseen);
      await giveSightings(tx, orgId, members, { seen: confused, sides });
      await restorePlaces(tx, orgId, statuses, unseen);
      await returnAbsences(tx, orgId, absences, { pairs: apart, ids: [...separated] });
      await returnClosures(tx, orgId, { assetId: into, sides }, { pairs: apart, ids: [...separated] });
    },
  });
  const ids = [...separated];
  for (const side of ['from', 'into'] as const) {
    const isOfSide = sql`r.created_at > ${merge.mergedAt} and r.b in (select f.id from findings f where f.org_id = ${orgId} and f.asset_id = ${into}) and (r.b = any(${ids}::uuid[])) = ${side === 'from'}`;
    const ofOther = sides.flatMap((run) => (run.side === (side === 'from' ? 'into' : 'from') ? [run.import_id] : []));
    await returnStored(tx, orgId, isOfSide, ofOther);
  }
  const named = await namedSince(tx, orgId, merge, sides);
  await moveFindings(tx, orgId, ids, { from: into, into: from });
  await renumberTracks(
    tx,
    orgId,
    ids,
    tracks.map((track) => ({ from: track.into, into: track.from })),
  );
  await returnCoverage(tx, orgId, merge, coverage, sides);
  const namedBoth = sides.flatMap((run) => (run.side === 'both' ? [run.import_id] : []));
  await returnUncovered(tx, orgId, [from, into], namedBoth);
  await setMissed(tx, orgId, sql`c.asset_id in (${from}, ${into})`);
  await returnShown(tx, orgId, merge, { pairs: [...pairs, ...copies], own: separated });
  const kept = await namedOf(tx, orgId, into);
  const apart = [...pairs, ...copies.map((copy) => ({ ...copy, merged_at: null }))];
  const restated = [
    ...new Set([
      ...apart.flatMap(({ from_id, into_id }) => [from_id, into_id]),
      ...[...members, ...restored].map(({ id }) => id),
      ...absences.map(({ finding_id }) => finding_id),
    ]),
  ];
  const changed = [...new Set([...ids, ...restated, ...seen.map(({ finding_id }) => finding_id)])];
  await setTimes(tx, orgId, changed);
  await foldAgain(tx, actor, restated);
  await setDeadlines(
    tx,
    orgId,
    copies.map(({ from_id }) => from_id),
  );
  await countPlaces(tx, orgId, idsSql(changed));
  await restoreStatuses(tx, actor, restored, merge.mergedAt);
  await closeUnseen(tx, { orgId, importId: null, actor }, idsSql(changed));
  await reopenUnproven(tx, actor, changed, 'asset_unmerged');
  await followDecisions(tx, actor, changed);
  await endAgain(tx, actor, follower, changed);
  await follower.restoreLinks(tx, actor, apart);
  await follower.follow(tx, actor, idsSql(changed));
  return { ids, separated: { moved: named, kept, keys: learnedBy('from', sides, merge.keys) } };
}

/** Those of the findings that are no longer merged into others. */
async function splitSince(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select id from findings where org_id = ${orgId} and id in (${idsSql(ids)}) and merged_into is null`.execute(tx);
  return rows.map(({ id }) => id);
}

/** What the merge of the assets made one, and what has been made one since of findings of both. Selects the ids of rules. */
const mergedBy = (orgId: string, { mergeId, mergedAt }: AssetSeparation, own: readonly string[]) => sql`
  select r.id from identity_rules r
  where r.org_id = ${orgId} and (r.asset_merge_id = ${mergeId} or (r.created_at > ${mergedAt} and r.revoked_at is null and (r.a in (${idsSql(own)})) <> (r.b in (${idsSql(own)}))))`;

/** Findings that were new since the merge, and that only reports about the separated asset have shown. */
function reportedSince(seen: readonly Seen[], before: readonly SeenBefore[]): string[] {
  const known = new Set(before.flatMap(({ ids }) => ids));
  const ofOther = new Set(seen.flatMap(({ finding_id, side }) => (side === 'into' ? [finding_id] : [])));
  return [...new Set(seen.map(({ finding_id }) => finding_id))].filter((id) => !known.has(id) && !ofOther.has(id));
}

/** Findings that reports about both assets have shown, and that have always been one. */
function ofBoth(seen: readonly Seen[], split: readonly MergedPair[]): string[] {
  const were = new Set(split.map(({ into_id }) => into_id));
  const of = (side: Seen['side']) => new Set(seen.flatMap((one) => (one.side === side ? [one.finding_id] : [])));
  const others = of('into');
  return [...of('from')].filter((id) => others.has(id) && !were.has(id));
}

/** What reports have shown of findings that stood for those of both assets, or that reports about the other asset have shown. */
function confusedBy(seen: readonly Seen[], apart: readonly MergedPair[], own: ReadonlySet<string>): Seen[] {
  const stoodFor = apart.map(({ into_id }) => into_id);
  const ofOther = seen.flatMap(({ finding_id, side }) => (own.has(finding_id) === (side === 'from') ? [] : [finding_id]));
  const confused = new Set([...stoodFor, ...ofOther]);
  return seen.filter(({ finding_id }) => confused.has(finding_id));
}

function membersOf(seen: readonly Seen[], apart: readonly MergedPair[], own: ReadonlySet<string>): Member[] {
  const others = Map.groupBy(apart, ({ into_id }) => into_id);
  return [...new Set(seen.map(({ finding_id }) => finding_id))].flatMap((joint_id) =>
    [joint_id, ...(others.get(joint_id) ?? []).map(({ from_id }) => from_id)].map((id) => ({ id, joint_id, side: own.has(id) ? 'from' : 'into' }) as const),
  );
}

/** The sightings that no report about the asset of the finding has shown since the merge. */
function unseenOf(members: readonly Member[], seen: readonly Seen[]): Unseen[] {
  const before = Map.groupBy(
    seen.filter(({ since }) => !since),
    ({ finding_id, side }) => `${finding_id} ${side}`,
  );
  return members.flatMap(({ id, joint_id, side }) =>
    (before.get(`${joint_id} ${side}`) ?? []).map(({ source_id, track }) => ({ finding_id: id, source_id, track })),
  );
}

/** The time of a finding that was copied begins when reports about its asset first showed it. */
async function setDeadlines(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const { sla } = await readPolicy(tx, orgId);
  await sql`
    update findings f set clock_from = f.first_seen, due_at = ${dueSql(sla, sql`f.first_seen`, sql`f.severity`, sql`f.kev`)}
    where f.org_id = ${orgId} and f.id in (${idsSql(ids)})`.execute(tx);
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
