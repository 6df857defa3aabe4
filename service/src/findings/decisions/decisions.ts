import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import type { DecisionRow } from '../fields/names.ts';
import type { ReasonCode } from '../reason-codes.ts';
import type { Status } from '../status.ts';
import { placesSql } from './places.ts';

/** What a person decides about findings. */
export interface Decision {
  kind: DecisionRow['kind'];
  scope: DecisionRow['scope'];
  reason: string | null;
  owner: string | null;
  expiresAt: Date | null;
  /** Undefined: the finding keeps the one that it has. */
  compensatingControl: string | null | undefined;
  justification: string | null;
}

/** The statuses that are decisions. */
const kinds: Partial<Record<Status, DecisionRow['kind']>> = { risk_accepted: 'acceptance', false_positive: 'false_positive' };

interface Details {
  scope?: DecisionRow['scope'] | undefined;
  reason?: string | undefined;
  owner?: string | undefined;
  expires_at?: string | undefined;
  compensating_control?: string | null | undefined;
  justification?: string | undefined;
}

/** The decision that setting the status makes, or null if the status is not a decision. */
export function decisionOf(status: Status | undefined, details: Details): Decision | null {
  const { scope = 'places', reason, owner, expires_at, compensating_control, justification } = details;
  const kind = status === undefined ? undefined : kinds[status];
  if (kind === undefined) return null;
  return {
    kind,
    scope,
    reason: reason ?? null,
    owner: owner ?? null,
    expiresAt: expires_at === undefined ? null : new Date(expires_at),
    compensatingControl: kind === 'acceptance' ? compensating_control : null,
    justification: justification ?? null,
  };
}

/** Records decisions that take effect at once. They replace the current decisions and requests of the findings. */
export async function recordDecisions(tx: TenantTx, actor: Actor, decision: Decision, ids: readonly string[]): Promise<void> {
  await endDecisions(tx, actor.orgId, ids, 'replaced');
  await voidRequests(tx, actor.orgId, ids, 'replaced');
  await insertDecisions(actor, decision, 'active', ids).execute(tx);
}

/** The control of the decision about the finding with this alias. */
export function controlSql({ compensatingControl }: Pick<Decision, 'compensatingControl'>, finding: string): RawBuilder<string | null> {
  return compensatingControl === undefined ? sql`${sql.ref(`${finding}.compensating_control`)}` : sql`${compensatingControl}::text`;
}

/** The values of severity and KEV are those that the findings have now. */
export function insertDecisions(actor: Actor, decision: Decision, state: 'active' | 'requested', ids: readonly string[]): RawBuilder<unknown> {
  const { kind, scope, reason, owner, expiresAt, justification } = decision;
  return sql`
    insert into decisions (org_id, finding_id, id, kind, state, scope, person, person_name, reason, owner, expires_at, compensating_control, justification, severity, kev, places, decided_at)
    select f.org_id, f.id, new_id(), ${kind}::text, ${state}::text, ${scope}::text, ${actor.person?.id ?? null}::text, ${actor.person?.name ?? actor.name}::text,
      coalesce(${reason}::text, f.status_reason), ${owner}::text, ${expiresAt}::timestamptz, ${controlSql(decision, 'f')}, ${justification}::text, f.severity, f.kev,
      (select array_agg(distinct p.label order by p.label) from ${placesSql(actor.orgId)} p where p.finding_id = f.id),
      case when ${state}::text = 'active' then now() end
    from findings f where f.org_id = ${actor.orgId} and f.id = any(${ids as string[]}::uuid[])`;
}

/** Ends the active decisions of findings. */
export async function endDecisions(tx: TenantTx, orgId: string, ids: readonly string[], code: ReasonCode | 'replaced'): Promise<void> {
  await sql`
    update decisions set state = 'ended', ended_at = now(), ended_reason = ${code}::text
    where org_id = ${orgId} and finding_id = any(${ids as string[]}::uuid[]) and state = 'active'`.execute(tx);
}

/** Voids the pending requests of findings. */
export async function voidRequests(tx: TenantTx, orgId: string, ids: readonly string[], code: ReasonCode | 'replaced'): Promise<void> {
  await sql`
    update decisions set state = 'void', ended_at = now(), ended_reason = ${code}::text
    where org_id = ${orgId} and finding_id = any(${ids as string[]}::uuid[]) and state = 'requested'`.execute(tx);
}

/**
 * Voids the requests to accept findings that are closed now. `ids` selects all findings that were closed, and may select more. Call it after every
 * change of status that people did not make one by one.
 */
export async function voidRequestsOfClosed(tx: TenantTx, orgId: string, ids: RawBuilder<unknown>): Promise<void> {
  await sql`
    update decisions d set state = 'void', ended_at = now(), ended_reason = coalesce(f.reason_code, 'by_person') from findings f
    where d.org_id = ${orgId} and d.state = 'requested' and d.finding_id in (${ids}) and f.org_id = ${orgId} and f.id = d.finding_id
      and f.closed_at is not null and f.status <> 'risk_accepted'`.execute(tx);
}
