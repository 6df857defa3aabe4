import { isScan } from '@rrs/scan-reports';
import { type RawBuilder, sql } from 'kysely';
import type { Uncounted } from '../../assets/assets.ts';
import { assetTracks } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { type FindingFollower, idsSql } from '../follower.ts';
import type { HistoryActor } from '../history.ts';
import { closeUnseen } from '../merge/change-status.ts';
import { countPlaces } from '../merge/write-places.ts';
import { foldAgain } from './fold-again.ts';

/** Branches of an asset that are to count no longer. */
interface Branches {
  importId: string;
  assetId: string;
  tracks: readonly number[];
}

const onTracks = (orgId: string, tracks: readonly number[]): RawBuilder<unknown> =>
  sql`exists (select from sightings s where s.org_id = ${orgId} and s.finding_id = f.id and s.track = any(${tracks as number[]}::smallint[]))`;

/** Whether a track that counts has the finding `f`, other than these. */
const onOthers = (orgId: string, tracks: readonly number[]): RawBuilder<unknown> => sql`exists (
  select from sightings s left join ${assetTracks} track on track.org_id = ${orgId} and track.asset_id = f.asset_id and track.n = s.track
  where s.org_id = ${orgId} and s.finding_id = f.id and s.track <> all(${tracks as number[]}::smallint[]) and coalesce(track.counts, true))`;

/**
 * Treats what branches have like that of pull requests from now on: what no other track has is not listed, and of the rest, what the branches say no longer
 * matters. A branch goes on counting if people work with what only it has. Returns which those are, and how many findings are not listed any more.
 */
export async function uncountBranches(tx: TenantTx, actor: HistoryActor, follower: FindingFollower, branches: Branches): Promise<Uncounted> {
  const { orgId } = actor;
  const { assetId, tracks, importId } = branches;
  const counting = await workedOn(tx, orgId, follower, branches);
  const over = tracks.filter((track) => !counting.includes(track));
  if (over.length === 0) return { counting, unlisted: 0 };
  const had = sql`f.org_id = ${orgId} and f.asset_id = ${assetId} and f.merged_into is null and ${onTracks(orgId, over)}`;
  const { rows: kept } = await sql<{ id: string }>`select f.id from findings f where ${had} and f.listed and ${onOthers(orgId, over)}`.execute(tx);
  const { numAffectedRows: unlisted = 0n } = await sql`
    update findings f set listed = false, version = f.version + 1, updated_at = now() where ${had} and f.listed and not ${onOthers(orgId, over)}`.execute(tx);
  if (kept.length > 0) {
    const ids = kept.map(({ id }) => id);
    for (const table of ['occurrences', 'sightings'])
      await sql`
        delete from ${sql.table(table)} own where own.org_id = ${orgId} and own.finding_id in (${idsSql(ids)}) and own.track = any(${over}::smallint[])`.execute(
        tx,
      );
    await foldAgain(tx, actor, ids);
    await sql`
      update findings f set first_seen = seen.first, last_seen = seen.last
      from (select finding_id, min(first_seen) as first, max(last_seen) as last from sightings where org_id = ${orgId} and finding_id in (${idsSql(ids)}) group by 1) seen
      where f.org_id = ${orgId} and f.id = seen.finding_id`.execute(tx);
    await countPlaces(tx, orgId, idsSql(ids));
    await closeUnseen(tx, { orgId, importId, actor }, idsSql(ids));
  }
  return { counting, unlisted: Number(unlisted) };
}

export async function isDefaultScanned(tx: TenantTx, orgId: string, assetId: string): Promise<boolean> {
  const { rows } = await sql<{ provider: string; tool: string }>`
    select distinct o.provider, o.tool from run_assets run join sources o on o.org_id = ${orgId} and o.id = run.source_id
    where run.org_id = ${orgId} and run.asset_id = ${assetId} and run.track = 0`.execute(tx);
  return rows.some(isScan);
}

/** The branches with findings that no other track has, and that a person has decided about or put on a work item. */
async function workedOn(tx: TenantTx, orgId: string, follower: FindingFollower, { assetId, tracks }: Branches): Promise<number[]> {
  const own = sql`f.org_id = ${orgId} and f.asset_id = ${assetId} and f.listed and f.merged_into is null and ${onTracks(orgId, tracks)} and not ${onOthers(orgId, tracks)}`;
  const linked = await follower.onWorkItems(tx, orgId, sql`select f.id from findings f where ${own}`);
  const { rows } = await sql<{ track: number }>`
    select distinct s.track from findings f join sightings s on s.org_id = ${orgId} and s.finding_id = f.id and s.track = any(${tracks as number[]}::smallint[])
    where ${own} and (f.id in (${idsSql(linked)}) or f.status_changed_by is not null or f.status in ('in_progress', 'risk_accepted', 'false_positive')
      or exists (select from decisions d where d.org_id = ${orgId} and d.finding_id = f.id))`.execute(tx);
  return rows.map(({ track }) => track);
}
