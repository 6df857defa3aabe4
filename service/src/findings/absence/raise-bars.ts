import { sql } from 'kysely';
import { importedAssets } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import type { Resolution } from '../merge/resolution.ts';

/**
 * A late report can show that a finding was gone for a while. Only the scans that have shown it since then say how able a scan must be that proves it gone
 * again: they may all have been more able than those before. A scan that was believed and is not able enough is not believed any more. Returns the findings
 * that are still there.
 */
export async function raiseBars(tx: TenantTx, { orgId, importId, sourceId }: Resolution): Promise<string[]> {
  const ofTrack = (run: string, x: string) =>
    sql`${sql.ref(`${run}.org_id`)} = ${orgId} and ${sql.ref(`${run}.source_id`)} = ${sourceId} and ${sql.ref(`${run}.asset_id`)} = ${sql.ref(`${x}.asset_id`)} and ${sql.ref(`${run}.track`)} = ${sql.ref(`${x}.track`)}`;
  const { rows } = await sql<{ finding_id: string; track: number; because: string[] }>`
    with again as materialized (
      select s.finding_id, s.track, shown.credentialed, shown.knowledge_at, a.asset_id
      from (select distinct asset_id, track from ${importedAssets} own where org_id = ${orgId} and import_id = ${importId}) a
      cross join lateral (select own.id from findings own where own.org_id = ${orgId} and own.asset_id = a.asset_id offset 0) f
      cross join lateral (
        select own.* from sightings own where own.org_id = ${orgId} and own.finding_id = f.id and own.source_id = ${sourceId} and own.track = a.track and own.unseen is not null offset 0) s
      cross join lateral (
        select max(run.ended_at) as at from run_assets run
        where ${ofTrack('run', 'a')} and run.complete and run.accepted and run.ended_at between s.first_seen and s.last_seen and s.unseen @> run.ended_at) missed
      cross join lateral (
        select bool_and(coalesce(run.credentialed, false)) as credentialed, min(run.knowledge_at) as knowledge_at from run_assets run
        where ${ofTrack('run', 'a')} and run.complete and run.accepted and run.ended_at > missed.at and run.ended_at <= s.last_seen and not s.unseen @> run.ended_at) shown
      where (shown.credentialed and s.bar_credentialed is not true) or shown.knowledge_at > s.bar_knowledge_at
    ), raised as (
      update sightings s set bar_credentialed = case when again.credentialed then true else s.bar_credentialed end, bar_knowledge_at = greatest(s.bar_knowledge_at, again.knowledge_at)
      from again where s.org_id = ${orgId} and s.finding_id = again.finding_id and s.source_id = ${sourceId} and s.track = again.track
    ), closed as materialized (
      select again.*, s.absent_at, first.import_id as first_id, first.started_at as first_at,
        array_remove(array[case when again.credentialed and closing.credentialed is not true then 'not_credentialed' end,
          case when closing.knowledge_at is null or closing.knowledge_at < again.knowledge_at then 'knowledge_older' end], null) as because
      from again
      join sightings s on s.org_id = ${orgId} and s.finding_id = again.finding_id and s.source_id = ${sourceId} and s.track = again.track and s.absence = 'gone'
      join run_assets closing on ${ofTrack('closing', 'again')} and closing.import_id = s.last_import_id
      left join lateral (
        select run.import_id, run.started_at from run_assets run
        where ${ofTrack('run', 'again')} and run.complete and run.accepted and not run.selective and run.started_at > s.last_seen
          and (again.credentialed is not true or run.credentialed) and (again.knowledge_at is null or run.knowledge_at >= again.knowledge_at)
        order by run.started_at, run.import_id limit 1) first on true
    ), later as (
      update sightings s set absent_at = closed.first_at, last_import_id = closed.first_id from closed
      where closed.because <> '{}' and closed.first_id is not null and s.org_id = ${orgId} and s.finding_id = closed.finding_id and s.source_id = ${sourceId} and s.track = closed.track
    )
    select finding_id, track, because from closed where because <> '{}' and first_id is null`.execute(tx);
  if (rows.length === 0) return [];
  await sql`
    update sightings s set state = 'present', absence = null, absent_at = null, gaps = null, missed_at = s.absent_at, missed_import_id = s.last_import_id, missed_because = unable.because
    from jsonb_to_recordset(${JSON.stringify(rows)}) as unable (finding_id uuid, track smallint, because text[])
    where s.org_id = ${orgId} and s.finding_id = unable.finding_id and s.source_id = ${sourceId} and s.track = unable.track`.execute(tx);
  return [...new Set(rows.map(({ finding_id }) => finding_id))];
}
