import { sql } from 'kysely';
import type { RunOfBuild, RunSeparation } from '../../../assets/assets.ts';
import type { TenantTx } from '../../../db/database.ts';
import { anyRows } from '../../../db/rows.ts';
import type { Actor } from '../../../shared/actor.ts';
import { foldAgain } from '../../endings/fold-again.ts';
import { type FindingFollower, idsSql } from '../../follower.ts';
import { countPlaces } from '../../merge/write-places.ts';
import { coverByRuns, keepLastSeen, setMissed } from '../cover-by-runs.ts';
import { reopenUnproven } from '../reopen-unproven.ts';
import { followDecisions } from '../split-findings.ts';
import { mergeTrackSightings } from './merge-track.ts';
import { separateClosures } from './move-closures.ts';
import { moveSightings, type Split } from './split-sightings.ts';

interface Builds {
  assetId: string;
  track: number;
  builds: readonly number[];
}

/** The runs that covered the builds of a track. */
export async function readRuns(tx: TenantTx, orgId: string, { assetId, track, builds }: Builds): Promise<RunOfBuild[]> {
  const { rows } = await sql<RunOfBuild>`
    select run.import_id, run.version_n as build, run.started_at, run.ended_at, i.scan_scope ? 'track' as is_stated
    from run_assets run join imports i on i.org_id = ${orgId} and i.id = run.import_id
    where run.org_id = ${orgId} and run.asset_id = ${assetId} and run.track = ${track} and run.version_n = any(${builds as number[]}::integer[])`.execute(tx);
  return rows;
}

/** A number that no track has. What moves to a track that has been scanned gets it until both are merged. */
const APART = 32_000;

/**
 * Moves what runs have shown from one track to another one. What each run has shown is not kept, so sightings that runs of both sides can have seen are on both
 * tracks then. What a run of one side did not show is not gone from the other. The runs `doubtful` stay and prove nothing.
 */
export async function separateRuns(tx: TenantTx, actor: Actor, follower: FindingFollower, separation: RunSeparation): Promise<void> {
  const { orgId } = actor;
  const { assetId, from, into, moved, doubtful } = separation;
  await keepLastSeen(tx, orgId, sql`f.asset_id = ${assetId}`);
  const isScanned = moved.length > 0 && (await hasRuns(tx, orgId, assetId, into));
  const split: Split = { orgId, assetId, from, into, to: isScanned ? APART : into, moved, imports: moved.map(({ import_id }) => import_id), doubtful };
  const ids = [...(await moveSightings(tx, split)), ...(await withdrawProofs(tx, split))];
  await moveRuns(tx, split);
  if (isScanned) await mergeTrackSightings(tx, actor, { assetId, from: APART, into, versions: [] });
  await foldAgain(tx, actor, ids);
  await countPlaces(tx, orgId, idsSql(ids));
  const reopened = await reopenUnproven(tx, actor, ids, 'track_unmerged');
  const changed = await followDecisions(tx, actor, ids);
  await follower.follow(tx, actor, idsSql([...reopened, ...changed]));
}

async function hasRuns(tx: TenantTx, orgId: string, assetId: string, track: number): Promise<boolean> {
  return anyRows(tx, sql`select from run_assets where org_id = ${orgId} and asset_id = ${assetId} and track = ${track}`);
}

/** Runs that stay on the track although they prove nothing there. Returns the findings that they had closed. */
async function withdrawProofs(tx: TenantTx, { orgId, assetId, from, doubtful }: Split): Promise<string[]> {
  if (doubtful.length === 0) return [];
  const imports = sql`${doubtful as string[]}::uuid[]`;
  await sql`
    update run_assets set complete = false where org_id = ${orgId} and asset_id = ${assetId} and track = ${from} and import_id = any(${imports})`.execute(tx);
  const { rows } = await sql<{ id: string }>`
    update sightings s set state = 'present', absence = null, absent_at = null, gaps = null, doubted = false,
      missed_at = s.absent_at, missed_import_id = s.last_import_id, missed_because = array['version_older'], last_import_id = s.seen_import_id
    from findings f
    where s.org_id = ${orgId} and f.org_id = ${orgId} and f.id = s.finding_id and f.asset_id = ${assetId} and s.track = ${from}
      and s.state = 'absent' and s.absence <> 'declared' and s.last_import_id = any(${imports})
    returning s.finding_id as id`.execute(tx);
  return rows.map(({ id }) => id);
}

/** What each track was scanned for follows from its runs. What the last complete one of them did not show was missed by it. */
async function moveRuns(tx: TenantTx, { orgId, assetId, from, to, moved }: Split): Promise<void> {
  await sql`
    update run_assets run set track = ${to}, version_n = moved.build from jsonb_to_recordset(${JSON.stringify(moved)}) as moved (import_id uuid, build integer)
    where run.org_id = ${orgId} and run.asset_id = ${assetId} and run.track = ${from} and run.import_id = moved.import_id`.execute(tx);
  await separateClosures(tx, orgId, { assetId, from, to });
  await coverByRuns(tx, orgId, sql`run.asset_id = ${assetId} and run.track in (${from}, ${to})`);
  await setMissed(tx, orgId, sql`c.asset_id = ${assetId} and c.track in (${from}, ${to})`);
}
