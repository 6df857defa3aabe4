import { sql } from 'kysely';
import type { AssetFollower, AssetRow } from '../../assets/assets.ts';
import { assetFacts } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import type { Actor } from '../../shared/actor.ts';
import { riskSql } from '../../vulnerabilities/risk.ts';
import type { FindingFollower } from '../follower.ts';
import { takeImportLock } from '../import-lock.ts';
import { activeStatuses, mayMove } from '../status.ts';

/** Rescores or withdraws the findings of an asset that changed. Takes the import lock, because imports read the asset too. */
export const followAsset = (follower: FindingFollower): AssetFollower => ({
  prepare: takeImportLock,
  async follow(tx, actor, before, after) {
    if (before.criticality !== after.criticality || before.exposure !== after.exposure) await rescore(tx, after);
    if (before.retired_at === null && after.retired_at !== null) {
      await withdraw(tx, actor, after);
      await follower.follow(tx, actor, sql`select id from findings where org_id = ${after.org_id} and asset_id = ${after.id} and status = 'withdrawn'`);
    }
  },
});

async function rescore(tx: TenantTx, { org_id, id }: AssetRow): Promise<void> {
  const risk = riskSql('f', 'a');
  await sql`
    update findings f set risk_score = ${risk}, version = f.version + 1, updated_at = now() from ${assetFacts} a
    where a.org_id = ${org_id} and a.id = ${id} and f.org_id = ${org_id} and f.asset_id = ${id} and f.risk_score <> ${risk}::real`.execute(tx);
}

const REASON = 'The asset was retired.';

async function withdraw(tx: TenantTx, actor: Actor, { org_id, id }: AssetRow): Promise<void> {
  const leaving = activeStatuses.filter((status) => mayMove(status, 'withdrawn', 'system'));
  const events = sql`select id::text as subject, jsonb_build_object('from', status, 'to', 'withdrawn', 'status_reason', ${REASON}::text) as data from leaving`;
  await sql`
    with leaving as (
      select f.id, f.status, f.assurance, f.status_reason from findings f
      where f.org_id = ${org_id} and f.asset_id = ${id} and f.status = any(${leaving})
      for no key update
    ), emitted as (
      ${emitSql(org_id, 'finding.status_changed', events)}
    ), recorded as (
      insert into finding_history (org_id, finding_id, id, actor_type, actor_id, actor_name, action, before, after, reason)
      select ${org_id}, id, new_id(), ${actor.type}, ${actor.id}, ${actor.name}, 'status_changed',
        jsonb_build_object('status', status, 'status_reason', status_reason, 'assurance', assurance),
        jsonb_build_object('status', 'withdrawn', 'status_reason', ${REASON}::text, 'assurance', null), ${REASON}
      from leaving
    )
    update findings f set status = 'withdrawn', status_reason = ${REASON}, status_changed_at = now(), status_changed_by = ${actor.id}, assurance = null,
      closed_at = now(), version = f.version + 1, updated_at = now()
    from leaving where f.org_id = ${org_id} and f.id = leaving.id`.execute(tx);
}
