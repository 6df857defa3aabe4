import { type RawBuilder, sql } from 'kysely';
import { importedAssets } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { anyRows } from '../../db/rows.ts';
import { isClosedByScans } from '../merge/change-status.ts';
import { coverageOfSql, lastSeenSql, seenImportSql } from '../merge/group-records.ts';
import type { Resolution } from '../merge/resolution.ts';
import {
  FILES_SHARE,
  hasOtherSizeSql,
  isPortLeftOut,
  isUncheckedThere,
  kindsSql,
  LEAVES_OUT_PLACES,
  leavesOutSuppressedSql,
  namesOfCheck,
  placeOfCheck,
  portRange,
} from '../merge/run-lists.ts';
import { type Absence, type Blocker, type Gap, unlooked } from './absence.ts';
import { isCheckRetired } from './retired-checks.ts';

/** Each track that the run covered. */
function coveredSql({ orgId, importId }: Resolution): RawBuilder<unknown> {
  return sql`(
    select a.asset_id, a.track, min(a.started_at) as started_at, max(a.doubt) as doubt, bool_and(a.credentialed) as credentialed, min(a.knowledge_at) as knowledge_at,
      bool_or(a.identity_weak) as identity_weak
    from ${importedAssets} a where a.org_id = ${orgId} and a.import_id = ${importId} group by a.asset_id, a.track)`;
}

/** Whether the location is in one of the files or folders. */
function isIn(location: RawBuilder<unknown>, paths: readonly string[]): RawBuilder<boolean> {
  if (paths.length === 0) return sql`false`;
  return sql`exists (select from unnest(${paths as string[]}::text[]) as path where ${location}->>'path' = path or starts_with(${location}->>'path', path || '/'))`;
}

/** Whether the location is in a file or folder that the tool did not read. */
export function isUnread(location: RawBuilder<unknown>, { unread }: Pick<Absence, 'unread'>): RawBuilder<boolean> {
  return isIn(location, unread);
}

/** Whether the finding `f` has a place in one of the files or folders. */
function isFoundIn({ orgId, sourceId }: Resolution, paths: readonly string[]): RawBuilder<unknown> {
  if (paths.length === 0) return sql`false`;
  return sql`(${isIn(sql`f.location`, paths)} or exists (
    select from occurrences o where o.org_id = ${orgId} and o.finding_id = f.id and o.source_id = ${sourceId} and o.track = s.track and o.state = 'present'
      and ${isIn(sql`o.location`, paths)}))`;
}

/** Whether the tool left out findings where `f` is. */
function isHidden(resolution: Resolution, { facts: { hidden_in = [] } }: Absence): RawBuilder<unknown> {
  return hidden_in.includes('.') ? sql`true` : isFoundIn(resolution, hidden_in);
}

/** Whether the check of the finding `f` was skipped in the file or on the site of the location, or everywhere. */
function isSkipped({ skipped }: Absence, location: RawBuilder<unknown> = sql`f.location`): RawBuilder<unknown> {
  if (skipped.length === 0) return sql`false`;
  const everywhere = skipped.flatMap(({ rule, path }) => (path === null ? [rule] : []));
  const somewhere = skipped.filter(({ path }) => path !== null);
  const [rules, paths] = [somewhere.map(({ rule }) => rule), somewhere.map(({ path }) => path)];
  return sql`((f.rule, ${placeOfCheck(location)}) in (select * from unnest(${rules}::text[], ${paths}::text[]))
    or exists (${namesOfCheck(sql`f.rule`)} intersect select unnest(${everywhere}::text[])))`;
}

/** How many files the run of an import lists as read. */
function filesOf({ orgId }: Resolution, importId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select (i.run->>'files')::float8 from imports i where i.org_id = ${orgId} and i.id = ${importId})`;
}

/**
 * Whether the list does not have the file of the finding, and the run that saw the finding had read many more files. If that one lists none, the complete run
 * before this one counts.
 */
function isInShorterList(resolution: Resolution, files: readonly string[]): RawBuilder<unknown> {
  const before = sql`coalesce(${filesOf(resolution, seenImportSql)}, ${filesOf(resolution, sql`case when c.complete_at < a.started_at then c.complete_import_id end`)})`;
  return sql`(${isNotListed(files)} and ${files.length}::float8 < coalesce(${FILES_SHARE}::float8 * ${before}, 'infinity'))`;
}

function isNotListed(files: readonly string[]): RawBuilder<unknown> {
  return sql`f.location->>'path' not in (select unnest(${files as string[]}::text[]))`;
}

/**
 * Whether the tool may not have looked at the file of the finding. A file that a list does not have was removed, unless the list is much shorter than before
 * and nobody states that all of the repository was scanned. A report without a list, where there was one, may be of a run that read nothing.
 */
async function isUnlistedFile(tx: TenantTx, resolution: Resolution, { files, wholeStated }: Absence): Promise<RawBuilder<unknown>> {
  if (files === null) return sql`(f.location ? 'path' and ${filesOf(resolution, seenImportSql)} > 0)`;
  const baseName = (path: RawBuilder<unknown>) => sql`substring(${path} from '[^/]+$')`;
  // If none of the files of known findings is there, but one of the same name is, the tool was probably started in another folder.
  const isMoved = (await hasKnownFile(tx, resolution, files))
    ? sql`false`
    : sql`${baseName(sql`f.location->>'path'`)} in (select ${baseName(sql`read`)} from unnest(${files as string[]}::text[]) as read)`;
  return sql`((${isNotListed(files)} and ${isMoved}) or ${wholeStated === null ? isInShorterList(resolution, files) : sql`false`})`;
}

async function hasKnownFile(tx: TenantTx, { orgId, importId, sourceId }: Resolution, files: readonly string[]): Promise<boolean> {
  return anyRows(
    tx,
    sql`select from findings f join sightings s on s.org_id = ${orgId} and s.finding_id = f.id and s.source_id = ${sourceId} and s.state = 'present'
      where f.org_id = ${orgId} and f.asset_id in (select a.asset_id from ${importedAssets} a where a.org_id = ${orgId} and a.import_id = ${importId})
        and f.location->>'path' in (select unnest(${files as string[]}::text[]))
        and not exists (select from tenant_import_groups g where g.org_id = ${orgId} and g.import_id = ${importId} and g.finding_id = f.id and g.outcome in ('created', 'joined'))`,
  );
}

/**
 * Whether the tool was run with an option that leaves out findings, and the run that saw the finding was not. If the option leaves out places, no run since the
 * finding was first seen may have been without it.
 */
function isRestricted(resolution: Resolution, absence: Absence): RawBuilder<unknown> {
  const { orgId } = resolution;
  const { restrictions = [] } = absence.facts;
  if (restrictions.length === 0) return sql`false`;
  const wasNot = sql`coalesce((select ${isWider(restrictions)} from imports i where i.org_id = ${orgId} and i.id = ${seenImportSql}), true)`;
  return sql`(${wasNot} or ${hadWiderRun(resolution, absence, 'a')})`;
}

const isWider = (options: readonly string[]) => sql`not ${options as string[]}::text[] <@ array(select jsonb_array_elements_text(i.run->'restrictions'))`;

/** Whether the run leaves out places, and a run since the sighting `s` was first seen did not. `x` has the asset and the track. */
function hadWiderRun({ orgId, importId, sourceId }: Resolution, { facts: { restrictions = [] } }: Absence, x: 'a' | 'run'): RawBuilder<unknown> {
  const ofPlaces = restrictions.filter((option) => new RegExp(LEAVES_OUT_PLACES).test(option));
  if (ofPlaces.length === 0) return sql`false`;
  return sql`exists (
    select from run_assets wider join imports i on i.org_id = ${orgId} and i.id = wider.import_id
    where wider.org_id = ${orgId} and wider.source_id = ${sourceId} and wider.asset_id = ${sql.ref(`${x}.asset_id`)} and wider.track = ${sql.ref(`${x}.track`)}
      and wider.import_id <> ${importId} and wider.ended_at >= s.first_seen and ${isWider(ofPlaces)})`;
}

/**
 * Whether the tool may not have looked at a place of the finding `f` at this location, or did not say what it found there. `run` is the run on the asset, and
 * `s` the sighting.
 */
export function isUnlookedPlace(resolution: Resolution, absence: Absence, location: RawBuilder<unknown>): RawBuilder<unknown> {
  const hidden = absence.facts.hidden_in ?? [];
  const isHiddenThere = hidden.includes('.') ? sql`true` : isIn(location, hidden);
  return sql`(${isUnread(location, absence)} or ${isHiddenThere} or ${isSkipped(absence, location)} or ${hadWiderRun(resolution, absence, 'run')})`;
}

/** Whether the run that saw the finding checked many more or fewer dependencies, or this one none. */
function isOtherLockFile({ orgId, size }: Resolution): RawBuilder<unknown> {
  if (size === null) return sql`false`;
  const seen = sql`(select i.run from imports i where i.org_id = ${orgId} and i.id = ${seenImportSql})`;
  return sql`(f.component is not null and ${hasOtherSizeSql(seen, sql`${JSON.stringify(size)}::jsonb`)})`;
}

/**
 * Whether a later scan that proves nothing, or a complete one that began before this one and ended after that, may have shown the finding. When a sighting
 * was last seen is written once a day, and later than that it is known only when complete scans began.
 */
function maybeSeenSince({ orgId, importId, sourceId }: Resolution): RawBuilder<unknown> {
  return sql`exists (
    select from run_assets later
    where later.org_id = ${orgId} and later.source_id = ${sourceId} and later.asset_id = a.asset_id and later.track = a.track and later.import_id <> ${importId}
      and later.ended_at >= a.started_at and date_trunc('day', later.ended_at, 'UTC') <= s.last_seen
      and (not (later.complete and later.accepted) or (later.started_at < a.started_at and (s.missed_at is null or s.missed_at < later.started_at))))`;
}

function when(code: Blocker | Gap, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`case when ${condition} then ${sql.lit(code)} end`;
}

/** Whether the report names the lock file of the finding. A checkout can be in another folder every time. */
function namesFile(files: readonly string[]): RawBuilder<unknown> {
  const path = sql`f.location->>'path'`;
  return sql`exists (select from unnest(${files as string[]}::text[]) as file where file = ${path} or right(file, length(${path}) + 1) = '/' || (${path}))`;
}

/** Whether the source has last said of the sighting `s` that the tool was told to ignore it. */
const isSuppressed = sql`(s.suppressed and s.absence is distinct from 'declared')`;

/** What the run does not state, of what matters for the kind of finding. */
function gapsOf(resolution: Resolution, { checks, files, isTimeStated, searchStated, wholeStated }: Absence): RawBuilder<unknown> {
  const isFileStated = (lockFiles: readonly string[]) =>
    sql`(f.component is not null and not ${namesFile(lockFiles)}) or ${files === null ? sql`false` : isInShorterList(resolution, files)}`;
  const gaps = [
    when('identity_weak', sql`a.identity_weak`),
    when('time_unstated', sql`${!isTimeStated}`),
    when('credentials_unstated', sql`a.credentialed is null and f.asset_type = 'host'`),
    when('knowledge_unstated', sql`a.knowledge_at is null and cardinality(f.vulnerability_ids) > 0`),
    when('checks_unstated', sql`${checks === null} and f.rule is not null and cardinality(f.vulnerability_ids) = 0`),
    ...(searchStated.length === 0
      ? []
      : [
          when(
            'search_unstated',
            sql`${kindsSql('f', sql`f.source_severity`)} && ${searchStated as string[]}::text[] or (${searchStated.includes('suppressed')} and ${isSuppressed})`,
          ),
        ]),
    ...(wholeStated === null ? [] : [when('part_unstated', sql`f.asset_type = 'repository' and (${isFileStated(wholeStated)})`)]),
  ];
  return sql`array_remove(array[${sql.join(gaps)}]::text[], null)`;
}

/** Whether a finding is gone but a later scan is needed that shows it: somebody called it fixed after the scan, or evidence does not believe the scan. */
export function isUnproven(sighting: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(${sighting}.absence = 'gone' and (${sighting}.doubted or f.status = 'remediated'))`;
}

/** Whether a scan that began at `at` comes before the one that did not show the finding first, as far as known. */
export function isEarlier(sighting: RawBuilder<unknown>, at: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(${sighting}.absence in ('gone', 'retracted', 'asset_gone', 'track_ended') and ${sighting}.last_seen < ${at} and ${at} < ${sighting}.absent_at)`;
}

/**
 * Collects the findings that the source no longer reports although the run covered them, each with what speaks against closing it. Findings that a later
 * scan saw are left out.
 */
export async function findAbsent(tx: TenantTx, resolution: Resolution, absence: Absence, isLate: boolean): Promise<void> {
  const { orgId, importId, sourceId, provesFixed } = resolution;
  // A file that calls a finding fixed declares it, as often as it does. It has shown it all the same.
  const isShown = provesFixed ? sql`(g.present or g.outcome in ('gone', 'declared'))` : sql`true`;
  const isListed = (entry: RawBuilder<unknown>) => sql`(${entry} = any(${absence.checks as string[]}::text[]))`;
  const isDisabled = absence.checks === null ? sql`false` : sql`(f.rule is not null and not ${isListed(sql`f.rule`)})`;
  const isUnchecked = absence.checks === null ? sql`false` : isUncheckedThere(sql`f.rule`, sql`f.location`, isListed);
  const isRetired = sql`(${isDisabled} and ${await isCheckRetired(tx, resolution, absence)})`;
  const isUnlisted = await isUnlistedFile(tx, resolution, absence);
  const against = [
    sql`a.doubt`,
    when('not_read', sql`${isFoundIn(resolution, absence.unread)} or ${isUnlisted}`),
    when('not_credentialed', sql`s.bar_credentialed and a.credentialed is not true`),
    when('knowledge_older', sql`s.bar_knowledge_at is not null and a.knowledge_at is null or a.knowledge_at < s.bar_knowledge_at`),
    when('scan_narrower', sql`${isRestricted(resolution, absence)} or ${isPortLeftOut(sql`f.location`, absence.facts.ports?.map(portRange) ?? [])}`),
    when('check_disabled', sql`((${isDisabled} or ${isUnchecked}) and not ${isRetired}) or ${isSkipped(absence)}`),
    when('hidden_by_comment', isHidden(resolution, absence)),
    when('only_new', sql`${unlooked(absence).includes('known')}`),
    when('suppressed_before', sql`${unlooked(absence).includes('suppressed')} and ${isSuppressed}`),
    sql`case when ${isOtherLockFile(resolution)} then case f.asset_type when 'repository' then 'part_other' else 'scan_narrower' end end`,
    when('seen_since', maybeSeenSince(resolution)),
  ];
  await sql`
    insert into import_closures (org_id, import_id, finding_id, track, absence, absent_at, blockers, gaps)
    select ${orgId}, ${importId}, s.finding_id, s.track,
      case when ${isRetired} then 'check_retired' else 'gone' end,
      a.started_at, array_remove(array[${sql.join(against)}]::text[], null), ${gapsOf(resolution, absence)}
    from ${coveredSql(resolution)} a
    -- From asset to finding to sighting and to what the report shows, by their indexes, whatever the statistics say: they are those of all organizations
    -- together, and those of the report are missing if somebody else gathers statistics at the same time.
    cross join lateral (select own.* from findings own where own.org_id = ${orgId} and own.asset_id = a.asset_id offset 0) f
    cross join lateral (
      select own.* from sightings own where own.org_id = ${orgId} and own.finding_id = f.id and own.source_id = ${sourceId} and own.track = a.track
        and (own.state = 'present' or own.absence = 'declared' or (${isUnproven(sql`own`)} and own.absent_at < a.started_at) or ${isLate ? isEarlier(sql`own`, sql`a.started_at`) : sql`false`}) offset 0) s
    left join lateral ${coverageOfSql(resolution, { asset: sql`a.asset_id`, track: sql`a.track` })} c on true
    where ${lastSeenSql} < a.started_at
      and not exists (select from tenant_import_groups g where g.org_id = ${orgId} and g.import_id = ${importId} and g.finding_id = f.id and g.track = s.track and ${isShown} offset 0)
      and not exists (select from tenant_import_seen i where i.org_id = ${orgId} and i.import_id = ${importId} and i.finding_id = f.id and i.content = s.content offset 0)`.execute(
    tx,
  );
}

/** Adds the findings that the report itself calls fixed. */
export async function addReportedAsFixed(tx: TenantTx, { orgId, importId }: Resolution): Promise<void> {
  await sql`
    insert into import_closures (org_id, import_id, finding_id, track, absence, absent_at)
    select ${orgId}, ${importId}, g.finding_id, g.track, g.outcome, g.seen_at from tenant_import_groups g
    where g.org_id = ${orgId} and g.import_id = ${importId} and g.outcome in ('gone', 'declared')`.execute(tx);
}

/**
 * What an earlier scan did not show is already known to be gone. It matters if no scan before both of them was the first not to show it: then the finding was
 * gone earlier than known, or the two scans do not prove the same. A scan that a claim or an acceptance has been compared with stays the one that proves it.
 */
export async function leaveKnown(tx: TenantTx, { orgId, importId, sourceId }: Resolution): Promise<void> {
  const isSecond = sql`exists (
    select from findings f
    join run_assets run on run.org_id = ${orgId} and run.source_id = ${sourceId} and run.asset_id = f.asset_id and run.track = s.track and run.complete and run.accepted and not run.selective
      and run.import_id <> ${importId} and run.started_at > s.last_seen and run.started_at < c.absent_at and s.unseen @> run.ended_at
      and (s.bar_credentialed is not true or run.credentialed) and (s.bar_knowledge_at is null or run.knowledge_at >= s.bar_knowledge_at)
      and not (${isSuppressed} and ${leavesOutSuppressedSql(orgId, sql`run.import_id`)})
    where f.org_id = ${orgId} and f.id = s.finding_id offset 0)`;
  await sql`
    delete from import_closures c using sightings s, findings f
    where c.org_id = ${orgId} and c.import_id = ${importId} and s.org_id = ${orgId} and s.finding_id = c.finding_id and s.source_id = ${sourceId} and s.track = c.track
      and f.org_id = ${orgId} and f.id = c.finding_id and ${isEarlier(sql`s`, sql`c.absent_at`)}
      and (c.blockers <> '{}' or (c.absence = s.absence and (s.doubted or not (f.status in ('open', 'in_progress') or ${isClosedByScans}))) or ${isSecond})`.execute(
    tx,
  );
}

/** Keeps when a late report did not show what an earlier scan has shown, and what a later one was the first not to show, as far as known. */
export async function recordUnseen(tx: TenantTx, resolution: Resolution): Promise<void> {
  const { orgId, importId, sourceId } = resolution;
  // From asset to finding to sighting, by their indexes: see above.
  await sql`
    with missed as materialized (
      select s.finding_id, s.track, a.started_at, a.ended_at
      from (select asset_id, track, min(started_at) as started_at, max(ended_at) as ended_at from ${importedAssets} own where org_id = ${orgId} and import_id = ${importId} group by 1, 2) a
      cross join lateral (select own.id from findings own where own.org_id = ${orgId} and own.asset_id = a.asset_id offset 0) f
      cross join lateral (
        select own.* from sightings own where own.org_id = ${orgId} and own.finding_id = f.id and own.source_id = ${sourceId} and own.track = a.track
          and own.first_seen < a.started_at and not coalesce(own.unseen @> a.ended_at, false) offset 0) s
      left join lateral ${coverageOfSql(resolution, { asset: sql`a.asset_id`, track: sql`a.track` })} c on true
      where greatest(${lastSeenSql}, s.absent_at) > a.ended_at
        and not exists (select from tenant_import_groups g where g.org_id = ${orgId} and g.import_id = ${importId} and g.finding_id = s.finding_id and g.track = s.track and g.present offset 0)
        and not exists (select from tenant_import_seen i where i.org_id = ${orgId} and i.import_id = ${importId} and i.finding_id = s.finding_id and i.content = s.content offset 0)
    )
    update sightings s set unseen = coalesce(s.unseen, '{}') + tstzmultirange(tstzrange(missed.started_at, missed.ended_at, '[]'))
    from missed where s.org_id = ${orgId} and s.finding_id = missed.finding_id and s.source_id = ${sourceId} and s.track = missed.track`.execute(tx);
}
