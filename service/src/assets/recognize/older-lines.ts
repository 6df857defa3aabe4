import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import type { AssetFollower, RunOfBuild } from '../assets.ts';
import { compareVersions, readVersionName } from '../names/version-name.ts';

const DAY = 86_400_000;

const isBelow = (version: string, names: readonly string[]): boolean => names.some((name) => (compareVersions(version, name) ?? 0) < 0);

/**
 * An older version that is scanned more than a day after a higher one belongs to a release line that is still maintained. Before that, it is not known
 * whether it does, so it says nothing about what the higher one has.
 */
export async function keepOlderLines(tx: TenantTx, orgId: string, importId: string): Promise<void> {
  const isLongAgo = sql`known.first_scan < staged.started_at - interval '1 day'`;
  const { rows } = await sql<{ asset_key: string; version_name: string; names: string[]; recent: string[] }>`
    select staged.asset_key, staged.version_name, coalesce(array_agg(distinct known.name) filter (where ${isLongAgo}), '{}') as names,
      coalesce(array_agg(distinct known.name) filter (where not ${isLongAgo}), '{}') as recent
    from tenant_import_assets staged
    join asset_tracks track on track.org_id = ${orgId} and track.asset_id = staged.asset_id and track.name = staged.track_name
    join asset_versions known on known.org_id = ${orgId} and known.asset_id = staged.asset_id and known.track = coalesce(track.merged_into, track.n)
    where staged.org_id = ${orgId} and staged.import_id = ${importId} and staged.own_track is not null and known.first_scan < staged.started_at
    group by 1, 2`.execute(tx);
  const older = rows.filter(({ version_name, names }) => isBelow(version_name, names)).map(({ asset_key }) => asset_key);
  const doubtful = rows.filter(({ version_name, names, recent }) => !isBelow(version_name, names) && isBelow(version_name, recent));
  if (doubtful.length > 0) {
    const keys = doubtful.map(({ asset_key }) => asset_key);
    await sql`
      update tenant_import_assets set doubt = coalesce(doubt, 'version_older')
      where org_id = ${orgId} and import_id = ${importId} and asset_key = any(${keys}::text[])`.execute(tx);
  }
  if (older.length === 0) return;
  await sql`update tenant_import_assets set track_name = own_track where org_id = ${orgId} and import_id = ${importId} and asset_key = any(${older}::text[])`.execute(
    tx,
  );
}

/** Builds of a release line that the import names, and a known build of the same line. */
interface LaterBuild {
  asset_id: string;
  track: number;
  line: string;
  n: number;
  name: string;
  scans: { version: string; at: string }[];
}

/**
 * The same if the scan of the higher version arrives late: later scans of lower versions, which were taken for the next scans of the line, belong to lines of
 * their own. Those within a day of the late one prove nothing. Tracks that a person has merged stay as they are.
 */
export async function separateOlderLines(tx: TenantTx, actor: Actor, follower: AssetFollower, importId: string): Promise<void> {
  const { orgId } = actor;
  const { rows } = await sql<LaterBuild>`
    select known.asset_id, known.track, track.name as line, known.n, known.name, jsonb_agg(distinct jsonb_build_object('version', staged.version_name, 'at', staged.started_at)) as scans
    from tenant_import_assets staged
    join asset_tracks track on track.org_id = ${orgId} and track.asset_id = staged.asset_id and track.name = staged.track_name
    join asset_versions known on known.org_id = ${orgId} and known.asset_id = staged.asset_id and known.track = track.n and known.last_scan > staged.started_at
    where staged.org_id = ${orgId} and staged.import_id = ${importId} and staged.own_track <> staged.track_name
      and not exists (select from asset_track_merges merge where merge.org_id = ${orgId} and merge.asset_id = staged.asset_id and merge.undone_at is null
        and track.n in (merge.from_track, merge.into_track))
    group by 1, 2, 3, 4, 5 order by known.asset_id, known.n`.execute(tx);
  const lower = rows.flatMap((build) => {
    const scans = build.scans.filter(({ version }) => isBelow(build.name, [version]));
    const line = ownLineOf(build);
    return scans.length === 0 || line === null ? [] : [{ ...build, ownLine: line, from: Math.min(...scans.map(({ at }) => Date.parse(at))) }];
  });
  for (const builds of Map.groupBy(lower, ({ asset_id, track, ownLine }) => [asset_id, track, ownLine].join(' ')).values()) {
    const [{ asset_id: assetId, track, ownLine } = { asset_id: '', track: 0, ownLine: '' }] = builds;
    const fromOf = new Map(builds.map(({ n, from }) => [n, from]));
    const runs = await follower.runsOf(tx, orgId, { assetId, track, builds: [...fromOf.keys()] });
    const after = ({ build, started_at, is_stated }: RunOfBuild): number => (is_stated ? 0 : started_at.getTime() - (fromOf.get(build) ?? 0));
    const moved = runs.filter((run) => after(run) > DAY);
    const doubtful = runs.filter((run) => after(run) > 0 && after(run) <= DAY).map(({ import_id }) => import_id);
    if (moved.length === 0 && doubtful.length === 0) continue;
    const into = moved.length === 0 ? track : await lineOf(tx, orgId, assetId, ownLine);
    const numbers = await moveBuilds(tx, orgId, { assetId, into, moved, kept: runs.filter((run) => !moved.includes(run)) });
    const imports = moved.map(({ import_id, build }) => ({ import_id, build: numbers.get(build) ?? build }));
    await follower.separateRuns(tx, actor, { assetId, from: track, into, moved: imports, doubtful });
  }
}

/** The narrower line of a build. Null if it is not on the line because of its version. */
function ownLineOf({ name, line }: Pick<LaterBuild, 'name' | 'line'>): string | null {
  const read = readVersionName(name);
  return read.kind === 'version' && read.line === line && read.ownLine !== line ? read.ownLine : null;
}

/** The number of the track with this name, which is created if the asset does not have it. */
async function lineOf(tx: TenantTx, orgId: string, assetId: string, name: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    with created as (
      insert into asset_tracks (org_id, asset_id, n, name, kind, counts)
      select ${orgId}, ${assetId}, max(n) + 1, ${name}, 'release', true from asset_tracks where org_id = ${orgId} and asset_id = ${assetId}
      on conflict (org_id, asset_id, name) do nothing returning n
    )
    select n from created union all
    select coalesce(merged_into, n) from asset_tracks where org_id = ${orgId} and asset_id = ${assetId} and name = ${name}`.execute(tx);
  const [found] = rows;
  if (!found) throw new Error(`the track "${name}" was neither found nor created`);
  return found.n;
}

interface Moving {
  assetId: string;
  into: number;
  moved: readonly RunOfBuild[];
  kept: readonly RunOfBuild[];
}

/** Gives the builds of the moved runs to the track `into`. Those that other runs have covered stay on their own as well. Returns their new numbers. */
async function moveBuilds(tx: TenantTx, orgId: string, { assetId, into, moved, kept }: Moving): Promise<Map<number, number>> {
  if (moved.length === 0) return new Map();
  const scans = (runs: readonly RunOfBuild[]) =>
    sql`(select build, min(started_at) as first_scan, max(ended_at) as last_scan
      from jsonb_to_recordset(${JSON.stringify(runs)}) as run (build integer, started_at timestamptz, ended_at timestamptz) group by 1)`;
  const { rows } = await sql<{ from: number; into: number }>`
    with given as materialized (
      select v.*, scan.first_scan as first_moved, scan.last_scan as last_moved from ${scans(moved)} scan
      join asset_versions v on v.org_id = ${orgId} and v.asset_id = ${assetId} and v.n = scan.build
    ), written as (
      insert into asset_versions as known (org_id, asset_id, n, track, name, digest, commit, first_scan, last_scan)
      select ${orgId}, ${assetId}, (select max(n) from asset_versions where org_id = ${orgId} and asset_id = ${assetId}) + row_number() over (order by n),
        ${into}, name, digest, commit, first_moved, last_moved from given
      on conflict (org_id, asset_id, track, name, digest, commit) do update set
        first_scan = least(known.first_scan, excluded.first_scan), last_scan = greatest(known.last_scan, excluded.last_scan)
      returning *
    )
    select given.n as "from", written.n as "into" from given
    join written on written.name = given.name and (written.digest, written.commit) is not distinct from (given.digest, given.commit)`.execute(tx);
  await sql`
    update asset_versions v set last_scan = scan.last_scan from ${scans(kept)} scan where v.org_id = ${orgId} and v.asset_id = ${assetId} and v.n = scan.build`.execute(
    tx,
  );
  await sql`
    delete from asset_versions v using ${scans(moved)} scan
    where v.org_id = ${orgId} and v.asset_id = ${assetId} and v.n = scan.build and v.n <> all(${kept.map(({ build }) => build)}::integer[])`.execute(tx);
  return new Map(rows.map((row) => [row.from, row.into]));
}
