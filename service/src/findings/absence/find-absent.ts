import { type RawBuilder, sql } from 'kysely';
import { assetVersions, importedAssets } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { lastSeenSql } from '../merge/group-records.ts';
import type { Resolution } from '../merge/resolution.ts';
import type { Absence, Blocker } from './absence.ts';

/** Each track that the run covered, with the build that the last complete run covered. */
function coveredSql({ orgId, importId, sourceId }: Resolution): RawBuilder<unknown> {
  return sql`(
    select a.asset_id, a.track, min(a.started_at) as started_at, max(a.doubt) as doubt, bool_and(a.credentialed) as credentialed, min(a.knowledge_at) as knowledge_at,
      max(a.version_n) as version_n, max(c.version_n) as before_n
    from ${importedAssets} a
    left join source_coverage c on c.org_id = ${orgId} and c.source_id = ${sourceId} and c.asset_id = a.asset_id and c.track = a.track
    where a.org_id = ${orgId} and a.import_id = ${importId} group by a.asset_id, a.track)`;
}

/** Whether the location is in a file or folder that the tool did not read. */
export function isUnread(location: RawBuilder<unknown>, { unread }: Pick<Absence, 'unread'>): RawBuilder<boolean> {
  if (unread.length === 0) return sql`false`;
  return sql`exists (select from unnest(${unread as string[]}::text[]) as path where ${location}->>'path' = path or starts_with(${location}->>'path', path || '/'))`;
}

function when(blocker: Blocker, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`case when ${condition} then ${sql.lit(blocker)} end`;
}

/**
 * Collects the findings that the source no longer reports although the run covered them, each with what speaks against closing it. Findings that a later
 * scan saw are left out.
 */
export async function findAbsent(tx: TenantTx, resolution: Resolution, absence: Absence): Promise<void> {
  const { orgId, importId, sourceId } = resolution;
  const { checks } = absence;
  const against = [
    sql`a.doubt`,
    when('not_read', isUnread(sql`f.location`, absence)),
    when('not_credentialed', sql`s.bar_credentialed and a.credentialed is not true`),
    when('knowledge_older', sql`s.bar_knowledge_at is not null and a.knowledge_at is null or a.knowledge_at < s.bar_knowledge_at`),
    ...(checks === null ? [] : [when('check_disabled', sql`f.rule is not null and f.rule <> all(${checks as string[]}::text[])`)]),
  ];
  await sql`
    insert into import_closures (org_id, import_id, finding_id, track, absence, absent_at, blockers)
    select ${orgId}, ${importId}, s.finding_id, s.track,
      case when before.digest = build.digest or before.commit = build.commit then 'retracted' else 'gone' end,
      a.started_at, array_remove(array[${sql.join(against)}]::text[], null)
    from ${coveredSql(resolution)} a
    join findings f on f.org_id = ${orgId} and f.asset_id = a.asset_id
    join sightings s on s.org_id = ${orgId} and s.finding_id = f.id and s.source_id = ${sourceId} and s.track = a.track and (s.state = 'present' or s.absence = 'declared')
    left join source_coverage c on c.org_id = ${orgId} and c.source_id = ${sourceId} and c.asset_id = a.asset_id and c.track = a.track
    left join ${assetVersions} build on build.org_id = ${orgId} and build.asset_id = a.asset_id and build.n = a.version_n
    left join ${assetVersions} before on before.org_id = ${orgId} and before.asset_id = a.asset_id and before.n = a.before_n
    where ${lastSeenSql} < a.started_at
      and not exists (select from tenant_import_groups g where g.org_id = ${orgId} and g.import_id = ${importId} and g.finding_id = f.id and g.track = s.track and (g.present or g.outcome in ('gone', 'declared')))
      and not exists (select from tenant_import_seen i where i.org_id = ${orgId} and i.import_id = ${importId} and i.finding_id = f.id and i.content = s.content)`.execute(
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

/** The findings that the run reports, by track. */
function reportedSql({ orgId, importId, sourceId }: Resolution): RawBuilder<unknown> {
  return sql`
    select g.finding_id, g.track from tenant_import_groups g where g.org_id = ${orgId} and g.import_id = ${importId} and g.present
    union all
    select s.finding_id, s.track from tenant_import_seen i join sightings s on s.org_id = ${orgId} and s.finding_id = i.finding_id and s.source_id = ${sourceId} and s.content = i.content
    where i.org_id = ${orgId} and i.import_id = ${importId}`;
}

/** A finding that disappears while the run still reports its component in the same version was not fixed: the source no longer holds it to be one. */
export async function findRetracted(tx: TenantTx, resolution: Resolution): Promise<void> {
  const { orgId, importId } = resolution;
  await sql`
    with reported as materialized (
      select distinct f.asset_id, reported.track, lower(f.component) as component, f.location->>'version' as version
      from (${reportedSql(resolution)}) reported join findings f on f.org_id = ${orgId} and f.id = reported.finding_id
      where f.component is not null and f.location ? 'version'
    )
    update import_closures c set absence = 'retracted' from findings f join reported
      on reported.asset_id = f.asset_id and reported.component = lower(f.component) and reported.version = f.location->>'version'
    where c.org_id = ${orgId} and c.import_id = ${importId} and c.absence = 'gone' and f.org_id = ${orgId} and f.id = c.finding_id and reported.track = c.track`.execute(
    tx,
  );
}

/** A group of at least this size that is empty in a run with other findings was probably left out by an option of the tool. */
const NARROW = 10;

/** Kinds of findings that tools have options to leave out. */
const kinds: readonly RawBuilder<unknown>[] = [
  sql`case when f.source_severity between 1 and 3 then 'up to medium' else 'other' end`,
  sql`case when f.fix_state is distinct from 'available' then 'without a fix' else 'other' end`,
  sql`case when f.location->>'purl' ~ '^pkg:(deb|rpm|apk|alpm)/' or f.location->>'ecosystem' in ('deb', 'rpm', 'apk', 'alpm') then 'system package'
    when f.component is not null then 'library' when f.location ? 'path' then 'file' else 'other' end`,
];

/** Blocks the closure of all findings of one kind, for example all up to medium, if the run reports only others. */
export async function findNarrower(tx: TenantTx, resolution: Resolution): Promise<void> {
  const { orgId, importId } = resolution;
  for (const kind of kinds) {
    await sql`
      with missing as materialized (
        select c.finding_id, c.track, f.asset_id, ${kind} as kind from import_closures c join findings f on f.org_id = ${orgId} and f.id = c.finding_id
        where c.org_id = ${orgId} and c.import_id = ${importId} and c.absence <> 'declared'
      ), reported as materialized (
        select f.asset_id, reported.track, array_agg(distinct ${kind}) as kinds from (${reportedSql(resolution)}) reported join findings f on f.org_id = ${orgId} and f.id = reported.finding_id
        group by 1, 2
      ), empty as (
        select missing.asset_id, missing.track, missing.kind from missing join reported using (asset_id, track)
        where missing.kind <> 'other' and missing.kind <> all(reported.kinds) group by 1, 2, 3 having count(*) >= ${NARROW}
      )
      update import_closures c set blockers = array_append(c.blockers, 'scan_narrower') from missing join empty using (asset_id, track, kind)
      where c.org_id = ${orgId} and c.import_id = ${importId} and c.finding_id = missing.finding_id and c.track = missing.track and 'scan_narrower' <> all(c.blockers)`.execute(
      tx,
    );
  }
}
