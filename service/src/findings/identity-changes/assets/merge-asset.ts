import { type RawBuilder, sql } from 'kysely';
import type { AssetMerge } from '../../../assets/assets.ts';
import type { TenantTx } from '../../../db/database.ts';
import type { Actor } from '../../../shared/actor.ts';
import { type FindingFollower, idsSql } from '../../follower.ts';
import { keepLastSeen } from '../cover-by-runs.ts';
import { mergeFindings } from '../merge-findings.ts';
import { moveStored } from '../stored-sightings.ts';
import { moveCoverage, type StoredCoverage } from './move-coverage.ts';
import { readSeenBefore, type SeenBefore } from './seen.ts';
import { readStatusesBefore, type StatusBefore } from './statuses.ts';

type Numbered = AssetMerge['tracks'];
export interface MovedFindings {
  ids: string[];
  /** Findings that were already merged into others. */
  merged: string[];
  coverage: StoredCoverage;
  seen: SeenBefore[];
  statuses: StatusBefore[];
}

/** Moves the findings of a merged asset to the one that stays. Findings that both have become one. */
export async function mergeAssetFindings(
  tx: TenantTx,
  actor: Actor,
  follower: FindingFollower,
  { from, into, mergeId, reason, tracks, versions }: AssetMerge & { versions: Numbered },
): Promise<MovedFindings> {
  const { orgId } = actor;
  await keepLastSeen(tx, orgId, sql`f.asset_id in (${from}, ${into})`);
  const coverage = await moveCoverage(tx, orgId, { from, into, tracks, versions });
  const { rows } = await sql<{
    id: string;
  }>`select id from findings where org_id = ${orgId} and asset_id = ${from} and merged_into is null order by id`.execute(tx);
  const ids = rows.map(({ id }) => id);
  await renumberTracks(tx, orgId, ids, tracks);
  const seen = await readSeenBefore(tx, orgId, { from, into });
  const statuses = await readStatusesBefore(tx, orgId, [from, into]);
  const pairs = await mergeFindings(tx, actor, meetingSql(orgId, from, into), { kind: 'asset_merge', reason, assetMergeId: mergeId });
  const merged = await moveFindings(tx, orgId, [...ids, ...pairs.map(({ into_id }) => into_id)], { from, into });
  await follower.moveLinks(tx, actor, pairs);
  await follower.follow(tx, actor, idsSql([...ids, ...pairs.map(({ into_id }) => into_id)]));
  return { ids, merged, coverage, seen, statuses };
}

/** Also of what findings said before they were merged, and of what imports that wait for confirmation no longer showed. In two steps, because two tracks may exchange their numbers. */
export async function renumberTracks(tx: TenantTx, orgId: string, ids: readonly string[], tracks: Numbered): Promise<void> {
  const changed = tracks.filter((track) => track.from !== track.into);
  if (changed.length === 0) return;
  const numbers = sql`jsonb_to_recordset(${JSON.stringify(changed)}) as track ("from" smallint, "into" smallint)`;
  const moved = sql`r.b in (select f.id from findings f where f.org_id = ${orgId} and coalesce(f.merged_into, f.id) in (${idsSql(ids)}))`;
  await moveStored(tx, orgId, moved, () => sql`select coalesce((select track."into" from ${numbers} where track."from" = s.track), s.track)`);
  const apart = 16_000;
  await sql`
    update sightings s set track = track."into" + ${apart}::smallint from ${numbers}
    where s.org_id = ${orgId} and s.finding_id in (${idsSql(ids)}) and s.track = track."from"`.execute(tx);
  await sql`
    update sightings s set track = s.track - ${apart}::smallint where s.org_id = ${orgId} and s.finding_id in (${idsSql(ids)}) and s.track >= ${apart}::smallint`.execute(
    tx,
  );
  const ofFinding = sql`f.org_id = ${orgId} and f.id = c.finding_id and coalesce(f.merged_into, f.id) in (${idsSql(ids)})`;
  await sql`
    update import_closures c set track = track."into" + ${apart}::smallint from ${numbers}, findings f
    where c.org_id = ${orgId} and ${ofFinding} and c.track = track."from"`.execute(tx);
  await sql`
    update import_closures c set track = c.track - ${apart}::smallint from findings f where c.org_id = ${orgId} and ${ofFinding} and c.track >= ${apart}::smallint`.execute(
    tx,
  );
}

/** The findings of both assets that are one. The older one stays, unless others were merged into the one of the asset that stays. */
function meetingSql(orgId: string, from: string, into: string): RawBuilder<unknown> {
  return sql`
    select case when stays then met.id else f.id end as from_id, case when stays then f.id else met.id end as into_id
    from findings f
    join findings same on same.org_id = ${orgId} and same.asset_id = ${into} and same.weakness = f.weakness and same.identity_key = f.identity_key
    join findings met on met.org_id = ${orgId} and met.id = coalesce(same.merged_into, same.id)
    cross join lateral (
      select (f.created_at, f.id) < (met.created_at, met.id) and not exists (select from findings others where others.org_id = ${orgId} and others.merged_into = met.id) as stays
    ) older
    where f.org_id = ${orgId} and f.asset_id = ${from} and f.merged_into is null`;
}

/**
 * Moves findings to another asset, with those that are merged into them. If the other asset has a finding with the identity of one of them, which is merged,
 * the two change places. Returns those that are merged into others.
 */
export async function moveFindings(tx: TenantTx, orgId: string, ids: readonly string[], { from, into }: { from: string; into: string }): Promise<string[]> {
  const { rows } = await sql<{ id: string; other: string }>`
    select f.id, other.id as other from findings f
    join findings other on other.org_id = ${orgId} and other.asset_id = ${into} and other.weakness = f.weakness and other.identity_key = f.identity_key
    where f.org_id = ${orgId} and f.id in (${idsSql(ids)}) and f.asset_id = ${from} and f.merged_into is null`.execute(tx);
  const others = idsSql(rows.map(({ other }) => other));
  const marked = sql`'\\x00'::bytea`;
  await sql`update findings set identity_key = identity_key || ${marked} where org_id = ${orgId} and id in (${others})`.execute(tx);
  await sql`
    update findings set asset_id = ${into}, version = version + 1, updated_at = now()
    where org_id = ${orgId} and id in (${idsSql(ids)}) and asset_id = ${from} and merged_into is null`.execute(tx);
  await sql`
    update findings set asset_id = ${from}, identity_key = substring(identity_key from 1 for length(identity_key) - 1) where org_id = ${orgId} and id in (${others})`.execute(
    tx,
  );
  const merged = await sql<{ id: string }>`
    update findings f set asset_id = ${into}, version = version + 1, updated_at = now()
    where f.org_id = ${orgId} and f.merged_into in (${idsSql(ids)}) and f.asset_id = ${from} and not exists (
      select from findings same where same.org_id = ${orgId} and same.asset_id = ${into} and same.weakness = f.weakness and same.identity_key = f.identity_key)
    returning f.id`.execute(tx);
  return merged.rows.map(({ id }) => id);
}
