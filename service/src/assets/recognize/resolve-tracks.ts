import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import type { AssetFollower } from '../assets.ts';
import { keepOlderLines, separateOlderLines } from './older-lines.ts';

/** What the staged assets name, and whether one of them was known before the import. */
interface Named {
  importId: string;
  tracks: boolean;
  own_tracks: boolean;
  versions: boolean;
  isKnown: boolean;
}

/** Finds or creates the tracks and builds that an import names, after its assets were resolved. Writes their numbers to the staging table. */
export async function resolveTracks(tx: TenantTx, actor: Actor, follower: AssetFollower, { importId, ...named }: Named): Promise<void> {
  const { orgId } = actor;
  if (named.own_tracks) {
    await keepOlderLines(tx, orgId, importId);
    await separateOlderLines(tx, actor, follower, importId);
  }
  if (named.tracks) {
    await countListed(tx, orgId, importId);
    await createTracks(tx, orgId, importId);
  }
  if (named.isKnown) await resumeTracks(tx, orgId, importId);
  if (named.tracks)
    await sql`
      update tenant_import_assets staged set track = coalesce(known.merged_into, known.n, 0), track_counts = coalesce(known.counts, true)
      from tenant_import_assets own left join asset_tracks known on known.org_id = ${orgId} and known.asset_id = own.asset_id and known.name = own.track_name
      where staged.org_id = ${orgId} and staged.import_id = ${importId} and own.org_id = ${orgId} and own.import_id = ${importId} and own.new_id = staged.new_id`.execute(
      tx,
    );
  if (named.versions) await resolveVersions(tx, orgId, importId);
}

/** A name for the default track names the track 0, unless that has a name already. */
async function createTracks(tx: TenantTx, orgId: string, importId: string): Promise<void> {
  await sql`
    with missing as (
      select distinct on (staged.asset_id, staged.track_name) staged.asset_id, staged.track_name as name, staged.track_kind as kind,
        -- Until the default track is known, other branches count.
        staged.track_counts or (staged.track_kind = 'development' and not exists (
          select from asset_tracks known where known.org_id = ${orgId} and known.asset_id = staged.asset_id and known.n = 0)) as counts
      from tenant_import_assets staged
      where staged.org_id = ${orgId} and staged.import_id = ${importId} and staged.track_name <> ''
        and not exists (select from asset_tracks known where known.org_id = ${orgId} and known.asset_id = staged.asset_id and known.name = staged.track_name)
    ), placed as (
      select missing.*, kind = 'default' and name = min(name) filter (where kind = 'default') over (partition by asset_id)
        and not exists (select from asset_tracks known where known.org_id = ${orgId} and known.asset_id = missing.asset_id and known.n = 0) as is_default
      from missing
    )
    insert into asset_tracks (org_id, asset_id, n, name, kind, counts)
    select ${orgId}, asset_id,
      case when is_default then 0 else coalesce((select max(known.n) from asset_tracks known where known.org_id = ${orgId} and known.asset_id = placed.asset_id), 0)
        + row_number() over (partition by asset_id, is_default order by name) end,
      name, case when kind = 'default' and not is_default then 'named' else kind end, counts
    from placed`.execute(tx);
}

/** A branch that was kept apart counts when it is scanned again after the organization has named it in its policy. */
async function countListed(tx: TenantTx, orgId: string, importId: string): Promise<void> {
  await sql`
    update asset_tracks known set counts = true, kind = staged.track_kind from tenant_import_assets staged
    where staged.org_id = ${orgId} and staged.import_id = ${importId} and staged.track_counts and known.org_id = ${orgId} and known.asset_id = staged.asset_id
      and known.name = staged.track_name and known.kind = 'development' and not known.counts`.execute(tx);
}

/** A later scan brings back a track that has ended. */
async function resumeTracks(tx: TenantTx, orgId: string, importId: string): Promise<void> {
  await sql`
    update asset_tracks known set ended_at = null, ended_by = null, ended_reason = null
    from tenant_import_assets staged
    left join asset_tracks merged on merged.org_id = ${orgId} and merged.asset_id = staged.asset_id and merged.name = staged.track_name
    where staged.org_id = ${orgId} and staged.import_id = ${importId} and known.org_id = ${orgId} and known.asset_id = staged.asset_id
      and (known.name = staged.track_name or known.n = merged.merged_into or (staged.track_name = '' and known.n = 0)) and known.ended_at < staged.ended_at`.execute(
    tx,
  );
}

/**
 * A build is a name with its digest and commit: the tag `latest` names another build when it moves. Where a report, or whoever sent it, also names the build
 * without them, the same build is meant.
 */
async function resolveVersions(tx: TenantTx, orgId: string, importId: string): Promise<void> {
  const isVague = sql`(digest is null and commit is null)`;
  const builds = sql`(
    select new_id, asset_id, track, version_name as name, started_at, ended_at,
      case when ${isVague} then first_value(digest) over same else digest end as digest, case when ${isVague} then first_value(commit) over same else commit end as commit
    from tenant_import_assets where org_id = ${orgId} and import_id = ${importId} and version_name is not null
    window same as (partition by asset_id, track, version_name order by ${isVague}, digest, commit))`;
  await sql`
    with named as (
      select asset_id, track, name, digest, commit, min(started_at) as first_scan, max(ended_at) as last_scan from ${builds} build group by 1, 2, 3, 4, 5
    )
    insert into asset_versions as known (org_id, asset_id, n, track, name, digest, commit, first_scan, last_scan)
    select ${orgId}, asset_id,
      coalesce((select max(other.n) from asset_versions other where other.org_id = ${orgId} and other.asset_id = named.asset_id), 0) + row_number() over (partition by asset_id order by first_scan, name, digest, commit),
      track, name, digest, commit, first_scan, last_scan
    from named
    on conflict (org_id, asset_id, track, name, digest, commit) do update set
      first_scan = least(known.first_scan, excluded.first_scan), last_scan = greatest(known.last_scan, excluded.last_scan)
    where excluded.first_scan < known.first_scan or excluded.last_scan > known.last_scan`.execute(tx);
  await sql`
    update tenant_import_assets staged set version_n = known.n from ${builds} build
    join asset_versions known on known.org_id = ${orgId} and known.asset_id = build.asset_id and known.track = build.track and known.name = build.name
      and (known.digest, known.commit) is not distinct from (build.digest, build.commit)
    where staged.org_id = ${orgId} and staged.import_id = ${importId} and staged.new_id = build.new_id`.execute(tx);
}

/** What a run states about the assets it covered. */
export interface RunOfAsset {
  startedAt: Date;
  endedAt: Date;
  credentialed: boolean | null;
  knowledgeAt: Date | null;
  doubt: string | null;
  /** The lock files of a repository that it names, with spaces between them. */
  variant: string | null;
}

/** Writes the facts of the run to the staged assets: `facts` hold for all of them, unless an asset has its own. */
export async function describeRun(
  tx: TenantTx,
  { orgId, importId }: { orgId: string; importId: string },
  facts: RunOfAsset,
  byAsset: ReadonlyMap<string, Partial<RunOfAsset>>,
): Promise<void> {
  await tx
    .updateTable('tenant_import_assets')
    .set({
      started_at: facts.startedAt,
      ended_at: facts.endedAt,
      credentialed: facts.credentialed,
      knowledge_at: facts.knowledgeAt,
      // What is known about an asset decides whether there is a doubt: a report can state when it was scanned, and not when the whole scan took place.
      doubt: sql<string | null>`case when asset_key = any(${[...byAsset.keys()]}::text[]) then doubt else coalesce(doubt, ${facts.doubt}) end`,
      variant: sql<string | null>`case when type = 'repository' then ${facts.variant} else variant end`,
    })
    .where('org_id', '=', orgId)
    .where('import_id', '=', importId)
    .execute();
  if (byAsset.size === 0) return;
  const all = [...byAsset].map(([asset_key, { startedAt, endedAt, credentialed, knowledgeAt, doubt }]) => ({
    asset_key,
    started_at: startedAt ?? null,
    ended_at: endedAt ?? null,
    credentialed: credentialed ?? null,
    knowledge_at: knowledgeAt ?? null,
    doubt: doubt ?? null,
  }));
  await sql`
    update tenant_import_assets staged set started_at = coalesce(own.started_at, staged.started_at), ended_at = coalesce(own.ended_at, staged.ended_at),
      credentialed = coalesce(own.credentialed, staged.credentialed), knowledge_at = coalesce(own.knowledge_at, staged.knowledge_at), doubt = coalesce(staged.doubt, own.doubt)
    from jsonb_to_recordset(${JSON.stringify(all)}) as own (asset_key text, started_at timestamptz, ended_at timestamptz, credentialed boolean, knowledge_at timestamptz, doubt text)
    where staged.org_id = ${orgId} and staged.import_id = ${importId} and staged.asset_key = own.asset_key`.execute(tx);
}
