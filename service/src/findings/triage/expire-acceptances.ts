import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import { handle } from '../../jobs/jobs.ts';
import { applySla } from '../../organizations/jobs.ts';
import { readPolicy } from '../../organizations/read-policy.ts';
import { systemActor } from '../../shared/actor.ts';
import { stillReported } from '../decisions/sightings.ts';
import { type FindingFollower, idsSql } from '../follower.ts';
import { historySql } from '../history.ts';
import { takeImportLock } from '../import-lock.ts';
import { expireAcceptances } from '../jobs.ts';
import { reasonSentences } from '../reason-codes.ts';
import { dueSql } from '../sla.ts';
import { activeStatuses, type Status } from '../status.ts';

/**
 * Ends risk acceptances that have expired, once a minute. A finding that every source has shown to be gone becomes verified, because an acceptance
 * does not undo that proof. All others are open again.
 */
export const acceptanceExpiry = (follower: FindingFollower) =>
  handle(
    expireAcceptances,
    async (_payload, { db, signal }) => {
      const { rows } = await db.withSystem((tx) =>
        sql<{ org_id: string }>`select distinct org_id from findings where status = 'risk_accepted' and acceptance_expires_at <= now()`.execute(tx),
      );
      for (const { org_id: orgId } of rows) {
        signal.throwIfAborted();
        await db.withTenant({ orgId }, (tx) => endExpired(tx, orgId, follower));
      }
    },
    { schedule: '* * * * *' },
  );

async function endExpired(tx: TenantTx, orgId: string, follower: FindingFollower): Promise<void> {
  await takeImportLock(tx, orgId);
  const actor = systemActor(orgId, 'worker');
  const { sla } = await readPolicy(tx, orgId);
  const became = sql`jsonb_build_object('status', "to", 'reason_code', code, 'status_reason', sentence, 'assurance', assurance, 'acceptance_owner', null, 'acceptance_expires_at', null,
    'compensating_control', null)`;
  const entries = sql`
    select id as finding_id, 'status_changed' as action, jsonb_build_object('status', 'risk_accepted', 'reason_code', reason_code, 'status_reason', status_reason,
      'acceptance_owner', acceptance_owner, 'acceptance_expires_at', acceptance_expires_at, 'compensating_control', compensating_control) as before, ${became} as after, sentence as reason from expired`;
  const events = sql`
    select id::text as subject, jsonb_build_object('from', 'risk_accepted', 'to', "to", 'reason_code', code, 'status_reason', sentence) as data from expired`;
  const { rows } = await sql<{ id: string; status: Status }>`
    with expired as materialized (
      select f.id, f.reason_code, f.status_reason, f.acceptance_owner, f.acceptance_expires_at, f.compensating_control, result.*
      from findings f cross join lateral (select ${stillReported(orgId, sql`f.id`)} as reported offset 0) seen
      join (values (true, 'open', 'acceptance_expired', ${reasonSentences.acceptance_expired}, null), (false, 'verified', 'acceptance_fixed', ${reasonSentences.acceptance_fixed}, 'scan_only'))
        as result (reported, "to", code, sentence, assurance) on result.reported = seen.reported
      where f.org_id = ${orgId} and f.status = 'risk_accepted' and f.acceptance_expires_at <= now()
      for no key update of f
    ), ended as (
      update decisions d set state = case d.state when 'active' then 'ended' else 'void' end, ended_at = now(), ended_reason = expired.code from expired
      where d.org_id = ${orgId} and d.finding_id = expired.id and (d.state = 'active' or (d.state = 'requested' and expired."to" = 'verified'))
    ), emitted as (
      ${emitSql(orgId, 'finding.status_changed', events)}
    ), recorded as (
      ${historySql(actor, entries)}
    )
    update findings f set status = expired."to", status_reason = expired.sentence, reason_code = expired.code, status_changed_at = now(), status_changed_by = null,
      assurance = expired.assurance, acceptance_owner = null, acceptance_expires_at = null, compensating_control = null, closed_at = case when expired."to" = 'verified' then now() end,
      due_at = case when expired."to" = 'open' then ${dueSql(sla, sql`f.clock_from`, sql`f.severity`, sql`f.kev`)} else f.due_at end,
      version = f.version + 1, updated_at = now()
    from expired where f.org_id = ${orgId} and f.id = expired.id
    returning f.id, f.status`.execute(tx);
  if (rows.length === 0) return;
  const verified = rows.filter(({ status }) => status === 'verified').length;
  const after = { reopened: rows.length - verified, verified };
  await recordAudit(tx, actor, { action: 'finding.acceptances_expired', objectType: 'organization', objectId: orgId, after });
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
