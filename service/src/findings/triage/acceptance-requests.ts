import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import type { Actor } from '../../shared/actor.ts';
import { controlSql, type Decision, insertDecisions, voidRequests } from '../decisions/decisions.ts';
import { historySql } from '../history.ts';

/** Whether the same person has already requested exactly this acceptance of the finding, and it is pending. */
export function pendingSql({ orgId, person }: Actor, decision: Decision, finding: RawBuilder<unknown>): RawBuilder<boolean> {
  const { scope, reason, owner, expiresAt } = decision;
  return sql`exists (
    select from decisions d join findings f on f.org_id = d.org_id and f.id = d.finding_id where d.org_id = ${orgId} and d.finding_id = ${finding} and d.state = 'requested' and d.person is not distinct from ${person?.id ?? null}::text
      and d.scope = ${scope}::text and d.reason = ${reason}::text and d.owner = ${owner}::text and d.expires_at = ${expiresAt}::timestamptz(3)
      and d.compensating_control is not distinct from ${controlSql(decision, 'f')})`;
}

export async function isPending(tx: TenantTx, actor: Actor, decision: Decision, id: string): Promise<boolean> {
  const { rows } = await sql<{ pending: boolean }>`select ${pendingSql(actor, decision, sql`${id}::uuid`)} as pending`.execute(tx);
  return rows[0]?.pending ?? false;
}

/** What history, audit trail and events say about a request. */
export function requestOf({ person, name }: Actor, { owner, expiresAt, compensatingControl, scope, reason }: Decision) {
  return {
    owner,
    expires_at: expiresAt?.toISOString() ?? null,
    compensating_control: compensatingControl ?? null,
    scope,
    reason,
    requested_by: person?.name ?? name,
  };
}

/** Requests that a second person accepts the risk of findings, whose status does not change until then. Replaces requests that are pending. */
export async function requestAcceptances(tx: TenantTx, actor: Actor, decision: Decision, ids: readonly string[]): Promise<void> {
  const { orgId } = actor;
  await voidRequests(tx, orgId, ids, 'replaced');
  await insertDecisions(actor, decision, 'requested', ids).execute(tx);
  const request = sql`${JSON.stringify(requestOf(actor, decision))}::jsonb || jsonb_build_object('compensating_control', ${controlSql(decision, 'requested')})`;
  const entries = sql`select id as finding_id, 'acceptance_requested' as action, '{}'::jsonb as before, ${request} as after, ${decision.reason}::text as reason from requested`;
  const events = sql`select id::text as subject, ${request} as data from requested`;
  await sql`
    with requested as (
      update findings set version = version + 1, updated_at = now() where org_id = ${orgId} and id = any(${ids as string[]}::uuid[]) returning id, compensating_control
    ), recorded as (
      ${historySql(actor, entries)}
    )
    ${emitSql(orgId, 'finding.acceptance_requested', events)}`.execute(tx);
}
