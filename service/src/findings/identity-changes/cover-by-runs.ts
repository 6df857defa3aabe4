import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { lastSeenSql, seenImportSql } from '../merge/group-records.ts';

/** Computes again what sources have covered from their runs `run`. `where` selects the tracks by the columns `asset_id` and `track`. */
export async function coverByRuns(tx: TenantTx, orgId: string, where: RawBuilder<unknown>): Promise<void> {
  await sql`delete from source_coverage run where run.org_id = ${orgId} and ${where}`.execute(tx);
  await sql`
    insert into source_coverage (org_id, source_id, asset_id, track, import_id, seen_at, complete_import_id, complete_at, version_n)
    select ${orgId}, last.source_id, last.asset_id, last.track, last.import_id, last.started_at, proves.import_id, proves.started_at, proves.version_n
    from (
      select distinct on (run.source_id, run.asset_id, run.track) run.* from run_assets run where run.org_id = ${orgId} and ${where}
      order by run.source_id, run.asset_id, run.track, run.started_at desc, run.import_id desc
    ) last
    left join lateral (
      select one.import_id, one.started_at, one.version_n from run_assets one
      where one.org_id = ${orgId} and one.asset_id = last.asset_id and one.source_id = last.source_id and one.track = last.track and one.complete and one.accepted
      order by one.started_at desc, one.import_id desc limit 1
    ) proves on true`.execute(tx);
}

/** What the last complete run of a source no longer showed was missed by it. `where` selects the tracks by the columns `asset_id` and `track` of their coverage `c`. */
export async function setMissed(tx: TenantTx, orgId: string, where: RawBuilder<unknown>): Promise<void> {
  await sql`
    update sightings s set missed_at = c.complete_at, missed_import_id = c.complete_import_id, missed_because = null from findings f, source_coverage c
    where c.org_id = ${orgId} and ${where} and f.org_id = ${orgId} and f.asset_id = c.asset_id
      and s.org_id = ${orgId} and s.finding_id = f.id and s.source_id = c.source_id and s.track = c.track and s.state = 'present'
      and s.last_seen < c.complete_at and (s.missed_at is null or s.missed_at < c.complete_at)`.execute(tx);
}

/**
 * Sightings are not written on every scan. Before what scans say is combined or separated, each sighting gets the time of the scan that last saw it. `where`
 * selects findings `f`.
 */
export async function keepLastSeen(tx: TenantTx, orgId: string, where: RawBuilder<unknown>): Promise<void> {
  await sql`
    update sightings s set last_seen = ${lastSeenSql}, seen_import_id = ${seenImportSql} from findings f, source_coverage c
    where s.org_id = ${orgId} and f.org_id = ${orgId} and f.id = s.finding_id and ${where}
      and c.org_id = ${orgId} and c.source_id = s.source_id and c.asset_id = f.asset_id and c.track = s.track and ${lastSeenSql} > s.last_seen`.execute(tx);
}

/**
 * What a scan no longer showed is gone from the assets and tracks that it covered. Call it when the assets are separate, or their tracks are, and have their
 * own runs: a sighting that is gone because of a scan of another one of them is there again. `ofAll` are imports that covered all of them.
 */
export async function returnUncovered(tx: TenantTx, orgId: string, assets: readonly string[], ofAll: readonly string[] = []): Promise<void> {
  const run = sql`select from run_assets run where run.org_id = ${orgId} and run.source_id = s.source_id and run.import_id = s.last_import_id`;
  await sql`
    update sightings s set state = 'present', absence = null, absent_at = null, gaps = null from findings f
    where s.org_id = ${orgId} and f.org_id = ${orgId} and f.id = s.finding_id and f.asset_id = any(${assets as string[]}::uuid[])
      and s.state = 'absent' and s.absence not in ('asset_gone', 'track_ended') and s.last_import_id <> all(${ofAll as string[]}::uuid[])
      and exists (${run} and run.asset_id = any(${assets as string[]}::uuid[])) and not exists (${run} and run.asset_id = f.asset_id and run.track = s.track)`.execute(
    tx,
  );
}
