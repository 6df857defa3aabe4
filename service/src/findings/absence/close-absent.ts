import { type RawBuilder, sql } from 'kysely';
import { assetFacts, importedAssets, mergedAssets, mergedTracks } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { anyRows } from '../../db/rows.ts';
import { systemActor } from '../../shared/actor.ts';
import { type FindingFollower, idsSql } from '../follower.ts';
import { closeUnseen, followScanTimes } from '../merge/change-status.ts';
import { seenUntilSql } from '../merge/group-records.ts';
import { updateShared } from '../merge/merged-values.ts';
import { isLarge, type Resolution } from '../merge/resolution.ts';
import type { Outcomes } from '../merge/resolve.ts';
import { componentEntry, isSelective, portRange, recordLists } from '../merge/run-lists.ts';
import { countPlaces, endMissingPlaces } from '../merge/write-places.ts';
import { type Absence, unlooked } from './absence.ts';
import { findExcess, type Withheld } from './brake.ts';
import { addReportedAsFixed, findAbsent, isEarlier, isUnlookedPlace, isUnproven, leaveKnown, recordUnseen } from './find-absent.ts';
import { findUnlisted, recordListing, recordUnlisted } from './find-unlisted.ts';
import { keepInUse } from './list-again.ts';
import { findNarrower, findRetracted } from './narrower.ts';
import { raiseBars } from './raise-bars.ts';
import { replaceHeld } from './replace-held.ts';

export interface Closures {
  closed: number;
  /** Whether findings were closed, or a scan that can be believed replaced the one that had closed them. */
  isClosing: boolean;
  /** Set if the closures wait for confirmation. */
  withheld: Withheld | null;
  /** How many findings stay open although the run does not report them, by reason. */
  blocked: { code: string; count: number }[];
  /** Findings that are still there, but not in all of their places. */
  inFewerPlaces: readonly string[];
  /** Findings that a scan had closed which, as a late report shows, was not able enough. */
  unproven: readonly string[];
}

/** Turns what the run no longer reports into absences, as far as they prove something and are not unusually many. */
export async function closeAbsent(
  tx: TenantTx,
  resolution: Resolution,
  absence: Absence,
  { groups, seenPlaces }: Pick<Outcomes, 'groups' | 'seenPlaces'>,
): Promise<Closures> {
  const { hasHeld, hasRetired } = await readBefore(tx, resolution);
  if (hasHeld) await keepSeenAgain(tx, resolution);
  await recordRun(tx, resolution, absence);
  const isLate = (absence.complete || groups.unchanged || groups.updated) && (await hasNewer(tx, resolution));
  const leavesOut = await recordListing(tx, resolution, absence);
  if (absence.complete) {
    if (isLate) await recordUnseen(tx, resolution);
    await findAbsent(tx, resolution, absence, isLate);
    if (await hasClosures(tx, resolution)) {
      if (isLarge(resolution)) await sql`select analyze_closures()`.execute(tx);
      await findRetracted(tx, resolution, absence);
      await findNarrower(tx, resolution, absence);
      if (isLate) await leaveKnown(tx, resolution);
    }
  }
  if (leavesOut) await findUnlisted(tx, resolution, absence);
  if (groups.fixed) await addReportedAsFixed(tx, resolution);
  const hasAny = (absence.complete || groups.fixed || leavesOut) && (await hasClosures(tx, resolution));
  const closures = hasAny ? await closeCollected(tx, resolution, absence) : { closed: 0, isClosing: false, withheld: null, blocked: [] };
  if (isLate && closures.isClosing) await followScanTimes(tx, resolution.orgId, closuresSql(resolution));
  if (hasHeld && absence.complete) await replaceHeld(tx, resolution);
  const isUnlooked = (location: RawBuilder<unknown>) => isUnlookedPlace(resolution, absence, location);
  const inFewerPlaces = absence.complete && (seenPlaces || isLate) ? await endMissingPlaces(tx, resolution, isUnlooked) : [];
  await recordCoverage(tx, resolution);
  const unproven = isLate ? await raiseBars(tx, resolution) : [];
  if (leavesOut && !closures.withheld) await recordUnlisted(tx, resolution, absence);
  if (hasRetired) await keepInUse(tx, resolution);
  return { ...closures, inFewerPlaces, unproven };
}

/** Whether a newer scan of one of the tracks is known. */
async function hasNewer(tx: TenantTx, { orgId, importId, sourceId }: Resolution): Promise<boolean> {
  return anyRows(
    tx,
    sql`select from run_assets run
      join source_coverage newest on newest.org_id = ${orgId} and newest.source_id = ${sourceId} and newest.asset_id = run.asset_id and newest.track = run.track
      where run.org_id = ${orgId} and run.import_id = ${importId} and newest.seen_at > run.started_at`,
  );
}

async function closeCollected(tx: TenantTx, resolution: Resolution, absence: Absence): Promise<Omit<Closures, 'inFewerPlaces' | 'unproven'>> {
  const blocked = await keepBlocked(tx, resolution);
  const withheld = await findExcess(tx, resolution, absence);
  if (withheld) await setAccepted(tx, resolution, false);
  const closed = withheld ? 0 : await applyClosures(tx, resolution);
  return { closed, isClosing: !withheld, withheld, blocked };
}

/** Whether the closures of an earlier import of the organization wait for confirmation, and whether assets of the run are retired. */
async function readBefore(tx: TenantTx, { orgId, importId }: Resolution): Promise<{ hasHeld: boolean; hasRetired: boolean }> {
  const { rows } = await sql<{ hasHeld: boolean; hasRetired: boolean }>`
    select exists (select from import_closures where org_id = ${orgId} and import_id <> ${importId}) as "hasHeld",
      exists (select from ${importedAssets} a join ${assetFacts} asset on asset.org_id = ${orgId} and asset.id = a.asset_id
        where a.org_id = ${orgId} and a.import_id = ${importId} and asset.retired_at is not null) as "hasRetired"`.execute(tx);
  return rows[0] ?? { hasHeld: false, hasRetired: false };
}

async function hasClosures(tx: TenantTx, { orgId, importId }: Resolution): Promise<boolean> {
  const { rows } = await sql`select from import_closures where org_id = ${orgId} and import_id = ${importId} limit 1`.execute(tx);
  return rows.length > 0;
}

/** Notes at the sightings that a complete run did not show them and why that proves nothing. */
async function keepBlocked(tx: TenantTx, { orgId, importId, sourceId }: Resolution): Promise<{ code: string; count: number }[]> {
  const { rows } = await sql<{ code: string; count: number }>`
    with blocked as (
      delete from import_closures where org_id = ${orgId} and import_id = ${importId} and blockers <> '{}' returning finding_id, track, absent_at, blockers
    ), missed as (
      update sightings s set missed_at = blocked.absent_at, missed_import_id = ${importId}, missed_because = blocked.blockers from blocked
      where s.org_id = ${orgId} and s.finding_id = blocked.finding_id and s.source_id = ${sourceId} and s.track = blocked.track
        and (s.missed_at is null or s.missed_at < blocked.absent_at)
    )
    select code, count(*)::int as count from blocked cross join lateral unnest(blockers) as code group by 1 order by 2 desc, 1`.execute(tx);
  return rows;
}

/** Records how completely and ably the run looked at each track. */
async function recordRun(tx: TenantTx, resolution: Resolution, absence: Absence): Promise<void> {
  const { orgId, importId, sourceId } = resolution;
  const { complete, checks, files, unread, skipped, facts } = absence;
  const components = (facts.components ?? []).map(({ name, version }) => componentEntry(name.toLowerCase(), version));
  const { hidden_in: hidden = [], restrictions = [], ports = [] } = facts;
  const lists = {
    checks,
    files,
    components,
    ports: ports.map(portRange),
    unread,
    skipped,
    hidden,
    leftOut: unlooked(absence).filter((kind) => kind !== 'suppressed'),
    restrictions,
  };
  await sql`
    insert into run_assets (org_id, source_id, asset_id, track, import_id, version_n, started_at, ended_at, complete, accepted, credentialed, knowledge_at, selective, track_name,
      variant, identity_weak, build_ids, named_keys, shown)
    select ${orgId}, ${sourceId}, a.asset_id, a.track, ${importId}, max(a.version_n), min(a.started_at), max(a.ended_at), ${complete}::boolean and bool_and(a.doubt is null), true,
      bool_and(a.credentialed), min(a.knowledge_at), ${isSelective(lists)}, case when min(a.track_name) = max(a.track_name) then min(a.track_name) end,
      string_agg(distinct a.variant, ',' order by a.variant), bool_or(a.identity_weak), array_remove(array_agg(distinct id), null),
      case when exists (select from ${mergedAssets} merged where merged.org_id = ${orgId} and merged.asset_id = a.asset_id) then (
        select array_agg(distinct key) from ${importedAssets} named cross join lateral unnest(named.keys) as key
        where named.org_id = ${orgId} and named.import_id = ${importId} and named.asset_id = a.asset_id and named.track = a.track) end,
      case when exists (select from ${mergedAssets} merged where merged.org_id = ${orgId} and merged.asset_id = a.asset_id)
        or exists (select from ${mergedTracks} merged where merged.org_id = ${orgId} and merged.asset_id = a.asset_id) then ${shownSql(resolution)} end
    from ${importedAssets} a left join lateral unnest(a.build_ids) as id on true
    where a.org_id = ${orgId} and a.import_id = ${importId} group by a.asset_id, a.track`.execute(tx);
  if (complete) await recordLists(tx, resolution, lists);
}

/** Records until when the source has scanned each track of the run. A run whose closures are withheld proves nothing yet. */
async function recordCoverage(tx: TenantTx, { orgId, importId, sourceId }: Resolution): Promise<void> {
  await sql`
    insert into source_coverage as known (org_id, source_id, asset_id, track, import_id, seen_at, complete_import_id, complete_at, version_n)
    select ${orgId}::uuid, ${sourceId}::uuid, run.asset_id, run.track, ${importId}::uuid, run.started_at, proves.import_id, proves.started_at, proves.version_n
    from run_assets run
    left join lateral (select run.import_id, run.started_at, run.version_n where run.complete and run.accepted) proves on true
    where run.org_id = ${orgId} and run.import_id = ${importId}
    on conflict (org_id, source_id, asset_id, track) do update set
      import_id = case when known.seen_at < excluded.seen_at then excluded.import_id else known.import_id end,
      seen_at = greatest(known.seen_at, excluded.seen_at),
      complete_import_id = case when known.complete_at is null or known.complete_at < excluded.complete_at then excluded.complete_import_id else known.complete_import_id end,
      version_n = case when known.complete_at is null or known.complete_at < excluded.complete_at then excluded.version_n else known.version_n end,
      complete_at = greatest(known.complete_at, excluded.complete_at),
      unlisted_at = case when known.seen_at < excluded.seen_at then null else known.unlisted_at end,
      gone_at = case when known.seen_at < excluded.seen_at then null else known.gone_at end
    where known.seen_at < excluded.seen_at or (excluded.complete_at is not null and (known.complete_at is null or known.complete_at < excluded.complete_at))`.execute(
    tx,
  );
}

/** The findings that the run showed on the track `a`. */
function shownSql({ orgId, importId, sourceId }: Resolution): RawBuilder<unknown> {
  return sql`array(
    select g.finding_id from tenant_import_groups g
    where g.org_id = ${orgId} and g.import_id = ${importId} and g.asset_id = a.asset_id and g.track = a.track and g.present and g.outcome not in ('elsewhere', 'reintroduced')
    union
    select known.finding_id from tenant_import_seen known
    join findings f on f.org_id = ${orgId} and f.id = known.finding_id
    join sightings s on s.org_id = ${orgId} and s.finding_id = known.finding_id and s.source_id = ${sourceId} and s.track = a.track and s.content = known.content
    where known.org_id = ${orgId} and known.import_id = ${importId} and f.asset_id = a.asset_id)`;
}

async function setAccepted(tx: TenantTx, { orgId, importId }: Resolution, accepted: boolean): Promise<void> {
  await tx.updateTable('run_assets').set({ accepted }).where('org_id', '=', orgId).where('import_id', '=', importId).execute();
}

/** Applies the closures of a run after a person confirmed them. */
export async function acceptRun(tx: TenantTx, resolution: Resolution, { isConnection }: { isConnection: boolean }): Promise<void> {
  const { orgId, sourceId } = resolution;
  await setAccepted(tx, resolution, true);
  const { rows } = await sql<{
    listed_at: Date | null;
  }>`select max(listed_at) as listed_at from imports where org_id = ${orgId} and source_id = ${sourceId}`.execute(tx);
  const listing = { ...resolution, listedAt: rows[0]?.listed_at ?? null };
  const absence = { lists: isConnection ? ('all_assets' as const) : ('similar_assets' as const) };
  if (listing.listedAt) await findUnlisted(tx, listing, absence);
  await applyClosures(tx, resolution);
  await followScanTimes(tx, orgId, closuresSql(resolution));
  await recordCoverage(tx, resolution);
  if (listing.listedAt) await recordUnlisted(tx, listing, absence);
}

/** Removes findings from the withheld closures of earlier runs of the same source that this run sees on the same track. */
async function keepSeenAgain(tx: TenantTx, { orgId, importId, sourceId }: Resolution): Promise<void> {
  await sql`
    delete from import_closures c
    where c.org_id = ${orgId} and c.import_id in (select i.id from imports i where i.org_id = ${orgId} and i.source_id = ${sourceId} and i.status = 'needs_confirmation')
      and exists (
        select from tenant_import_groups g
        where g.org_id = ${orgId} and g.import_id = ${importId} and g.finding_id = c.finding_id and g.track = c.track and g.present and g.seen_at >= c.absent_at
        union all
        select from tenant_import_seen i join findings f on f.org_id = ${orgId} and f.id = c.finding_id
        join ${importedAssets} a on a.org_id = ${orgId} and a.import_id = ${importId} and a.asset_id = f.asset_id and a.track = c.track
        where i.org_id = ${orgId} and i.import_id = ${importId} and i.finding_id = c.finding_id and c.absent_at <= coalesce(i.last_seen, a.ended_at)
        offset 0)`.execute(tx);
}

function closuresSql({ orgId, importId }: Resolution): RawBuilder<unknown> {
  return sql`select c.finding_id from import_closures c where c.org_id = ${orgId} and c.import_id = ${importId}`;
}

/** What is no longer listed. A late run can show that it was not earlier than known. */
const ENDINGS: string[] = ['asset_gone', 'track_ended'];

/** Marks the findings as absent for this source and track, and closes those that no source sees any more. */
async function applyClosures(tx: TenantTx, resolution: Resolution): Promise<number> {
  const { orgId, importId, sourceId } = resolution;
  // What proves nothing must not hide that the source saw the finding after another one proved something.
  const lastSeen = sql`case when c.absence = 'gone' or s.absence = 'declared' then s.last_seen else least(${seenUntilSql(orgId, sql`(select f.asset_id from findings f where f.org_id = ${orgId} and f.id = c.finding_id)`)}, c.absent_at) end`;
  await sql`
    update sightings s set state = 'absent', absence = c.absence, absent_at = c.absent_at, gaps = c.gaps, last_import_id = ${importId}, last_seen = ${lastSeen} from import_closures c
    cross join lateral (select f.status from findings f where f.org_id = ${orgId} and f.id = c.finding_id offset 0) f
    where c.org_id = ${orgId} and c.import_id = ${importId} and s.org_id = ${orgId} and s.finding_id = c.finding_id and s.source_id = ${sourceId} and s.track = c.track
      and (s.state = 'present' or s.absence = 'declared' or (${isUnproven(sql`s`)} and s.absent_at < c.absent_at) or ${isEarlier(sql`s`, sql`c.absent_at`)} or (s.absence = any(${ENDINGS}::text[]) and c.absence = any(${ENDINGS}::text[]))) and s.last_seen <= c.absent_at`.execute(
    tx,
  );
  const ids = closuresSql(resolution);
  const shared = sql`select s.finding_id from sightings s where s.org_id = ${orgId} and s.finding_id in (${ids}) group by 1 having count(*) > 1`;
  await updateShared(tx, resolution, shared);
  // Places count as long as a source sees them. A finding that is closed keeps the number that it had.
  await countPlaces(tx, orgId, sql`${shared} and bool_or(s.state = 'present')`);
  const closed = await closeUnseen(tx, resolution, ids);
  await sql`update sightings s set doubted = false where s.org_id = ${orgId} and s.finding_id in (${ids}) and s.source_id = ${sourceId} and s.doubted`.execute(
    tx,
  );
  return closed;
}

/** Passes the changed findings to the follower. Deletes the closures afterwards, unless they are withheld. */
export async function notifyFollower(tx: TenantTx, follower: FindingFollower, { orgId, importId, actor }: Resolution, changes: Changes): Promise<void> {
  if (changes.reopened || changes.isClosing || changes.others.length > 0) {
    await follower.follow(
      tx,
      { ...systemActor(orgId, actor.name), ...actor },
      sql`select finding_id from tenant_import_groups where org_id = ${orgId} and import_id = ${importId} and outcome = 'reopened'
        union all select finding_id from import_closures where org_id = ${orgId} and import_id = ${importId}
        union all ${idsSql(changes.others)}`,
    );
  }
  if (!changes.isWithheld) await sql`delete from import_closures where org_id = ${orgId} and import_id = ${importId}`.execute(tx);
}

interface Changes {
  reopened: boolean;
  isClosing: boolean;
  /** Further findings whose status changed. */
  others: readonly string[];
  isWithheld: boolean;
}
