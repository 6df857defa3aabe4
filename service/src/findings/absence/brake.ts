import { sql } from 'kysely';
import { assetVersions } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { isAmong } from '../../db/rows.ts';
import { coverageOfSql, seenImportSql } from '../merge/group-records.ts';
import type { Resolution } from '../merge/resolution.ts';
import { activeStatuses } from '../status.ts';
import type { Absence } from './absence.ts';

/** Why the closures of an import wait for confirmation. */
export interface Withheld {
  count: number;
  open: number;
  /** What the limit is for. With `settings`, findings may be missing because the settings of the connection were changed. */
  where: 'source' | 'asset' | 'day' | 'settings';
}

/** An empty report that closes more than this needs confirmation: something may have gone wrong with the scan. */
const EMPTY_LIMIT = 10;

/**
 * Unusually many closures at once are more often a broken scan than a success. Counts what the import would close, for its source, for its source on each
 * asset, and together with what other reports of the source closed in the last 24 hours.
 */
export async function findExcess(tx: TenantTx, resolution: Resolution, { brake, isEmpty }: Absence): Promise<Withheld | null> {
  const { orgId, importId, sourceId } = resolution;
  const seenOtherwise = await countSeenWithOtherSettings(tx, resolution);
  if (seenOtherwise > 0) return { count: seenOtherwise, open: await countOpen(tx, resolution, sql`true`), where: 'settings' };
  const { rows } = await sql<{ closing: number; per_asset: number }>`
    with ${closingSql(resolution)}, per_asset as (select count(*) as count from closing group by asset_id)
    select coalesce(sum(count), 0)::int as closing, coalesce(max(count), 0)::int as per_asset from per_asset`.execute(tx);
  const { closing: count, per_asset } = rows[0] ?? { closing: 0, per_asset: 0 };
  if (count === 0) return null;
  const { rows: recent } = await sql<{ closed: number }>`
    select coalesce(sum(closed), 0)::int as closed from imports
    where org_id = ${orgId} and source_id = ${sourceId} and id <> ${importId} and not dry_run and created_at > now() - interval '24 hours'`.execute(tx);
  const closedToday = recent[0]?.closed ?? 0;
  if (count + closedToday <= brake.count && !(isEmpty && count > EMPTY_LIMIT)) return null;
  const open = await countOpen(tx, resolution, sql`true`);
  if (isEmpty && count > EMPTY_LIMIT) return { count, open, where: 'source' };
  if (count > brake.count && count > open * brake.share) return { count, open, where: 'source' };
  if (count + closedToday > (open + closedToday) * brake.share) return { count: count + closedToday, open: open + closedToday, where: 'day' };
  if (per_asset <= brake.count) return null;
  const { rows: worst } = await sql<{ asset_id: string; count: number }>`
    with ${closingSql(resolution)}
    select asset_id, count(*)::int as count from closing where not ${isOtherBuild(resolution)} group by 1 having count(*) > ${brake.count} order by 2 desc`.execute(
    tx,
  );
  for (const { asset_id, count: closed } of worst) {
    const onAsset = await countOpen(tx, resolution, sql`f.asset_id = ${asset_id}`);
    if (closed > onAsset * brake.share) return { count: closed, open: onAsset, where: 'asset' };
  }
  return null;
}

/**
 * Counts the active findings that the run of a connection does not show, and that a run with other settings was the last to show. The settings may leave
 * them out, until a person says otherwise. What the vendor itself calls fixed is not left out.
 */
async function countSeenWithOtherSettings(tx: TenantTx, resolution: Resolution): Promise<number> {
  const { orgId, importId, sourceId } = resolution;
  const { rows } = await sql<{ count: number }>`
    select count(distinct f.id)::int as count
    from imports i
    join import_closures gone on gone.org_id = ${orgId} and gone.import_id = ${importId} and gone.blockers = '{}'
    join findings f on f.org_id = ${orgId} and f.id = gone.finding_id and f.status = any(${activeStatuses as readonly string[]})
    join sightings s on s.org_id = ${orgId} and s.finding_id = f.id and s.source_id = ${sourceId} and s.track = gone.track and s.state = 'present'
    left join lateral ${coverageOfSql(resolution, { asset: sql`f.asset_id`, track: sql`s.track` })} c on true
    left join imports seen on seen.org_id = ${orgId} and seen.id = ${seenImportSql}
    where i.org_id = ${orgId} and i.id = ${importId} and i.settings is not null and i.settings->>'sha256' is distinct from seen.settings->>'sha256'
      and not exists (
        select from tenant_import_groups g
        where g.org_id = ${orgId} and g.import_id = ${importId} and g.finding_id = f.id and g.track = s.track and g.outcome in ('gone', 'declared') offset 0)`.execute(
    tx,
  );
  return rows[0]?.count ?? 0;
}

/** Whether the run covered another digest or commit of the asset than the last complete run: of another build, much can be gone. */
function isOtherBuild({ orgId, importId, sourceId }: Resolution) {
  return sql`exists (
    select from run_assets run
    join source_coverage c on c.org_id = ${orgId} and c.source_id = ${sourceId} and c.asset_id = run.asset_id and c.track = run.track
    join ${assetVersions} build on build.org_id = ${orgId} and build.asset_id = run.asset_id and build.n = run.version_n
    join ${assetVersions} before on before.org_id = ${orgId} and before.asset_id = run.asset_id and before.n = c.version_n
    where run.org_id = ${orgId} and run.import_id = ${importId} and run.asset_id = closing.asset_id and (build.digest <> before.digest or build.commit <> before.commit))`;
}

/** `closing`: the findings that would close if the collected closures were applied, because no other sighting is present. */
function closingSql({ orgId, importId, sourceId }: Resolution) {
  return sql`
    own as materialized (
      select c.finding_id, c.track, c.absence from import_closures c where c.org_id = ${orgId} and c.import_id = ${importId} and c.blockers = '{}'
    ), active as materialized (
      select f.id, f.asset_id from findings f
      where f.org_id = ${orgId} and f.status = any(${activeStatuses as readonly string[]}) and f.id in (select finding_id from own where absence <> 'declared')
    ), present as materialized (
      select s.finding_id from active join sightings s on s.org_id = ${orgId} and s.finding_id = active.id and s.state = 'present'
      where s.source_id <> ${sourceId} or not ${isAmong(sql`(s.finding_id, s.track)`, sql`select finding_id, track from own`)}
    ), closing as materialized (
      select active.id, active.asset_id from active where active.id not in (select finding_id from present)
    )`;
}

async function countOpen(tx: TenantTx, { orgId, sourceId }: Resolution, where: ReturnType<typeof sql>): Promise<number> {
  const { rows } = await sql<{ open: number }>`
    select count(distinct f.id)::int as open from sightings s join findings f on f.org_id = ${orgId} and f.id = s.finding_id
    where s.org_id = ${orgId} and s.source_id = ${sourceId} and s.state = 'present' and f.status = any(${activeStatuses as readonly string[]}) and ${where}`.execute(
    tx,
  );
  return rows[0]?.open ?? 0;
}
