import { sql } from 'kysely';
import { type AssetTrack, endTracks, openBranches, tracksSql } from '../../assets/idle-tracks.ts';
import { trackOf } from '../../assets/names/track.ts';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import type { FindingFollower } from '../follower.ts';
import { endSightings } from './end-sightings.ts';

interface Named {
  /** Names of pull requests and branches, as a pipeline writes them. */
  names: readonly string[];
  assets: readonly string[];
}

/** Ends the pull requests and branches that a pipeline says have been merged or closed. Returns the names that end nothing. */
export async function endNamedTracks(tx: TenantTx, actor: Actor, follower: FindingFollower, { names, assets }: Named): Promise<string[]> {
  const { orgId } = actor;
  const tracks = names.map(trackNamed);
  const { rows } = await sql<AssetTrack & { name: string }>`
    select t.asset_id, t.n, t.name from ${openBranches} t
    where t.org_id = ${orgId} and t.asset_id = any(${assets as string[]}::uuid[]) and t.name = any(${tracks}::text[])`.execute(tx);
  if (rows.length > 0) {
    await endTracks(tx, actor, rows, 'The pipeline says that it was merged or closed.');
    const where = sql<boolean>`exists (select from findings f join ${tracksSql(rows)} on ended.asset_id = f.asset_id where f.org_id = ${orgId} and f.id = s.finding_id and ended.n = s.track)`;
    await endSightings(tx, actor, follower, { code: 'track_ended', where });
  }
  return names.filter((_, at) => rows.every(({ name }) => name !== tracks[at]));
}

/** `refs/pull/17/merge` is the track `pr-17`. */
function trackNamed(name: string): string {
  const track = trackOf({ type: 'repository', ref: name, tag: null, digest: null, commit: null }, { track_names: [] });
  return 'error' in track ? name.toLowerCase() : track.track;
}
