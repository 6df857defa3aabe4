import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';

/** What a run states about an asset. When it took place and when the tool last learned are of no interest between two runs that state the same. */
const FACTS = sql`row(complete, accepted, credentialed, selective, version_n, track_name, named_keys, shown, variant, build_ids, identity_weak)::text`;

/**
 * Forgets old runs that saw nothing else than the run before and the run after them: a sync every hour leaves thousands of them for each asset. Kept are runs
 * that changed a finding, and those that a sighting refers to. Returns how many rows were deleted.
 */
export async function thinOldRuns(tx: TenantTx, orgId: string, { days, limit }: { days: number; limit: number }): Promise<number> {
  const isReferredTo = sql`(
    exists (select from import_changes c where c.org_id = ${orgId} and c.import_id = run.import_id and c.kind <> 'unchanged')
    or exists (select from finding_history h where h.org_id = ${orgId} and h.import_id = run.import_id)
    or exists (
      select from source_coverage c
      where c.org_id = ${orgId} and c.source_id = run.source_id and c.asset_id = run.asset_id and c.track = run.track and run.import_id in (c.import_id, c.complete_import_id))
    or exists (
      select from findings f
      cross join lateral (select s.* from sightings s where s.org_id = ${orgId} and s.finding_id = f.id and s.source_id = run.source_id and s.track = run.track offset 0) s
      where f.org_id = ${orgId} and f.asset_id = run.asset_id and run.import_id in (s.last_import_id, s.seen_import_id, s.missed_import_id) offset 0))`;
  const { rows } = await sql<{ count: number }>`
    with old as materialized (
      select source_id, asset_id, track, import_id, selective, lag(import_id) over scans as before_id,
        ${FACTS} = lag(${FACTS}) over scans and ${FACTS} = lead(${FACTS}) over scans as is_between
      from run_assets where org_id = ${orgId} and ended_at < now() - ${days}::int * interval '1 day'
      window scans as (partition by source_id, asset_id, track order by started_at, import_id)
    ), differing as materialized (
      select pair.import_id, pair.before_id from (select distinct import_id, before_id from old where is_between and selective) pair
      where exists (
        select from (select kind, entries from run_lists where org_id = ${orgId} and import_id = pair.import_id) own
        full join (select kind, entries from run_lists where org_id = ${orgId} and import_id = pair.before_id) before using (kind)
        where own.entries is distinct from before.entries)
    ), thinned as (
      delete from run_assets gone
      where gone.org_id = ${orgId} and (gone.source_id, gone.asset_id, gone.track, gone.import_id) in (
        select run.source_id, run.asset_id, run.track, run.import_id from old run
        where run.is_between and not ${isReferredTo} and (run.import_id, run.before_id) not in (select import_id, before_id from differing)
        limit ${limit})
      returning gone.import_id
    )
    select count(*)::int as count from thinned`.execute(tx);
  const count = rows[0]?.count ?? 0;
  if (count > 0) await deleteListsOfNone(tx, orgId);
  return count;
}

/** What a run lists is of no interest once nothing else of it is known. */
async function deleteListsOfNone(tx: TenantTx, orgId: string): Promise<void> {
  await sql`
    delete from run_lists list
    where list.org_id = ${orgId} and not exists (select from run_assets run where run.org_id = ${orgId} and run.import_id = list.import_id offset 0)`.execute(
    tx,
  );
}
