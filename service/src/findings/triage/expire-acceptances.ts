import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import { handle } from '../../jobs/jobs.ts';
import { applySla } from '../../organizations/jobs.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import { systemActor } from '../../shared/actor.ts';
import { type FindingFollower, idsSql } from '../follower.ts';
import { takeImportLock } from '../import-lock.ts';
import { expireAcceptances } from '../jobs.ts';
import { dueSql } from '../sla.ts';
import { activeStatuses } from '../status.ts';

/** Reopens findings whose risk acceptance has expired. Runs once a minute. */
export const acceptanceExpiry = (follower: FindingFollower) =>
  handle(
    expireAcceptances,
    async (_payload, { db, signal }) => {
      const { rows } = await db.withSystem((tx) =>
        sql<{ org_id: string }>`select distinct org_id from findings where status = 'risk_accepted' and acceptance_expires_at <= now()`.execute(tx),
      );
      for (const { org_id: orgId } of rows) {
        signal.throwIfAborted();
        await db.withTenant({ orgId }, (tx) => reopenExpired(tx, orgId, follower));
      }
    },
    '* * * * *',
  );

const EXPIRED = 'The risk acceptance expired.';

async function reopenExpired(tx: TenantTx, orgId: string, follower: FindingFollower): Promise<void> {
  await takeImportLock(tx, orgId);
  const actor = systemActor(orgId, 'worker');
  const events = sql`select id::text as subject, jsonb_build_object('from', 'risk_accepted', 'to', 'open', 'status_reason', ${EXPIRED}::text) as data from expired`;
  const { rows } = await sql<{ id: string }>`
    with expired as (
      select id, status_reason, acceptance_owner, acceptance_expires_at from findings
      where org_id = ${orgId} and status = 'risk_accepted' and acceptance_expires_at <= now()
      for no key update
    ), emitted as (
      ${emitSql(orgId, 'finding.status_changed', events)}
    ), recorded as (
      insert into finding_history (org_id, finding_id, id, actor_type, actor_id, actor_name, action, before, after, reason)
      select ${orgId}, id, new_id(), ${actor.type}, ${actor.id}, ${actor.name}, 'status_changed',
        jsonb_build_object('status', 'risk_accepted', 'status_reason', status_reason, 'acceptance_owner', acceptance_owner, 'acceptance_expires_at', acceptance_expires_at),
        jsonb_build_object('status', 'open', 'status_reason', ${EXPIRED}::text, 'acceptance_owner', null, 'acceptance_expires_at', null), ${EXPIRED}
      from expired
    )
      update findings f set status = 'open', status_reason = ${EXPIRED}, status_changed_at = now(), status_changed_by = null,
        acceptance_owner = null, acceptance_expires_at = null, closed_at = null, version = f.version + 1, updated_at = now()
      from expired where f.org_id = ${orgId} and f.id = expired.id
      returning f.id`.execute(tx);
  if (rows.length === 0) return;
  await recordAudit(tx, actor, { action: 'finding.acceptances_expired', objectType: 'organization', objectId: orgId, after: { reopened: rows.length } });
  await follower.follow(tx, actor, idsSql(rows.map(({ id }) => id)));
}

/** Recomputes the deadlines of active findings from the current SLA. They count from when the finding was first seen or last reopened by a scan. */
export const slaChange = handle(applySla, async ({ org_id: orgId }, { db }) => {
  await db.withTenant({ orgId }, async (tx) => {
    await takeImportLock(tx, orgId);
    const { sla } = await readPolicy(tx, orgId);
    const due = dueSql(sla, sql`f.clock_from`, sql`f.severity`, sql`f.kev`);
    await sql`
      update findings f set due_at = ${due}, version = f.version + 1, updated_at = now()
      where f.org_id = ${orgId} and f.status = any(${activeStatuses as readonly string[]}) and f.due_at is distinct from ${due}`.execute(tx);
  });
});
