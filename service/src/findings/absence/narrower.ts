import { type RawBuilder, sql } from 'kysely';
import { assetVersions, mergedAssets } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { coverageOfSql, lastSeenSql, seenImportSql } from '../merge/group-records.ts';
import { lowestSql, NARROW, SEPARATE } from '../merge/late-records.ts';
import type { Resolution } from '../merge/resolution.ts';
import { isSameVariantSql, kindsSql, sameBuildAtSql, wasShownAtSql } from '../merge/run-lists.ts';
import { STALE_DAYS } from '../stale.ts';
import { type Absence, unlooked } from './absence.ts';

/** The findings that the run reports, by track. */
function reportedSql({ orgId, importId, sourceId }: Resolution): RawBuilder<unknown> {
  return sql`
    select g.finding_id, g.track from tenant_import_groups g where g.org_id = ${orgId} and g.import_id = ${importId} and g.present
    union all
    select s.finding_id, s.track from tenant_import_seen i join sightings s on s.org_id = ${orgId} and s.finding_id = i.finding_id and s.source_id = ${sourceId} and s.content = i.content
    where i.org_id = ${orgId} and i.import_id = ${importId}`;
}

/**
 * A finding that disappears from a build that had it was not fixed, also if other builds were scanned meanwhile. The build for another platform says nothing about it, and neither does another machine with
 * the same name or another lock file: if the source has scanned several, a scan of each must no longer show the finding. The day on which it was last seen counts as a whole, because
 * later sightings of a day are not written. A report that does not say at which of them it looked proves nothing if there are several. What is known about
 * each asset and each finding is looked up by an index ("lateral … offset 0"): the planner expects few of them, and would compare each with each run.
 */
async function compareBuilds(tx: TenantTx, resolution: Resolution, { isPartStated }: Absence): Promise<void> {
  const { orgId, importId, sourceId } = resolution;
  const ofTrack = (x: string) =>
    sql`${sql.table(x)}.org_id = ${orgId} and ${sql.table(x)}.source_id = ${sourceId} and ${sql.table(x)}.asset_id = f.asset_id and ${sql.table(x)}.track = f.track`;
  const isRecent = (x: string) => sql`${sql.table(x)}.scanned_at > s.last_seen - make_interval(days => ${STALE_DAYS})`;
  const known = (x: string) => sql`unnest(f.variants, f.scanned, f.completed) as ${sql.table(x)} (variant, scanned_at, complete_at)`;
  await sql`
    with closing as materialized (
      select f.asset_id, f.asset_type, c.track, array_agg(c.finding_id) as finding_ids from import_closures c join findings f on f.org_id = ${orgId} and f.id = c.finding_id
      where c.org_id = ${orgId} and c.import_id = ${importId} and c.absence = 'gone' group by 1, 2, 3
    ), scanned as materialized (
      select f.*, others.*, (select ${sameBuildAtSql(resolution, 'own')} from run_assets own where ${ofTrack('own')} and own.import_id = ${importId}) as same_build_at from closing f
      cross join lateral (
        select array_agg(each.variant) as variants, array_agg(each.scanned_at) as scanned, array_agg((
          select max(own.started_at) from run_assets own
          where ${ofTrack('own')} and own.complete and own.accepted and ${isSameVariantSql(sql`each.variant`, sql`own.variant`)})) as completed
        from (
          select one.variant, max(other.ended_at) as scanned_at
          from (select own.variant from run_assets own where ${ofTrack('own')} and own.import_id = ${importId} offset 0) run
          join run_assets other on ${ofTrack('other')} and other.variant is distinct from run.variant
          cross join lateral unnest(string_to_array(other.variant, ',')) as one (variant)
          where not (f.asset_type = 'repository' and ${isPartStated})
            and not exists (select from ${mergedAssets} merged where merged.org_id = ${orgId} and merged.asset_id = f.asset_id and other.variant like '%:%')
            and (run.variant is null or not ${isSameVariantSql(sql`one.variant`, sql`run.variant`)}) group by 1
        ) each
      ) others
    ), compared as materialized (
      select s.finding_id, s.track, f.asset_type, coalesce(seen.build_ids && run.build_ids, before.digest = build.digest or before.commit = build.commit, false)
          or ${wasShownAtSql(sql`f.same_build_at`, lastSeenSql)} as is_same,
        case when run.variant is not null then exists (
          select from ${known('p')} where p.scanned_at >= s.first_seen and (${isSameVariantSql(sql`p.variant`, sql`seen.variant`)} or ${isRecent('p')})
            and (p.complete_at is null or p.complete_at < date_trunc('day', ${lastSeenSql}, 'UTC') + interval '1 day'))
        else (f.asset_type = 'container_image' and seen.variant is not null) or exists (
          select from ${known('p')} join ${known('q')} on ${isRecent('q')} and not ${isSameVariantSql(sql`p.variant`, sql`q.variant`)} where ${isRecent('p')}) end as is_other
      from scanned f
      cross join lateral unnest(f.finding_ids) as closed (id)
      cross join lateral (select own.* from sightings own where own.org_id = ${orgId} and own.finding_id = closed.id and own.source_id = ${sourceId} and own.track = f.track offset 0) s
      cross join lateral (select own.* from run_assets own where ${ofTrack('own')} and own.import_id = ${importId} offset 0) run
      left join lateral ${coverageOfSql(resolution, { asset: sql`f.asset_id`, track: sql`s.track` })} c on true
      left join lateral (select own.* from run_assets own where ${ofTrack('own')} and own.import_id = ${seenImportSql} offset 0) seen on true
      left join ${assetVersions} build on build.org_id = ${orgId} and build.asset_id = f.asset_id and build.n = run.version_n
      left join ${assetVersions} before on before.org_id = ${orgId} and before.asset_id = f.asset_id and before.n = coalesce(seen.version_n, c.version_n)
    )
    update import_closures c set absence = case when compared.is_same then 'retracted' else c.absence end,
      blockers = case when compared.is_other then array_append(c.blockers, case compared.asset_type when 'host' then 'address_other' when 'repository' then 'part_other' else 'platform_other' end) else c.blockers end
    from compared where c.org_id = ${orgId} and c.import_id = ${importId} and c.finding_id = compared.finding_id and c.track = compared.track
      and (compared.is_same or compared.is_other)`.execute(tx);
}

/**
 * The components that the run reports, in the versions that it states: a finding has only one version, which another source may have stated. Records that
 * were known are not staged.
 */
function reportedVersionsSql({ orgId, importId, sourceId }: Resolution): RawBuilder<unknown> {
  return sql`
    select g.finding_id, g.track, r.location->>'version' as version from tenant_import_groups g cross join lateral unnest(g.members) as member (n)
    join tenant_import_rows r on r.org_id = ${orgId} and r.import_id = ${importId} and r.n = member.n
    where g.org_id = ${orgId} and g.import_id = ${importId} and g.present
    union all
    select s.finding_id, s.track, s.said->'location'->>'version' from tenant_import_seen i
    join sightings s on s.org_id = ${orgId} and s.finding_id = i.finding_id and s.source_id = ${sourceId} and s.content = i.content
    where i.org_id = ${orgId} and i.import_id = ${importId}`;
}

/** A finding that disappears while the run still reports or lists its component in the same version was not fixed: the source no longer holds it to be one. */
export async function findRetracted(tx: TenantTx, resolution: Resolution, absence: Absence): Promise<void> {
  await compareBuilds(tx, resolution, absence);
  const { components = [] } = absence.facts;
  const { orgId, importId, sourceId } = resolution;
  const names = components.map(({ name }) => name.toLowerCase());
  const versions = components.map(({ version }) => version);
  // Equal components meet in one aggregate, because the planner underestimates both sides of a join.
  await sql`
    with components as (
      select f.asset_id, reported.track, lower(f.component) as component, coalesce(reported.version, f.location->>'version') as version, null::uuid as missing_id
      from (${reportedVersionsSql(resolution)}) reported join findings f on f.org_id = ${orgId} and f.id = reported.finding_id
      where f.component is not null and f.location ? 'version'
      union all
      select run.asset_id, run.track, listed.name, listed.version, null
      from run_assets run cross join unnest(${names}::text[], ${versions}::text[]) as listed (name, version)
      where run.org_id = ${orgId} and run.import_id = ${importId}
      union all
      select f.asset_id, c.track, lower(f.component), coalesce(s.said->'location'->>'version', f.location->>'version'), c.finding_id
      from import_closures c join findings f on f.org_id = ${orgId} and f.id = c.finding_id
      join sightings s on s.org_id = ${orgId} and s.finding_id = c.finding_id and s.source_id = ${sourceId} and s.track = c.track
      where c.org_id = ${orgId} and c.import_id = ${importId} and c.absence = 'gone' and f.component is not null and f.location ? 'version'
    ), retracted as materialized (
      select unnest(array_remove(array_agg(missing_id), null)) as finding_id, track from components group by asset_id, track, component, version
      having bool_or(missing_id is null) and bool_or(missing_id is not null)
    )
    update import_closures c set absence = 'retracted' from retracted
    where c.org_id = ${orgId} and c.import_id = ${importId} and c.finding_id = retracted.finding_id and c.track = retracted.track`.execute(tx);
}

/**
 * Blocks the closure of all findings of one kind, for example all in libraries, if the run reports only others and does not say that it looked for them.
 * A tool that looked for a kind may still have left out lower severities, so it must report something that is as low. Many findings that are all below the
 * lowest severity of the run were probably left out as well. The options of a tool hold for all assets of a run, so many such weaknesses on several assets
 * are enough, however few each of them has. Findings that the run is known not to have looked for do not count.
 */
export async function findNarrower(tx: TenantTx, resolution: Resolution, absence: Absence): Promise<void> {
  const { orgId, importId } = resolution;
  // What was known before is any finding, and has a reason of its own.
  const leftOut = unlooked(absence).filter((kind) => kind !== 'known');
  const looked = (absence.facts.looked_for ?? []) as string[];
  const kinds = kindsSql('f', sql`f.source_severity`);
  await sql`
    with missing as materialized (
      select c.finding_id, c.track, f.asset_id, f.weakness, f.source_severity as severity, ${kinds} as kinds, c.blockers = '{}' as is_unexplained
      from import_closures c join findings f on f.org_id = ${orgId} and f.id = c.finding_id
      where c.org_id = ${orgId} and c.import_id = ${importId} and c.absence in ('gone', 'retracted')
    ), shown as materialized (
      select f.asset_id, reported.track, ${kinds} as kinds, f.source_severity as severity
      from (${reportedSql(resolution)}) reported join findings f on f.org_id = ${orgId} and f.id = reported.finding_id
    ), reported as materialized (
      select shown.asset_id, shown.track, array_agg(distinct kind) as kinds, ${lowestSql(sql`shown.severity`)} as lowest
      from shown cross join lateral unnest(shown.kinds) as kind group by 1, 2
    ), empty as materialized (
      select missing.asset_id, missing.track, kind, min(reported.lowest) as lowest from missing join reported using (asset_id, track) cross join lateral unnest(missing.kinds) as kind
      where kind = any(${SEPARATE as string[]}) and array_position(reported.kinds, kind) is null group by 1, 2, 3 having count(*) filter (where missing.is_unexplained) >= ${NARROW}
    ), below as materialized (
      select missing.asset_id, missing.track, min(reported.lowest) as lowest from missing join reported using (asset_id, track)
      where missing.severity between 1 and reported.lowest - 1 and 'up_to_medium' <> all(${looked}::text[]) group by 1, 2 having count(*) filter (where missing.is_unexplained) >= ${NARROW}
    ), below_all as materialized (
      select run.lowest from (select ${lowestSql(sql`shown.severity`)} as lowest from shown having count(*) > 0) run join missing on missing.severity between 1 and run.lowest - 1
      where 'up_to_medium' <> all(${looked}::text[]) group by 1 having count(distinct missing.weakness) filter (where missing.is_unexplained) >= ${NARROW}
    ), blocked as materialized (
      select missing.finding_id, missing.track from missing join empty using (asset_id, track)
      where empty.kind = any(missing.kinds) and (empty.kind <> all(${looked}::text[]) or ('up_to_medium' <> all(${looked}::text[]) and missing.severity < empty.lowest))
      union select missing.finding_id, missing.track from missing join below using (asset_id, track) where missing.severity between 1 and below.lowest - 1
      union select missing.finding_id, missing.track from missing join below_all on missing.severity between 1 and below_all.lowest - 1
      union select finding_id, track from missing where kinds && ${leftOut}::text[]
    )
    update import_closures c set blockers = array_append(c.blockers, 'scan_narrower') from blocked
    where c.org_id = ${orgId} and c.import_id = ${importId} and c.finding_id = blocked.finding_id and c.track = blocked.track`.execute(tx);
}
