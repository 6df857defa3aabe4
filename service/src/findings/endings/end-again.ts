import { sql } from 'kysely';
import { assetTracks } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { type FindingFollower, idsSql } from '../follower.ts';
import { endSightings } from './end-sightings.ts';

/**
 * Findings that are separate again say what they said before they became one. What has been retired or ended since then stays so: an import puts a source
 * back in use, and only a scan after its end a track. Call it before links of the findings are restored.
 */
export async function endAgain(tx: TenantTx, actor: Actor, follower: FindingFollower, ids: readonly string[]): Promise<void> {
  const { orgId } = actor;
  const ofFindings = sql`s.finding_id in (${idsSql(ids)})`;
  const isRetired = sql`exists (select from sources o where o.org_id = ${orgId} and o.id = s.source_id and o.retired_at is not null)`;
  const isEnded = sql`exists (
    select from ${assetTracks} track join imports i on i.org_id = ${orgId} and i.id = s.seen_import_id and i.created_at < track.ended_at
    where track.org_id = ${orgId} and track.asset_id = f.asset_id and track.n = s.track)`;
  await endSightings(tx, actor, follower, { code: 'source_retired', where: sql<boolean>`${ofFindings} and ${isRetired}` });
  await endSightings(tx, actor, follower, { code: 'track_ended', where: sql<boolean>`${ofFindings} and ${isEnded}` });
}
