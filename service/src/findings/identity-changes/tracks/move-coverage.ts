import { sql } from 'kysely';
import type { TrackNumbers, TrackSeparation } from '../../../assets/assets.ts';
import type { TenantTx } from '../../../db/database.ts';
import { coverByRuns } from '../cover-by-runs.ts';

/** The runs of two tracks before they were merged. */
export interface StoredRuns {
  /** All runs of the merged track. */
  own: unknown[];
  /** Which of them the other track got. */
  added: { source_id: string; import_id: string }[];
  /** The imports that had covered one of the tracks. */
  imports: string[];
}

/**
 * Moves what sources have covered from one track to another. A scan of one of them has not covered all of both, so the track counts as not completely
 * scanned by its sources until their next complete scan.
 */
export async function moveTrackCoverage(tx: TenantTx, orgId: string, { assetId, from, into, versions }: TrackNumbers): Promise<StoredRuns> {
  const { rows } = await sql<{ own: unknown[] | null; imports: string[] | null }>`
    select jsonb_agg(to_jsonb(run)) filter (where run.track = ${from}) as own, array_agg(distinct run.import_id) as imports
    from run_assets run where run.org_id = ${orgId} and run.asset_id = ${assetId} and run.track in (${from}, ${into})`.execute(tx);
  const build = sql`left join jsonb_to_recordset(${JSON.stringify(versions)}) as version ("from" integer, "into" integer) on version."from" = old.version_n
    where old.org_id = ${orgId} and old.asset_id = ${assetId} and old.track = ${from}`;
  await sql`
    insert into source_coverage as known (org_id, source_id, asset_id, track, import_id, seen_at, complete_import_id, complete_at, version_n)
    select old.org_id, old.source_id, old.asset_id, ${into}, old.import_id, old.seen_at, old.complete_import_id, old.complete_at, coalesce(version."into", old.version_n) from source_coverage old ${build}
    on conflict (org_id, source_id, asset_id, track) do update set
      import_id = case when known.seen_at < excluded.seen_at then excluded.import_id else known.import_id end, seen_at = greatest(known.seen_at, excluded.seen_at),
      complete_import_id = null, complete_at = null, version_n = null`.execute(tx);
  const { rows: added } = await sql<StoredRuns['added'][number]>`
    insert into run_assets (org_id, source_id, asset_id, track, import_id, version_n, started_at, ended_at, complete, accepted, credentialed, knowledge_at, selective, track_name, variant, identity_weak, build_ids)
    select old.org_id, old.source_id, old.asset_id, ${into}, old.import_id, coalesce(version."into", old.version_n), old.started_at, old.ended_at, false, old.accepted, old.credentialed,
      old.knowledge_at, old.selective, old.track_name, old.variant, old.identity_weak, old.build_ids
    from run_assets old ${build} on conflict (org_id, source_id, asset_id, track, import_id) do nothing returning source_id, import_id`.execute(tx);
  for (const table of ['source_coverage', 'run_assets'] as const) {
    await tx.deleteFrom(table).where('org_id', '=', orgId).where('asset_id', '=', assetId).where('track', '=', from).execute();
  }
  return { own: rows[0]?.own ?? [], added, imports: rows[0]?.imports ?? [] };
}

type Separated = Omit<TrackSeparation, 'findings'>;

/** Gives both tracks the runs that they had, and later ones to the track that they named. What they have covered follows from their runs. */
export async function returnTrackCoverage(
  tx: TenantTx,
  orgId: string,
  { assetId, from, into, names }: Separated,
  { own, added, imports }: StoredRuns,
): Promise<void> {
  const run = sql`run.org_id = ${orgId} and run.asset_id = ${assetId} and run.track = ${into}`;
  await sql`
    delete from run_assets run using jsonb_to_recordset(${JSON.stringify(added)}) as added (source_id uuid, import_id uuid)
    where ${run} and run.source_id = added.source_id and run.import_id = added.import_id`.execute(tx);
  await sql`
    update run_assets run set track = ${from} where ${run} and run.track_name = any(${names as string[]}::text[]) and run.import_id <> all(${imports}::uuid[])`.execute(
    tx,
  );
  await sql`insert into run_assets select * from jsonb_populate_recordset(null::run_assets, ${JSON.stringify(own)}) on conflict do nothing`.execute(tx);
  await coverByRuns(tx, orgId, sql`run.asset_id = ${assetId} and run.track in (${from}, ${into})`);
}
