import { type RawBuilder, sql } from 'kysely';
import { assetFacts, assetTracks, assetVersions } from '../../assets/relations.ts';
import { DEFAULT_TRACK } from '../../assets/track-name.ts';
import { activeStatuses } from '../status.ts';
import { filteredAssets } from './filtered-assets.ts';
import { FIX_FIRST_RISK, toFix } from './fix-first.ts';
import type { FindingFilter, PreparedFilter } from './prepare-filter.ts';

type Condition = RawBuilder<boolean>;

/** Conditions on the asset of a finding: the assets themselves if they are few, so that their findings are looked up once and not for each asset. */
export function assetConditions(orgId: string, { filter, namedAssets, fewAssets }: PreparedFilter): Condition[] {
  // PostgreSQL keeps a plan for one value. It expects ten values of any list, and plans again if there are fewer.
  if (fewAssets?.length === 1) return [sql`findings.asset_id = ${fewAssets[0]}`];
  if (fewAssets) return [sql`findings.asset_id = any(${fewAssets}::uuid[])`];
  const assets = filteredAssets(orgId, filter, namedAssets);
  return assets ? [sql`findings.asset_id in (${assets})`] : [];
}

export function workItemConditions(orgId: string, { work_item_id, has_work_item, assignee }: FindingFilter): Condition[] {
  const conditions: Condition[] = [];
  if (work_item_id) {
    conditions.push(sql`findings.id in (select l.finding_id from finding_work_items l where l.org_id = ${orgId} and l.work_item_id = ${work_item_id})`);
  }
  if (has_work_item !== undefined) {
    const linked = sql`select from finding_work_items l where l.org_id = ${orgId} and l.finding_id = findings.id and l.status <> 'cancelled'`;
    // `offset 0` keeps this a lookup per finding: most have no work item, and a join would read all links before the first page.
    conditions.push(has_work_item ? sql`exists (${linked})` : sql`not exists (${linked} offset 0)`);
  }
  if (assignee) {
    const names = assignee.map((name) => name.toLowerCase());
    conditions.push(sql`findings.id in (select l.finding_id from finding_work_items l
      where l.org_id = ${orgId} and lower(l.assignee) = any(${names}::text[]) and l.status <> 'cancelled')`);
  }
  return conditions;
}

/**
 * Whether all sources that still see the finding suppress it. Suppressed sightings are few and have their own index. `offset 0` keeps the row-level
 * security of sightings separate from findings, whose GIN index could not be used otherwise.
 */
export function suppressedSql(orgId: string, suppressed: boolean, faceted: boolean): Condition {
  const seen = sql`select s.finding_id from sightings s where s.org_id = ${orgId} and s.state = 'present'`;
  const shown = sql`${seen} and not s.suppressed and s.finding_id = findings.id`;
  return suppressed
    ? sql`(findings.id in (${seen} and s.suppressed ${faceted ? sql`offset 0` : sql``}) and not exists (${shown} offset 0))`
    : sql`(not exists (${seen} and s.suppressed and s.finding_id = findings.id offset 0) or exists (${shown} offset 0))`;
}

/** The ids of all suppressed findings of the organization, for counts that join them. */
export function suppressedIds(orgId: string): RawBuilder<unknown> {
  return sql`select distinct s.finding_id from sightings s where s.org_id = ${orgId} and s.state = 'present' and s.suppressed
    and not exists (select from sightings o where o.org_id = ${orgId} and o.finding_id = s.finding_id and o.state = 'present' and not o.suppressed)`;
}

/** Past the deadline, and shown by a source: what all sources suppress is never overdue. */
const pastDueSql = (orgId: string): Condition => sql`(findings.due_at < now() and ${suppressedSql(orgId, false, false)})`;

export const overdueSql = (orgId: string): Condition => sql`(findings.status = any(${activeStatuses as readonly string[]}) and ${pastDueSql(orgId)})`;

/** All columns are in the index of statuses, so that counting and looking up read no rows of findings. */
export const fixFirstSql = (orgId: string): Condition => sql`(findings.status = any(${toFix as readonly string[]}::text[])
  and (findings.kev or findings.risk_score >= ${sql.lit(FIX_FIRST_RISK)} or ${pastDueSql(orgId)}))`;

/**
 * The component by its name. `log4j-core` and `org.apache.logging.log4j:log4j-core` match each other, because some tools leave out the group. A name with
 * an npm scope is complete: `@babel/core` is not `core`.
 */
export function componentSql(component: string): Condition {
  const name = component.trim().toLowerCase().replaceAll(':', '/');
  const short = name.slice(name.lastIndexOf('/') + 1);
  const stored = sql`replace(lower(findings.component), ':', '/')`;
  const isShort = sql`${stored} = ${short}`;
  const either = name.startsWith('@')
    ? sql`${stored} = ${name}`
    : name === short
      ? sql`findings.component not like '@%'`
      : sql`(${stored} = ${name} or ${isShort})`;
  return sql`(lower(regexp_replace(findings.component, '^.*[:/]', '')) = ${short} and ${either})`;
}

export function ruleSql(rules: readonly string[]): Condition {
  return sql`lower(findings.rule) = any(${rules.map((rule) => rule.toLowerCase())}::text[])`;
}

/**
 * Seen on the track. An active finding matches only while the track still has it, and if the track is compared with another one, so does a closed one: what
 * it no longer has, it does not add.
 */
export function trackSql(orgId: string, tracks: readonly string[], { filter, reintroduced }: PreparedFilter): Condition {
  const isThere =
    filter.new_since_track === undefined
      ? sql`(s.state = 'present' or findings.closed_at is not null)`
      : sql`s.state = 'present' and findings.closed_at is null`;
  const has = sql`s.org_id = ${orgId} and s.finding_id = findings.id and ${isThere}`;
  const isNamed = sql`t.org_id = ${orgId} and t.name = any(${tracks}::text[])`;
  const named = sql`select t.asset_id from ${assetTracks} t where ${isNamed}`;
  const orBroughtBack = reintroduced.length === 0 ? sql`` : sql`or findings.id = any(${reintroduced}::uuid[])`;
  if (!tracks.includes(DEFAULT_TRACK)) {
    return sql`(findings.asset_id in (${named})
      and (exists (select from sightings s join ${assetTracks} t on ${isNamed} and t.asset_id = findings.asset_id and t.n = s.track where ${has}) ${orBroughtBack}))`;
  }
  const unnamed = sql`select a.id from ${assetFacts} a
    where a.org_id = ${orgId} and not exists (select from ${assetTracks} t where t.org_id = ${orgId} and t.asset_id = a.id and t.n = 0)`;
  return sql`(findings.asset_id in (${named} union all ${unnamed})
    and (exists (select from sightings s ${shownTrack(orgId)} where ${has} and coalesce(t.name, ${DEFAULT_TRACK}) = any(${tracks}::text[]) offset 0) ${orBroughtBack}))`;
}

/** Not on the track at present. What was fixed there and is found elsewhere counts as new. */
export function newSinceSql(orgId: string, track: string): Condition {
  const [join, name] =
    track === DEFAULT_TRACK ? [shownTrack(orgId), sql`coalesce(t.name, ${track})`] : [sql`join ${assetTracks} t on ${ofSighting(orgId)}`, sql`t.name`];
  return sql`not exists (
    select from sightings s ${join} where s.org_id = ${orgId} and s.finding_id = findings.id and s.state = 'present' and ${name} = ${track} offset 0)`;
}

const ofSighting = (orgId: string) => sql`t.org_id = ${orgId} and t.asset_id = findings.asset_id and t.n = s.track`;
/** The default track of an asset has no row until it has a name. */
const shownTrack = (orgId: string) => sql`left join ${assetTracks} t on ${ofSighting(orgId)}`;

/** What a scan of the build saw, or what was known and not missing when the build was scanned in part. */
export function versionSql(orgId: string, assetId: string, version: string): Condition {
  const runs = sql`
    select run.source_id, run.track, run.started_at, run.ended_at from run_assets run
    join ${assetVersions} build on build.org_id = ${orgId} and build.asset_id = ${assetId} and build.n = run.version_n
    where run.org_id = ${orgId} and run.asset_id = ${assetId} and ${version} in (build.name, build.digest, build.commit)`;
  return sql`findings.id in (
    select s.finding_id from sightings s join (${runs}) run on run.source_id = s.source_id and run.track = s.track
    where s.org_id = ${orgId} and s.finding_id in (select own.id from findings own where own.org_id = ${orgId} and own.asset_id = ${assetId})
      and s.first_seen <= run.ended_at and (s.state <> 'absent' or s.absent_at > run.started_at))`;
}

/** What the import created, reopened, updated or closed. */
export function importSql(orgId: string, importId: string): Condition {
  return sql`findings.id in (select unnest(c.finding_ids) from import_changes c where c.org_id = ${orgId} and c.import_id = ${importId} and c.kind <> 'unchanged')`;
}
