import { sql } from 'kysely';
import type { AssetFollower, AssetRow } from '../../assets/assets.ts';
import { assetFacts } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import type { Actor } from '../../shared/actor.ts';
import { riskSql } from '../../vulnerabilities/risk.ts';
import { voidRequestsOfClosed } from '../decisions/decisions.ts';
import { endSightings } from '../endings/end-sightings.ts';
import { isDefaultScanned, uncountBranches } from '../endings/uncount-branches.ts';
import { type FindingFollower, idsSql } from '../follower.ts';
import { historySql } from '../history.ts';
import { takeImportLock } from '../import-lock.ts';
import { reasonSentences } from '../reason-codes.ts';
import { activeStatuses, mayMove } from '../status.ts';
import { wordsOfName } from '../words.ts';
import { mergeAssetFindings } from './assets/merge-asset.ts';
import { unmergeAssetFindings } from './assets/unmerge-asset.ts';
import { refreshNameWords } from './refresh-words.ts';
import { mergeTrackSightings } from './tracks/merge-track.ts';
import { readRuns, separateRuns } from './tracks/separate-runs.ts';
import { unmergeTrackSightings } from './tracks/unmerge-track.ts';

/** Rescores or withdraws the findings of an asset that changed. Takes the import lock, because imports read the asset too. */
export const followAsset = (follower: FindingFollower): AssetFollower => ({
  prepare: takeImportLock,
  wordsOf: wordsOfName,
  async follow(tx, actor, before, after) {
    if (before.criticality !== after.criticality || before.exposure !== after.exposure) await rescore(tx, after);
    if (before.name !== after.name) {
      const ids = sql`select id from findings where org_id = ${after.org_id} and asset_id = ${after.id}`;
      await refreshNameWords(tx, after.org_id, { ids, from: before.name, to: after.name });
    }
    if (before.retired_at === null && after.retired_at !== null) {
      await withdraw(tx, actor, after);
      const withdrawn = sql`select id from findings where org_id = ${after.org_id} and asset_id = ${after.id} and status = 'withdrawn'`;
      await voidRequestsOfClosed(tx, after.org_id, withdrawn);
      await follower.follow(tx, actor, withdrawn);
    }
  },
  async endTrack(tx, actor, { assetId, track }) {
    const onTrack = sql<boolean>`s.track = ${track} and s.finding_id in (select f.id from findings f where f.org_id = ${actor.orgId} and f.asset_id = ${assetId})`;
    await endSightings(tx, actor, follower, { code: 'track_ended', where: onTrack });
  },
  mergeTrack: mergeTrackSightings,
  unmergeTrack: (tx, actor, merge) => unmergeTrackSightings(tx, actor, follower, merge),
  runsOf: readRuns,
  isDefaultScanned,
  uncount: (tx, actor, branches) => uncountBranches(tx, actor, follower, branches),
  separateRuns: (tx, actor, separation) => separateRuns(tx, actor, follower, separation),
  async merge(tx, actor, merge) {
    const moved = await mergeAssetFindings(tx, actor, follower, merge);
    await rescore(tx, { org_id: actor.orgId, id: merge.into });
    if (merge.renames) await renameMoved(tx, actor.orgId, moved.ids, { from: merge.from, to: merge.into });
    return moved;
  },
  async unmerge(tx, actor, merge) {
    const { ids, separated } = await unmergeAssetFindings(tx, actor, follower, merge);
    for (const id of [merge.from, merge.into]) await rescore(tx, { org_id: actor.orgId, id });
    await renameMoved(tx, actor.orgId, ids, { from: merge.into, to: merge.from });
    return separated;
  },
});

/** Lets findings that moved to another asset be found by its name. */
async function renameMoved(tx: TenantTx, orgId: string, ids: readonly string[], { from, to }: { from: string; to: string }): Promise<void> {
  const names = await tx.selectFrom(assetFacts.as('assets')).select(['id', 'name']).where('org_id', '=', orgId).where('id', 'in', [from, to]).execute();
  const nameOf = (id: string): string => names.find((asset) => asset.id === id)?.name ?? '';
  await refreshNameWords(tx, orgId, { ids: idsSql(ids), from: nameOf(from), to: nameOf(to) });
}

async function rescore(tx: TenantTx, { org_id, id }: Pick<AssetRow, 'org_id' | 'id'>): Promise<void> {
  const risk = riskSql('f', 'a');
  await sql`
    update findings f set risk_score = ${risk}, version = f.version + 1, updated_at = now() from ${assetFacts} a
    where a.org_id = ${org_id} and a.id = ${id} and f.org_id = ${org_id} and f.asset_id = ${id} and f.risk_score <> ${risk}::real`.execute(tx);
}

async function withdraw(tx: TenantTx, actor: Actor, { org_id, id }: AssetRow): Promise<void> {
  const leaving = activeStatuses.filter((status) => mayMove(status, 'withdrawn', 'system'));
  const sentence = sql`${reasonSentences.asset_retired}::text`;
  const events = sql`
    select id::text as subject, jsonb_build_object('from', status, 'to', 'withdrawn', 'reason_code', 'asset_retired', 'status_reason', ${sentence}) as data from leaving`;
  const entries = sql`
    select id as finding_id, 'status_changed' as action, jsonb_build_object('status', status, 'reason_code', reason_code, 'status_reason', status_reason, 'assurance', assurance) as before,
      jsonb_build_object('status', 'withdrawn', 'reason_code', 'asset_retired', 'status_reason', ${sentence}, 'assurance', null) as after, ${sentence} as reason
    from leaving`;
  await sql`
    with leaving as (
      select f.id, f.status, f.assurance, f.status_reason, f.reason_code from findings f
      where f.org_id = ${org_id} and f.asset_id = ${id} and f.status = any(${leaving})
      for no key update
    ), emitted as (
      ${emitSql(org_id, 'finding.status_changed', events)}
    ), recorded as (
      ${historySql(actor, entries)}
    )
    update findings f set status = 'withdrawn', status_reason = ${sentence}, reason_code = 'asset_retired', status_changed_at = now(),
      status_changed_by = ${actor.person?.id ?? null}::text, assurance = null, closed_at = now(), version = f.version + 1, updated_at = now()
    from leaving where f.org_id = ${org_id} and f.id = leaving.id`.execute(tx);
}
