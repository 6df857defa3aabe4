import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';

/** The number of a track or build of the merged asset, and its number on the asset that stays. */
export interface Numbering {
  from: number;
  into: number;
}

/** The numbers of the tracks and builds of an asset. */
export async function numbersOf(tx: TenantTx, orgId: string, assetId: string): Promise<{ tracks: number[]; builds: number[] }> {
  const of = async (table: 'asset_tracks' | 'asset_versions') =>
    (await tx.selectFrom(table).select('n').where('org_id', '=', orgId).where('asset_id', '=', assetId).execute()).map(({ n }) => n);
  return { tracks: await of('asset_tracks'), builds: await of('asset_versions') };
}

/** A build that scans have covered, with the number of its track. */
export interface Build {
  n: number;
  track: number;
  first_scan: string;
  last_scan: string;
}

/** The merged asset and the one that stays. */
export interface Assets {
  from: string;
  into: string;
}

/** The names of tracks that one of two assets has merged into another track, and the other one has not, or into a different one. */
export async function differentlyMerged(tx: TenantTx, orgId: string, { from, into }: Assets): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select track.name from asset_tracks track left join asset_tracks root on root.org_id = ${orgId} and root.asset_id = track.asset_id and root.n = track.merged_into
    where track.org_id = ${orgId} and track.asset_id in (${from}, ${into})
    group by track.name having count(distinct coalesce(root.name, track.name)) > 1 order by track.name`.execute(tx);
  return rows.map(({ name }) => name);
}

/**
 * Gives the asset that stays the tracks of the other one. Tracks with the same name are one, unless only one of them was merged into another track. Otherwise
 * each gets a number of its own.
 */
export async function copyTracks(tx: TenantTx, orgId: string, { from, into }: Assets): Promise<Numbering[]> {
  const tracksOf = (id: string) =>
    tx
      .selectFrom('asset_tracks')
      .selectAll()
      .where('org_id', '=', orgId)
      .where('asset_id', '=', id)
      .orderBy(sql`merged_into is not null`)
      .orderBy('n')
      .execute();
  const [own, kept] = [await tracksOf(from), await tracksOf(into)];
  const numbers: Numbering[] = own.some(({ n }) => n === 0) ? [] : [{ from: 0, into: 0 }];
  let next = Math.max(0, ...kept.map(({ n }) => n)) + 1;
  for (const track of own) {
    const taken = new Set(numbers.map((number) => number.into));
    const named = kept.find(({ name }) => name === track.name);
    const same = (named?.merged_into === null) === (track.merged_into === null) ? named : undefined;
    const isDefault = track.n === 0 && !kept.some(({ n }) => n === 0);
    const n = same && !taken.has(same.n) ? same.n : isDefault ? 0 : next++;
    numbers.push({ from: track.n, into: n });
    if (same?.n === n) continue;
    const mergedInto = numbers.find((number) => number.from === track.merged_into)?.into ?? null;
    const kind = track.kind === 'default' && n !== 0 ? 'named' : track.kind;
    const name = named ? `${track.name} (${from})` : track.name;
    await tx
      .insertInto('asset_tracks')
      .values({ ...track, asset_id: into, n, kind, name, merged_into: mergedInto })
      .execute();
  }
  return numbers;
}

/** Gives the asset that stays the builds of the other one. */
export async function copyVersions(tx: TenantTx, orgId: string, { from, into }: Assets, tracks: readonly Numbering[]): Promise<Numbering[]> {
  const mapped = sql`jsonb_to_recordset(${JSON.stringify(tracks)}) as track ("from" smallint, "into" smallint)`;
  await sql`
    insert into asset_versions as known (org_id, asset_id, n, track, name, digest, commit, first_scan, last_scan)
    select v.org_id, ${into}, v.n + (select coalesce(max(n), 0) from asset_versions where org_id = ${orgId} and asset_id = ${into}), track."into", v.name, v.digest, v.commit, v.first_scan, v.last_scan
    from asset_versions v join ${mapped} on track."from" = v.track where v.org_id = ${orgId} and v.asset_id = ${from}
    on conflict (org_id, asset_id, track, name, digest, commit) do update set
      first_scan = least(known.first_scan, excluded.first_scan), last_scan = greatest(known.last_scan, excluded.last_scan)`.execute(tx);
  const { rows } = await sql<Numbering>`
    select v.n as "from", known.n as "into" from asset_versions v join ${mapped} on track."from" = v.track
    join asset_versions known on known.org_id = ${orgId} and known.asset_id = ${into} and known.track = track."into" and known.name = v.name
      and (known.digest, known.commit) is not distinct from (v.digest, v.commit)
    where v.org_id = ${orgId} and v.asset_id = ${from}`.execute(tx);
  return rows;
}
