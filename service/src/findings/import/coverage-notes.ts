import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { coverageOfSql, lastSeenSql } from '../merge/group-records.ts';
import type { Resolution } from '../merge/resolution.ts';
import type { ScanScope } from './manage-imports.ts';
import { UNSPECIFIED } from './report-assets.ts';

/** Notes that explain where a complete run closed nothing. */
export async function coverageNotes(tx: TenantTx, resolution: Resolution, scope: ScanScope): Promise<string[]> {
  const { orgId, importId, sourceId } = resolution;
  const knows = (condition: ReturnType<typeof sql>) => sql`count(distinct run.asset_id) filter (where exists (
    select from source_coverage known
    where known.org_id = ${orgId} and known.source_id = ${sourceId} and known.asset_id = run.asset_id and known.track = run.track and ${condition}))::int`;
  const { rows } = await sql<{ assets: number; newer: number; equal: number }>`
    select count(distinct run.asset_id)::int as assets, ${knows(sql`known.seen_at > run.started_at`)} as newer,
      ${knows(sql`known.seen_at = run.started_at and known.import_id <> ${importId}`)} as equal
    from run_assets run where run.org_id = ${orgId} and run.import_id = ${importId}`.execute(tx);
  const { assets, newer, equal } = rows[0] ?? { assets: 0, newer: 0, equal: 0 };
  const missing = equal > 0 ? await countMissing(tx, resolution) : 0;
  return [
    ...(assets === 0 ? ['Nothing was closed: neither the report nor `scan_scope` names an asset.'] : []),
    ...(newer > 0 ? [`A newer scan is known for ${newer} of ${assets} assets. What it saw there stays open.`] : []),
    ...(missing > 0 ? [sameTimeNote(missing)] : []),
    ...(scope.asset === UNSPECIFIED ? ['Nothing was closed: the report is about an unspecified asset.'] : []),
  ];
}

/** How many findings an earlier import of a scan of the same time has shown, and this one does not. At equal times, what is shown counts. */
async function countMissing(tx: TenantTx, resolution: Resolution): Promise<number> {
  const { orgId, importId, sourceId } = resolution;
  const coverage = coverageOfSql(resolution, { asset: sql`run.asset_id`, track: sql`run.track` });
  const { rows } = await sql<{ count: number }>`
    select count(distinct f.id)::int as count
    from run_assets run
    join findings f on f.org_id = ${orgId} and f.asset_id = run.asset_id
    join sightings s on s.org_id = ${orgId} and s.finding_id = f.id and s.source_id = ${sourceId} and s.track = run.track and s.state = 'present'
    left join lateral ${coverage} c on true
    where run.org_id = ${orgId} and run.import_id = ${importId} and ${lastSeenSql} = run.started_at
      and not exists (select from tenant_import_groups g where g.org_id = ${orgId} and g.import_id = ${importId} and g.finding_id = f.id and g.track = s.track offset 0)
      and not exists (select from tenant_import_seen i where i.org_id = ${orgId} and i.import_id = ${importId} and i.finding_id = f.id offset 0)`.execute(tx);
  return rows[0]?.count ?? 0;
}

function sameTimeNote(count: number): string {
  const stay = count === 1 ? '1 finding that the report does not show stays open' : `${count} findings that the report does not show stay open`;
  return `${stay}: an earlier report of the same time has shown ${count === 1 ? 'it' : 'them'}. If the reports state only the day, one of another day can close ${count === 1 ? 'it' : 'them'}.`;
}
