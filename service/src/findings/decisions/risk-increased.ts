import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import type { OrganizationPolicy } from '../../organizations/policy.ts';
import { type HistoryActor, historySql } from '../history.ts';
import { reasonSentences } from '../reason-codes.ts';
import { scanOfSql } from '../scan-of.ts';
import { dueSql } from '../sla.ts';
import { stillReported } from './sightings.ts';

interface Scope {
  /** Selects the findings whose severity or KEV listing may have changed. May select more. */
  ids: RawBuilder<unknown>;
  sla: OrganizationPolicy['sla'];
  /** The import that made the change. */
  importId?: string;
}

/**
 * Reopens accepted findings that are more severe than when they were accepted, or were listed as exploited since. Returns their ids, which the
 * caller passes to the follower. Findings that no source reports any more stay accepted: there is nothing to work on.
 */
export function reopenRiskIncreased(tx: TenantTx, actor: HistoryActor, scope: Scope): Promise<string[]> {
  const where = sql<boolean>`(f.severity > d.severity or (f.kev and not d.kev)) and ${stillReported(actor.orgId, sql`f.id`)}`;
  return reopenAccepted(tx, actor, scope, { code: 'risk_increased', where });
}

/**
 * Reopens accepted findings that are back on a track from which they were gone, while another track still has them. The risk was accepted where it was,
 * not where it had been fixed. Returns their ids.
 */
export function reopenRegressions(tx: TenantTx, actor: HistoryActor, scope: Pick<Scope, 'sla'> & { importId: string }): Promise<string[]> {
  const returned = sql`
    select g.finding_id from tenant_import_groups g where g.org_id = ${actor.orgId} and g.import_id = ${scope.importId} and g.was_gone and g.outcome in ('returned', 'joined') and g.counts`;
  return reopenAccepted(tx, actor, { ...scope, ids: returned }, { code: 'regression', where: sql<boolean>`true` });
}

interface Why {
  code: 'risk_increased' | 'regression';
  /** A condition on the finding `f` and its acceptance `d`. */
  where: RawBuilder<boolean>;
}

async function reopenAccepted(tx: TenantTx, actor: HistoryActor, { ids, sla, importId }: Scope, { code, where }: Why): Promise<string[]> {
  const { orgId } = actor;
  const sentence = sql`${reasonSentences[code]}::text`;
  const became = sql`jsonb_build_object('status', 'open', 'reason_code', ${code}::text, 'status_reason', ${sentence}, 'acceptance_owner', null, 'acceptance_expires_at', null, 'compensating_control', null) || scan`;
  const entries = sql`
    select id as finding_id, 'status_changed' as action, jsonb_build_object('status', 'risk_accepted', 'reason_code', reason_code, 'status_reason', status_reason,
      'acceptance_owner', acceptance_owner, 'acceptance_expires_at', acceptance_expires_at, 'compensating_control', compensating_control) as before, ${became} as after, ${sentence} as reason from reopened`;
  const events = sql`
    select id::text as subject, jsonb_build_object('from', 'risk_accepted', 'to', 'open', 'reason_code', ${code}::text, 'status_reason', ${sentence}, 'import_id', ${importId ?? null}::text) || scan as data from reopened`;
  const { rows } = await sql<{ id: string }>`
    with reopened as materialized (
      select f.id, f.reason_code, f.status_reason, f.acceptance_owner, f.acceptance_expires_at, f.compensating_control, ${scanOfSql(orgId, importId ?? null, sql`f.id`)} as scan
      from findings f join decisions d on d.org_id = ${orgId} and d.finding_id = f.id and d.kind = 'acceptance' and d.state = 'active'
      where f.org_id = ${orgId} and f.status = 'risk_accepted' and f.id in (${ids}) and ${where}
      for no key update of f
    ), ended as (
      update decisions d set state = 'ended', ended_at = now(), ended_reason = ${code}::text from reopened
      where d.org_id = ${orgId} and d.finding_id = reopened.id and d.state = 'active'
    ), recorded as (
      ${historySql(actor, entries, importId ?? null)}
    ), emitted as (
      ${emitSql(orgId, 'finding.status_changed', events)}
    )
    update findings f set status = 'open', status_reason = ${sentence}, reason_code = ${code}::text, status_changed_at = now(),
      status_changed_by = null, acceptance_owner = null, acceptance_expires_at = null, compensating_control = null, closed_at = null,
      due_at = ${dueSql(sla, sql`f.clock_from`, sql`f.severity`, sql`f.kev`)}, version = f.version + 1, updated_at = now()
    from reopened where f.org_id = ${orgId} and f.id = reopened.id
    returning f.id`.execute(tx);
  return rows.map(({ id }) => id);
}
