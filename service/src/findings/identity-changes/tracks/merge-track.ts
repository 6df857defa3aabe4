import { type RawBuilder, sql } from 'kysely';
import type { TrackNumbers } from '../../../assets/assets.ts';
import type { Numbering } from '../../../assets/merging/merge-tracks.ts';
import type { TenantTx } from '../../../db/database.ts';
import type { Actor } from '../../../shared/actor.ts';
import { foldAgain } from '../../endings/fold-again.ts';
import { idsSql } from '../../follower.ts';
import { saidByFindingSql } from '../../merge/merged-values.ts';
import { countPlaces } from '../../merge/write-places.ts';
import { keepLastSeen } from '../cover-by-runs.ts';
import { copied } from '../move-sightings.ts';
import { mergeClosures } from './move-closures.ts';
import { moveTrackCoverage, type StoredRuns } from './move-coverage.ts';

/** What sources said about two tracks before they were merged. */
export interface MovedSightings {
  runs: StoredRuns;
  /** The findings of which each source had a sighting, by track, state and last sighting. */
  seen: { source_id: string; track: number; state: string; last_seen: string; import_id: string | null; ids: string[] }[];
  /** The sightings and occurrences of both tracks that became one. */
  doubled: { sightings: unknown[]; occurrences: unknown[] };
}

/**
 * Moves what sources say from one track of an asset to another. If a source has a sighting of a finding on both, the present or else the newer one stays.
 * Nothing is closed or reopened: the next scan decides.
 */
export async function mergeTrackSightings(tx: TenantTx, actor: Actor, { assetId, from, into, versions }: TrackNumbers): Promise<MovedSightings> {
  const { orgId } = actor;
  await keepLastSeen(tx, orgId, sql`f.asset_id = ${assetId}`);
  await mergeClosures(tx, orgId, { assetId, from, into });
  const runs = await moveTrackCoverage(tx, orgId, { assetId, from, into, versions });
  const both = sql`
    sightings a join sightings b on b.org_id = ${orgId} and b.finding_id = a.finding_id and b.source_id = a.source_id and b.track = ${into}
    join findings f on f.org_id = ${orgId} and f.id = a.finding_id and f.asset_id = ${assetId}`;
  const { rows } = await sql<{ id: string }>`select distinct a.finding_id as id from ${both} where a.org_id = ${orgId} and a.track = ${from}`.execute(tx);
  const doubled = idsSql(rows.map(({ id }) => id));
  await sql`
    update sightings s set said = ${saidByFindingSql} from findings f
    where s.org_id = ${orgId} and s.said is null and f.org_id = ${orgId} and f.id = s.finding_id and f.id in (${doubled})`.execute(tx);
  const moved: MovedSightings = { runs, seen: await seenOn(tx, orgId, { assetId, from, into }), doubled: await rowsOf(tx, orgId, { doubled, from, into }) };
  await sql`
    update sightings kept set peak_severity = greatest(a.peak_severity, b.peak_severity)
    from ${both} where a.org_id = ${orgId} and a.track = ${from} and kept.org_id = ${orgId} and kept.finding_id = b.finding_id and kept.source_id = b.source_id and kept.track = ${into}`.execute(
    tx,
  );
  await sql`
    update sightings kept set ${copied('a')}, first_seen = least(a.first_seen, b.first_seen), records = a.records
    from ${both} where a.org_id = ${orgId} and a.track = ${from} and kept.org_id = ${orgId} and kept.finding_id = b.finding_id and kept.source_id = b.source_id and kept.track = ${into}
      and (a.state = 'present', a.last_seen) > (b.state = 'present', b.last_seen)`.execute(tx);
  const gone = sql`
    own.org_id = ${orgId} and own.track = ${from} and own.finding_id in (${doubled})
    and exists (select from sightings b where b.org_id = ${orgId} and b.finding_id = own.finding_id and b.source_id = own.source_id and b.track = ${into})`;
  await sql`
    insert into occurrences as known (org_id, finding_id, source_id, track, place, label, location, state, first_seen, last_seen)
    select own.org_id, own.finding_id, own.source_id, ${into}, own.place, own.label, own.location, own.state, own.first_seen, own.last_seen from occurrences own where ${gone}
    on conflict (org_id, finding_id, source_id, track, place) do update set
      state = case when excluded.state = 'present' then 'present' else known.state end,
      first_seen = least(known.first_seen, excluded.first_seen), last_seen = greatest(known.last_seen, excluded.last_seen)`.execute(tx);
  await sql`delete from occurrences own where ${gone}`.execute(tx);
  await sql`delete from sightings own where ${gone}`.execute(tx);
  await sql`
    update sightings s set track = ${into} from findings f
    where s.org_id = ${orgId} and s.track = ${from} and f.org_id = ${orgId} and f.id = s.finding_id and f.asset_id = ${assetId}`.execute(tx);
  await foldAgain(
    tx,
    actor,
    rows.map(({ id }) => id),
  );
  await countPlaces(tx, orgId, doubled);
  return moved;
}

async function seenOn(tx: TenantTx, orgId: string, { assetId, from, into }: Omit<TrackNumbers, 'versions'>): Promise<MovedSightings['seen']> {
  const { rows } = await sql<MovedSightings['seen'][number]>`
    select s.source_id, s.track, s.state, s.last_seen::text, s.seen_import_id as import_id, array_agg(s.finding_id) as ids from sightings s join findings f on f.org_id = ${orgId} and f.id = s.finding_id
    where s.org_id = ${orgId} and f.asset_id = ${assetId} and s.track in (${from}, ${into}) group by 1, 2, 3, 4, 5`.execute(tx);
  return rows;
}

interface Doubled extends Numbering {
  doubled: RawBuilder<unknown>;
}

/** The sightings of findings of which a source has one on each track, and their occurrences. */
async function rowsOf(tx: TenantTx, orgId: string, { doubled, from, into }: Doubled): Promise<MovedSightings['doubled']> {
  const [one, other] = [sql.lit(from), sql.lit(into)];
  const rows = async (table: 'sightings' | 'occurrences'): Promise<unknown[]> => {
    const found = await sql<{ row: unknown }>`
      select to_jsonb(own) as row from ${sql.table(table)} own where own.org_id = ${orgId} and own.finding_id in (${doubled}) and own.track in (${one}, ${other})
        and exists (select from sightings twin where twin.org_id = ${orgId} and twin.finding_id = own.finding_id and twin.source_id = own.source_id
          and twin.track = case own.track when ${one} then ${other} else ${one} end)`.execute(tx);
    return found.rows.map(({ row }) => row);
  };
  return { sightings: await rows('sightings'), occurrences: await rows('occurrences') };
}
