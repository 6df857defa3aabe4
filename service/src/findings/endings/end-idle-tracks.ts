import { sql } from 'kysely';
import { type AssetTrack, endTracks, openBranches, organizationsWithBranches, tracksSql } from '../../assets/idle-tracks.ts';
import type { TenantTx } from '../../db/database.ts';
import { handle } from '../../jobs/jobs.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import { systemActor } from '../../shared/actor.ts';
import type { FindingFollower } from '../follower.ts';
import { takeImportLock } from '../import-lock.ts';
import { endIdleTracks } from '../jobs.ts';
import { endSightings } from './end-sightings.ts';

/** Ends pull requests and branches in development that have not been scanned for `track_days`, once a day. This proves nothing about their findings. */
export const idleTracks = (follower: FindingFollower) =>
  handle(
    endIdleTracks,
    async (_payload, { db, signal }) => {
      for (const orgId of await db.withSystem(organizationsWithBranches)) {
        signal.throwIfAborted();
        await db.withTenant({ orgId }, (tx) => endIdle(tx, orgId, follower));
      }
    },
    { schedule: '23 3 * * *' },
  );

async function endIdle(tx: TenantTx, orgId: string, follower: FindingFollower): Promise<void> {
  await takeImportLock(tx, orgId);
  const { track_days } = await readPolicy(tx, orgId);
  const { rows } = await sql<AssetTrack>`
    with scanned as materialized (
      select c.asset_id, c.track, max(c.seen_at) as seen_at from source_coverage c where c.org_id = ${orgId} group by 1, 2
    )
    select t.asset_id, t.n from ${openBranches} t left join scanned on scanned.asset_id = t.asset_id and scanned.track = t.n
    where t.org_id = ${orgId} and coalesce(scanned.seen_at, t.created_at) < now() - make_interval(days => ${track_days})`.execute(tx);
  if (rows.length === 0) return;
  const actor = systemActor(orgId, 'worker');
  await endTracks(tx, actor, rows, `No scan for ${track_days} days.`);
  const where = sql<boolean>`exists (select from findings f join ${tracksSql(rows)} on ended.asset_id = f.asset_id where f.org_id = ${orgId} and f.id = s.finding_id and ended.n = s.track)`;
  await endSightings(tx, actor, follower, { code: 'track_ended', where });
}
