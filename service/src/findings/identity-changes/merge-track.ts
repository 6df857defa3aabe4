import { sql } from 'kysely';
import type { TrackNumbers } from '../../assets/assets.ts';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { foldAgain } from '../endings/fold-again.ts';
import { idsSql } from '../follower.ts';
import { saidByFindingSql } from '../merge/merged-values.ts';
import { countPlaces } from '../merge/write-places.ts';
import { keepLastSeen } from './merge-asset.ts';
import { moveTrackCoverage } from './move-coverage.ts';
import { copied } from './move-sightings.ts';

/**
 * Moves what sources say from one track of an asset to another. If a source has a sighting of a finding on both, the present or else the newer one stays.
 * Nothing is closed or reopened: the next scan decides.
 */
export async function mergeTrackSightings(tx: TenantTx, actor: Actor, { assetId, from, into, versions }: TrackNumbers): Promise<void> {
  const { orgId } = actor;
  await keepLastSeen(tx, orgId, [assetId]);
  await moveTrackCoverage(tx, orgId, { assetId, from, into, versions });
  const both = sql`
    sightings a join sightings b on b.org_id = ${orgId} and b.finding_id = a.finding_id and b.source_id = a.source_id and b.track = ${into}
    join findings f on f.org_id = ${orgId} and f.id = a.finding_id and f.asset_id = ${assetId}`;
  const { rows } = await sql<{ id: string }>`select distinct a.finding_id as id from ${both} where a.org_id = ${orgId} and a.track = ${from}`.execute(tx);
  const doubled = idsSql(rows.map(({ id }) => id));
  await sql`
    update sightings s set said = ${saidByFindingSql} from findings f
    where s.org_id = ${orgId} and s.said is null and f.org_id = ${orgId} and f.id = s.finding_id and f.id in (${doubled})`.execute(tx);
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
}
