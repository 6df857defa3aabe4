import { sql } from 'kysely';
import type { TenantTx } from '../../../db/database.ts';
import type { MergedPair } from '../../follower.ts';
import { type Side, type Sides, sidesSql } from './sides.ts';

/** A sighting that a run no longer showed. */
interface Absence {
  finding_id: string;
  source_id: string;
  track: number;
  side: Side;
  absence: string;
  absent_at: string;
  gaps: string[] | null;
  import_id: string;
}

export async function readAbsences(tx: TenantTx, orgId: string, assetId: string, sides: Sides): Promise<Absence[]> {
  const { rows } = await sql<Absence>`
    select s.finding_id, s.source_id, s.track, side.side, s.absence, s.absent_at::text as absent_at, to_jsonb(s.gaps) as gaps, s.last_import_id as import_id
    from findings f join sightings s on s.org_id = ${orgId} and s.finding_id = f.id and s.state = 'absent'
    join ${sidesSql(sides)} on side.import_id = s.last_import_id and side.track = s.track
    where f.org_id = ${orgId} and f.asset_id = ${assetId}`.execute(tx);
  return rows;
}

interface Separated {
  /** The findings that were one. */
  pairs: readonly MergedPair[];
  /** The findings of the separated asset. */
  ids: readonly string[];
}

/** For each finding that was one of those of which runs did not show something: whether it is gone from its own asset. */
function separate<T extends { finding_id: string; side: Side }>(gone: readonly T[], { pairs, ids }: Separated): (T & { is_gone: boolean })[] {
  const own = new Set(ids);
  const others = Map.groupBy(pairs, ({ into_id }) => into_id);
  return gone.flatMap((one) =>
    [one.finding_id, ...(others.get(one.finding_id) ?? []).map(({ from_id }) => from_id)].map((id) => ({
      ...one,
      finding_id: id,
      is_gone: one.side === 'both' || one.side === (own.has(id) ? 'from' : 'into'),
    })),
  );
}

/** What a run did not show is gone from the assets that it named, and nowhere else. Call it while tracks have the numbers of the asset that stayed. */
export async function returnAbsences(tx: TenantTx, orgId: string, absences: readonly Absence[], separated: Separated): Promise<void> {
  if (absences.length === 0) return;
  const each = separate(absences, separated);
  const given = sql`jsonb_to_recordset(${JSON.stringify(each)}) as one
    (finding_id uuid, source_id uuid, track smallint, absence text, absent_at timestamptz, gaps text[], import_id uuid, is_gone boolean)
    where s.org_id = ${orgId} and s.finding_id = one.finding_id and s.source_id = one.source_id and s.track = one.track`;
  await sql`
    update sightings s set state = 'absent', absence = one.absence, absent_at = one.absent_at, gaps = one.gaps, last_import_id = one.import_id from ${given}
    and one.is_gone and s.state = 'present' and s.last_seen <= one.absent_at`.execute(tx);
  await sql`
    update sightings s set state = 'present', absence = null, absent_at = null, gaps = null from ${given}
    and not one.is_gone and s.state = 'absent' and s.last_import_id = one.import_id`.execute(tx);
}

/** The same of what runs since the merge no longer showed, as long as their imports wait for confirmation. */
export async function returnClosures(tx: TenantTx, orgId: string, { assetId, sides }: { assetId: string; sides: Sides }, separated: Separated): Promise<void> {
  const { rows } = await sql<{ finding_id: string; side: Side; closure: object }>`
    select c.finding_id, side.side, to_jsonb(c) as closure from import_closures c join ${sidesSql(sides)} on side.import_id = c.import_id and side.track = c.track
    join findings f on f.org_id = ${orgId} and f.id = c.finding_id and f.asset_id = ${assetId} where c.org_id = ${orgId}`.execute(tx);
  if (rows.length === 0) return;
  const each = separate(rows, separated).map(({ closure, finding_id, is_gone }) => ({ ...closure, finding_id, is_gone }));
  const given = (isGone: boolean) => sql`jsonb_populate_recordset(null::import_closures, ${JSON.stringify(each.filter(({ is_gone }) => is_gone === isGone))})`;
  await sql`
    delete from import_closures c using ${given(false)} one
    where (c.org_id, c.import_id, c.finding_id, c.track) = (one.org_id, one.import_id, one.finding_id, one.track)`.execute(tx);
  await sql`insert into import_closures select * from ${given(true)} on conflict do nothing`.execute(tx);
}
