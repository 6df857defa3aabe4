import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { Assets, Build, Numbering } from './merge-tracks.ts';

/**
 * The numbers of all tracks of two assets whose merge is undone: those of before the merge, and for tracks that were scanned first after it the one that the
 * separated asset has under the name, or a free one.
 */
export async function separateTracks(tx: TenantTx, orgId: string, { from, into }: Assets, known: readonly Numbering[]): Promise<Numbering[]> {
  const tracksOf = (id: string) =>
    tx.selectFrom('asset_tracks').select(['n', 'name']).where('org_id', '=', orgId).where('asset_id', '=', id).orderBy('n').execute();
  const [own, kept] = [await tracksOf(from), await tracksOf(into)];
  const numbers = [...known];
  let next = Math.max(0, ...own.map(({ n }) => n), ...known.map((number) => number.from)) + 1;
  for (const { n, name } of kept) {
    if (numbers.some((number) => number.into === n)) continue;
    const same = own.find((track) => track.name === name && numbers.every((number) => number.from !== track.n));
    numbers.push({ from: same?.n ?? next++, into: n });
  }
  return numbers;
}

/** The same for builds. */
export async function separateBuilds(tx: TenantTx, orgId: string, { from, into }: Assets, tracks: readonly Numbering[]): Promise<Numbering[]> {
  const { rows } = await sql<Numbering>`
    select coalesce(own.n, (select coalesce(max(n), 0) from asset_versions where org_id = ${orgId} and asset_id = ${from}) + build.n) as "from", build.n as "into"
    from asset_versions build
    join jsonb_to_recordset(${JSON.stringify(tracks)}) as track ("from" smallint, "into" smallint) on track."into" = build.track
    left join asset_versions own on own.org_id = ${orgId} and own.asset_id = ${from} and own.track = track."from" and own.name = build.name
      and (own.digest, own.commit) is not distinct from (build.digest, build.commit)
    where build.org_id = ${orgId} and build.asset_id = ${into}`.execute(tx);
  return rows;
}

/** Gives the separated asset the tracks `used`, which have been scanned since the merge, as far as it does not have them. */
export async function returnTracks(tx: TenantTx, orgId: string, { from, into }: Assets, used: readonly number[], tracks: readonly Numbering[]): Promise<void> {
  await sql`
    insert into asset_tracks (org_id, asset_id, n, name, counts, kind)
    select org_id, ${from}, track."from", name, counts, case when kind = 'default' and track."from" <> 0 then 'named' else kind end from asset_tracks
    join jsonb_to_recordset(${JSON.stringify(tracks)}) as track ("from" smallint, "into" smallint) on track."into" = n
    where org_id = ${orgId} and asset_id = ${into} and n = any(${used as number[]}::smallint[])
    on conflict do nothing`.execute(tx);
}

export async function returnBuilds(tx: TenantTx, orgId: string, { from, into }: Assets, used: readonly Build[], builds: readonly Numbering[]): Promise<void> {
  await sql`
    insert into asset_versions as known (org_id, asset_id, n, track, name, digest, commit, first_scan, last_scan)
    select ${orgId}, ${from}, build."from", used.track, v.name, v.digest, v.commit, used.first_scan, used.last_scan
    from jsonb_to_recordset(${JSON.stringify(used)}) as used (n integer, track smallint, first_scan timestamptz, last_scan timestamptz)
    join jsonb_to_recordset(${JSON.stringify(builds)}) as build ("from" integer, "into" integer) on build."into" = used.n
    join asset_versions v on v.org_id = ${orgId} and v.asset_id = ${into} and v.n = used.n
    on conflict (org_id, asset_id, n) do update set last_scan = greatest(known.last_scan, excluded.last_scan)`.execute(tx);
}

interface Numbers {
  tracks: readonly number[];
  builds: readonly number[];
}

/** Removes tracks and builds that the asset got from the other one, unless scans of its own have named them. */
export async function removeUnnamed(tx: TenantTx, orgId: string, assetId: string, foreign: Numbers, kept: Numbers): Promise<void> {
  const remove = async (table: 'asset_versions' | 'asset_tracks', numbers: readonly number[]) => {
    if (numbers.length > 0) await tx.deleteFrom(table).where('org_id', '=', orgId).where('asset_id', '=', assetId).where('n', 'in', numbers).execute();
  };
  await remove(
    'asset_versions',
    foreign.builds.filter((n) => !kept.builds.includes(n)),
  );
  await remove(
    'asset_tracks',
    foreign.tracks.filter((n) => !kept.tracks.includes(n)),
  );
}
