import { sql } from 'kysely';
import { findByNames } from '../../assets/find-by-name.ts';
import { assetTracks, assetVersions } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import type { PipelineIdentity } from '../../shared/actor.ts';
import type { CollectionSettings, ScanScope } from '../import/manage-imports.ts';

/** What evidence packages read of imports. */
export interface ScanRow {
  id: string;
  status: 'succeeded' | 'failed' | 'discarded' | 'needs_confirmation';
  format: string | null;
  filename: string | null;
  sha256: string;
  bytes: string;
  /** Whether somebody asked for the file to be deleted. Its bytes can still be stored, for example for another organization. */
  is_deleted: boolean;
  scan_scope: ScanScope;
  received: number;
  rejected: number;
  actor: { type: string; id: string | null; name: string; person?: { id: string; name: string } | null };
  connection_id: string | null;
  settings: CollectionSettings | null;
  /** The trusted pipeline that uploaded it. */
  pipeline: PipelineIdentity | null;
  run: ScanRun;
  /** Vulnerabilities that the file of a failed import names. */
  names: string[];
  created_at: Date;
  finished_at: Date | null;
  tool: string;
  /** An earlier import whose file differs only in the times. */
  copy_of: string | null;
  /** What the run covered of the assets. Null if nothing of it was applied. */
  covered: { complete: boolean; selective: boolean; credentialed: boolean | null; knowledge_at: string | null; started_at: string; ended_at: string } | null;
  versions: string[];
  tracks: string[];
}

/** What the report states about itself. Times are RFC 3339. */
interface ScanRun {
  tool_version?: string;
  started_at?: string;
  finished_at?: string;
  knowledge_at?: string;
  credentialed?: boolean;
  targets?: string[];
  names_tool?: boolean;
  names_time?: boolean;
}

export interface ScanSelection {
  ids: readonly string[];
  /** The assets that are asked about. An import can cover others, too. */
  assetIds: readonly string[];
}

/** The selected imports in the order in which they were received. */
export async function readScans(tx: TenantTx, orgId: string, { ids, assetIds }: ScanSelection): Promise<ScanRow[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<ScanRow>`
    with wanted as materialized (
      select i.* from imports i where i.org_id = ${orgId} and i.id = any(${ids as string[]}::uuid[])
    ), covered as materialized (
      select run.import_id, bool_and(run.complete) as complete, bool_or(run.selective) as selective, bool_and(run.credentialed) as credentialed, min(run.knowledge_at) as knowledge_at,
        min(run.started_at) as started_at, max(run.ended_at) as ended_at, array_agg(distinct build.name order by build.name) filter (where build.name is not null) as versions,
        array_agg(distinct coalesce(t.name, '') order by coalesce(t.name, '')) as tracks
      from run_assets run
      left join ${assetVersions} build on build.org_id = ${orgId} and build.asset_id = run.asset_id and build.n = run.version_n
      left join ${assetTracks} t on t.org_id = ${orgId} and t.asset_id = run.asset_id and t.n = run.track
      where run.org_id = ${orgId} and run.asset_id = any(${assetIds as string[]}::uuid[]) and run.import_id in (select id from wanted)
      group by run.import_id
    )
    select i.id, i.status, i.format, i.filename, i.sha256, i.bytes, i.file_deleted_at is not null as is_deleted, i.scan_scope, i.received, i.rejected, i.actor, i.connection_id, i.settings, i.pipeline, i.run, i.names, i.created_at, i.finished_at,
      coalesce(nullif(o.tool, ''), o.provider, i.format, 'unknown') as tool, copied.id as copy_of, coalesce(covered.versions, '{}') as versions, coalesce(covered.tracks, '{}') as tracks,
      case when covered.import_id is not null then jsonb_build_object('complete', covered.complete, 'selective', covered.selective, 'credentialed', covered.credentialed,
        'knowledge_at', covered.knowledge_at, 'started_at', covered.started_at, 'ended_at', covered.ended_at) end as covered
    from wanted i
    left join sources o on o.org_id = ${orgId} and o.id = i.source_id
    left join covered on covered.import_id = i.id
    left join lateral (
      -- A report without records says nothing that could be recognized.
      select earlier.id from imports earlier
      where earlier.org_id = ${orgId} and earlier.timeless_digest = i.timeless_digest and earlier.sha256 <> i.sha256 and earlier.received > 0 and earlier.id <> i.id
        and (earlier.created_at, earlier.id) < (i.created_at, i.id)
      order by earlier.created_at, earlier.id limit 1
    ) copied on i.received > 0
    order by i.created_at, i.id`.execute(tx);
  return rows;
}

/** The assets that reports in a format named themselves, without the uploader, as the ID of the asset and the format. */
export async function readSelfNamed(tx: TenantTx, orgId: string, assetIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string; format: string }>`
    select distinct run.asset_id as id, i.format from run_assets run join imports i on i.org_id = ${orgId} and i.id = run.import_id
    where run.org_id = ${orgId} and run.asset_id = any(${assetIds as string[]}::uuid[]) and not i.scan_scope ? 'asset' and jsonb_array_length(coalesce(i.run->'targets', '[]')) > 0`.execute(
    tx,
  );
  return new Set(rows.map(({ id, format }) => `${id} ${format}`));
}

/** How many imports that succeeded are found. The newest ones. There is no limit for the others, so that many scans cannot hide one that failed. */
const MAX_SUCCEEDED = 1_000;

interface ImportAbout {
  id: string;
  created_at: Date;
  is_failed: boolean;
}

/** Imports since then that covered one of the assets, or failed and were meant to. */
export async function readImportsAbout(tx: TenantTx, orgId: string, assetIds: readonly string[], since: Date): Promise<ImportAbout[]> {
  const { rows: applied } = await sql<ImportAbout>`
    select i.id, i.created_at, i.status = 'failed' as is_failed from imports i
    where i.org_id = ${orgId} and i.created_at >= ${since} and not i.dry_run
      and exists (select from run_assets run where run.org_id = ${orgId} and run.import_id = i.id and run.asset_id = any(${assetIds as string[]}::uuid[]))
    order by i.status = 'succeeded', i.created_at desc
    limit ${MAX_SUCCEEDED} + (select count(*) from imports n where n.org_id = ${orgId} and n.created_at >= ${since} and n.status <> 'succeeded')`.execute(tx);
  const { rows: failed } = await sql<ImportAbout & { named: string[]; is_known: boolean }>`
    with known as materialized (
      select distinct o.kind, o.provider, o.name from run_assets run join sources o on o.org_id = ${orgId} and o.id = run.source_id
      where run.org_id = ${orgId} and run.asset_id = any(${assetIds as string[]}::uuid[])
    )
    select i.id, i.created_at, true as is_failed, array(select one->>'name' from jsonb_array_elements(case when jsonb_typeof(i.scan_scope->'asset') = 'object' then jsonb_build_array(i.scan_scope->'asset') else '[]' end
        || coalesce(i.scan_scope->'assets', '[]')) one) as named,
      exists (select from known where case known.kind when 'connection' then known.name = i.connection_id::text else i.connection_id is null and known.provider = i.format end) as is_known
    from imports i where i.org_id = ${orgId} and i.created_at >= ${since} and i.status = 'failed' and not i.dry_run`.execute(tx);
  const byName = await findByNames(
    tx,
    orgId,
    failed.flatMap(({ named }) => named),
  );
  const own = new Set(assetIds);
  const isMeant = ({ named, is_known }: (typeof failed)[number]): boolean =>
    named.length === 0 ? is_known : named.some((name) => byName.get(name)?.some((id) => own.has(id)));
  return [...applied, ...failed.filter(isMeant)];
}
