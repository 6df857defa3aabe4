import { sql } from 'kysely';
import type { AssetMerge, AssetSeparation } from '../../../assets/assets.ts';
import type { TenantTx } from '../../../db/database.ts';
import type { MergedPair } from '../../follower.ts';
import { coverByRuns } from '../cover-by-runs.ts';
import { type Sides, sidesSql } from './sides.ts';

interface RunOfTrack {
  import_id: string;
  track: number;
}

/** The coverage and runs of the merged asset before the merge, and which runs the other asset got. */
export interface StoredCoverage {
  coverage: unknown[];
  runs: RunOfTrack[];
  added: { source_id: string; track: number; import_id: string }[];
  /** The imports that had covered one of the assets, as far as they could be taken for later ones. */
  imports: string[];
}

interface Moving {
  from: string;
  into: string;
  tracks: AssetMerge['tracks'];
  versions: AssetMerge['tracks'];
}

/**
 * Moves what sources have covered. Where different scans of a source covered the same track of both assets, none has covered all of it, so it counts as not
 * completely scanned until the next complete scan.
 */
export async function moveCoverage(tx: TenantTx, orgId: string, { from, into, tracks, versions }: Moving): Promise<StoredCoverage> {
  const rowsOf = async (table: 'source_coverage' | 'run_assets') =>
    (
      await sql<{
        row: StoredCoverage['runs'][number];
      }>`select to_jsonb(one) as row from ${sql.table(table)} one where one.org_id = ${orgId} and one.asset_id = ${from}`.execute(tx)
    ).rows.map(({ row }) => row);
  const [coverage, runs] = [await rowsOf('source_coverage'), await rowsOf('run_assets')];
  const { rows: earlier } = await sql<{ import_id: string }>`
    select distinct import_id from run_assets where org_id = ${orgId} and (asset_id = ${from} or (asset_id = ${into} and named_keys is not null))`.execute(tx);
  const renumbered = sql`
    join jsonb_to_recordset(${JSON.stringify(tracks)}) as track ("from" smallint, "into" smallint) on track."from" = old.track
    left join jsonb_to_recordset(${JSON.stringify(versions)}) as version ("from" integer, "into" integer) on version."from" = old.version_n
    where old.org_id = ${orgId} and old.asset_id = ${from}`;
  await sql`
    insert into source_coverage as known (org_id, source_id, asset_id, track, import_id, seen_at, complete_import_id, complete_at, version_n)
    select old.org_id, old.source_id, ${into}, track."into", old.import_id, old.seen_at, old.complete_import_id, old.complete_at, version."into" from source_coverage old ${renumbered}
    on conflict (org_id, source_id, asset_id, track) do update set
      import_id = case when known.seen_at < excluded.seen_at then excluded.import_id else known.import_id end, seen_at = greatest(known.seen_at, excluded.seen_at),
      complete_import_id = case when known.complete_import_id = excluded.complete_import_id then known.complete_import_id end,
      complete_at = case when known.complete_import_id = excluded.complete_import_id then known.complete_at end, version_n = null`.execute(tx);
  const { rows: added } = await sql<StoredCoverage['added'][number]>`
    insert into run_assets (org_id, source_id, asset_id, track, import_id, version_n, started_at, ended_at, complete, accepted, credentialed, knowledge_at, selective, track_name, variant, identity_weak, build_ids)
    select old.org_id, old.source_id, ${into}, track."into", old.import_id, version."into", old.started_at, old.ended_at,
      -- The run covered what was then another asset. If the source has scanned the rest apart from it, it proves nothing about that.
      old.complete and not exists (
        select from run_assets other where other.org_id = ${orgId} and other.asset_id = ${into} and other.source_id = old.source_id and other.track = track."into"),
      old.accepted, old.credentialed, old.knowledge_at, old.selective, old.track_name, old.variant, old.identity_weak, old.build_ids
    from run_assets old ${renumbered}
    on conflict (org_id, source_id, asset_id, track, import_id) do nothing returning source_id, track, import_id`.execute(tx);
  for (const table of ['source_coverage', 'run_assets'] as const) await tx.deleteFrom(table).where('org_id', '=', orgId).where('asset_id', '=', from).execute();
  return { coverage, runs, added, imports: earlier.map(({ import_id }) => import_id) };
}

/** The runs of both assets before the merge. Those of an asset that had never been merged do not say what they named. */
export async function earlierSides(tx: TenantTx, orgId: string, { into, tracks }: AssetSeparation, before: StoredCoverage): Promise<Sides> {
  const { rows } = await sql<RunOfTrack>`
    select run.import_id, run.track from run_assets run
    where run.org_id = ${orgId} and run.asset_id = ${into} and (run.named_keys is null or run.import_id = any(${before.imports}::uuid[]))`.execute(tx);
  const keyOf = (run: RunOfTrack): string => `${run.import_id} ${run.track}`;
  const added = new Set(before.added.map(keyOf));
  const own = new Set(before.runs.map(({ import_id, track }) => keyOf({ import_id, track: tracks.find(({ from }) => from === track)?.into ?? track })));
  return rows.map((run) => ({ ...run, keys: [], side: added.has(keyOf(run)) ? 'from' : own.has(keyOf(run)) ? 'both' : 'into' }));
}

/**
 * Gives both assets the runs that they had, and later ones to the asset that they named. Those prove nothing about what they did not report: what the other
 * asset was known to have says nothing new about it, and was not written.
 */
export async function returnCoverage(
  tx: TenantTx,
  orgId: string,
  { from, into, tracks, builds }: Pick<AssetSeparation, 'from' | 'into' | 'tracks' | 'builds'>,
  { runs, added }: StoredCoverage,
  sides: Sides,
): Promise<void> {
  await sql`
    delete from run_assets run using jsonb_to_recordset(${JSON.stringify(added)}) as added (source_id uuid, track smallint, import_id uuid)
    where run.org_id = ${orgId} and run.asset_id = ${into} and run.source_id = added.source_id and run.track = added.track and run.import_id = added.import_id`.execute(
    tx,
  );
  await sql`
    update run_assets run set complete = false, asset_id = case side.side when 'from' then ${from}::uuid else run.asset_id end,
      track = case side.side when 'from' then track."from" else run.track end,
      version_n = case side.side when 'from' then build."from" else run.version_n end
    from ${sidesSql(sides)} join jsonb_to_recordset(${JSON.stringify(tracks)}) as track ("from" smallint, "into" smallint) on track."into" = side.track, run_assets own
    left join jsonb_to_recordset(${JSON.stringify(builds)}) as build ("from" integer, "into" integer) on build."into" = own.version_n
    where run.org_id = ${orgId} and run.asset_id = ${into} and run.import_id = side.import_id and run.track = side.track
      and (own.org_id, own.source_id, own.asset_id, own.track, own.import_id) = (run.org_id, run.source_id, run.asset_id, run.track, run.import_id)`.execute(
    tx,
  );
  await sql`insert into run_assets select * from jsonb_populate_recordset(null::run_assets, ${JSON.stringify(runs)}) on conflict do nothing`.execute(tx);
  await coverByRuns(tx, orgId, sql`run.asset_id in (${from}, ${into})`);
}

/**
 * Runs since the merge have shown the finding that stood for those of both assets. Once it is apart, they have shown the one of their own asset. `own` are the
 * findings of the separated asset. Call it when both assets have their runs.
 */
export async function returnShown(
  tx: TenantTx,
  orgId: string,
  { from, into }: Pick<AssetSeparation, 'from' | 'into'>,
  { pairs, own }: { pairs: readonly MergedPair[]; own: ReadonlySet<string> },
): Promise<void> {
  if (pairs.length === 0) return;
  const twins = pairs.flatMap(({ from_id, into_id }) => {
    const [ofFrom, ofInto] = own.has(from_id) ? [from_id, into_id] : [into_id, from_id];
    return [
      { asset_id: from, id: ofFrom, other: ofInto },
      { asset_id: into, id: ofInto, other: ofFrom },
    ];
  });
  await sql`
    with twin as materialized (
      select * from unnest(${twins.map(({ asset_id }) => asset_id)}::uuid[], ${twins.map(({ id }) => id)}::uuid[], ${twins.map(({ other }) => other)}::uuid[]) as twin (asset_id, id, other)
    )
    update run_assets run set shown = array(
      select distinct coalesce(twin.id, one.id) from unnest(run.shown) as one (id) left join twin on twin.asset_id = run.asset_id and twin.other = one.id)
    where run.org_id = ${orgId} and run.asset_id in (${from}, ${into}) and run.shown && array(select twin.other from twin where twin.asset_id = run.asset_id)`.execute(
    tx,
  );
}
