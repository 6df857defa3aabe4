import { type RawBuilder, sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import type { EventType } from '../../events/types.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, type ErrorCode } from '../../shared/errors.ts';
import { endDecisions } from '../decisions/decisions.ts';
import type { FindingRow } from '../fields/field.ts';
import { type FindingFollower, idsSql } from '../follower.ts';
import { historySql } from '../history.ts';
import { lockFinding, readFinding } from '../list/list.ts';
import { mayMove, statuses } from '../status.ts';

export type Answer = 'approve' | 'reject';

interface SingleAnswer {
  id: string;
  answer: Answer;
  reason: string | null;
  check: (current: FindingRow) => void;
}

/** Approves or rejects the pending request to accept the risk of one finding. */
export async function answerRequest(tx: TenantTx, actor: Actor, { id, answer, reason, check }: SingleAnswer, follower: FindingFollower): Promise<FindingRow> {
  const finding = await lockFinding(tx, actor.orgId, id);
  check(finding);
  const { rows } = await sql<Judged>`with matched as (select ${id}::uuid as id) ${judgedSql(actor, answer)}`.execute(tx);
  const [judged] = rows;
  if (judged?.code) throw new AppError(judged.code, judged.detail ?? '');
  await writeAnswers(tx, actor, { answer, reason }, [id]);
  const after = {
    owner: judged?.owner,
    expires_at: judged?.expires_at,
    compensating_control: judged?.compensating_control,
    requested_by: judged?.requested_by,
    reason,
  };
  const action = answer === 'approve' ? 'finding.acceptance_approved' : 'finding.acceptance_rejected';
  await recordAudit(tx, actor, { action, objectType: 'finding', objectId: id, before: { status: finding.status }, after });
  if (answer === 'approve') await follower.follow(tx, actor, idsSql([id]));
  return readFinding(tx, actor.orgId, id);
}

interface Judged {
  id: string;
  code: ErrorCode | null;
  detail: string | null;
  owner: string;
  expires_at: Date;
  compensating_control: string | null;
  requested_by: string;
}

const acceptable = [...statuses.filter((status) => mayMove(status, 'risk_accepted', 'person')), 'risk_accepted'];

type Refusal = readonly [condition: RawBuilder<unknown>, code: ErrorCode, detail: string];

/** The findings of `matched` with the request and, if the answer is not possible, the reason. Whoever made the request can reject it, which withdraws it. */
export function judgedSql({ orgId, person }: Actor, answer: Answer): RawBuilder<unknown> {
  const missing: Refusal = [sql`d.id is null`, 'conflict', 'The finding has no pending request to accept its risk.'];
  const approving: readonly Refusal[] = [
    [sql`d.person is null`, 'conflict', 'It is not known who requested the acceptance, so nobody can be the second person. Request it again.'],
    [sql`d.person = ${person?.id ?? null}::text`, 'conflict', 'You requested this acceptance. Another person must approve it.'],
    [sql`d.expires_at <= now()`, 'conflict', 'The requested acceptance has already expired. Request it again with a later `expires_at`.'],
    [sql`f.status <> all(${acceptable})`, 'invalid_transition', 'The finding was closed after the request, so its risk can no longer be accepted.'],
  ];
  const refusals = answer === 'approve' ? [missing, ...approving] : [missing];
  const choose = (value: (refusal: Refusal) => string) =>
    sql`case ${sql.join(
      refusals.map((refusal) => sql`when ${refusal[0]} then ${value(refusal)}::text`),
      sql` `,
    )} end`;
  return sql`
    select f.id, d.owner, d.expires_at, d.compensating_control, d.person_name as requested_by, ${choose(([, code]) => code)} as code, ${choose(([, , detail]) => detail)} as detail
    from matched m join findings f on f.org_id = ${orgId} and f.id = m.id
    left join decisions d on d.org_id = ${orgId} and d.finding_id = f.id and d.state = 'requested'`;
}

interface GivenAnswer {
  answer: Answer;
  reason: string | null;
}

/** Writes the answer for findings that it is possible for and that are locked. */
export async function writeAnswers(tx: TenantTx, actor: Actor, { answer, reason }: GivenAnswer, ids: readonly string[]): Promise<void> {
  if (answer === 'reject') await rejectRequests(tx, actor, reason, ids);
  else await approveRequests(tx, actor, reason, ids);
}

async function approveRequests(tx: TenantTx, actor: Actor, reason: string | null, ids: readonly string[]): Promise<void> {
  const { orgId, person } = actor;
  await endDecisions(tx, orgId, ids, 'replaced');
  const request = sql`jsonb_build_object('owner', a.owner, 'expires_at', a.expires_at, 'compensating_control', a.compensating_control, 'scope', a.scope, 'requested_by', a.person_name, 'approved_by', a.approver_name, 'reason', ${reason}::text)`;
  const became = sql`jsonb_build_object('status', 'risk_accepted', 'reason_code', 'acceptance_approved', 'status_reason', a.reason, 'assurance', null,
    'acceptance_owner', a.owner, 'acceptance_expires_at', a.expires_at, 'compensating_control', a.compensating_control, 'requested_by', a.person_name)`;
  const was = sql`jsonb_build_object('status', f.status, 'reason_code', f.reason_code, 'status_reason', f.status_reason, 'assurance', f.assurance,
    'acceptance_owner', f.acceptance_owner, 'acceptance_expires_at', f.acceptance_expires_at, 'compensating_control', f.compensating_control)`;
  const action = sql`case when f.status = 'risk_accepted' then 'updated' else 'status_changed' end`;
  const entries = sql`select f.id as finding_id, ${action} as action, ${was} as before, ${became} as after, ${reason}::text as reason from accepted a join known f on f.id = a.finding_id`;
  const events = sql`
    select f.id::text as subject, ${became} || jsonb_build_object('from', f.status, 'to', 'risk_accepted') as data, 'finding.' || ${action} as type
    from accepted a join known f on f.id = a.finding_id
    union all select a.finding_id::text, ${request}, 'finding.acceptance_approved' from accepted a`;
  await sql`
    with known as materialized (
      select id, status, reason_code, status_reason, assurance, acceptance_owner, acceptance_expires_at, compensating_control from findings
      where org_id = ${orgId} and id = any(${ids as string[]}::uuid[])
    ), accepted as (
      update decisions d set state = 'active', approver = ${person?.id ?? null}::text, approver_name = ${person?.name ?? actor.name}::text,
        approver_reason = ${reason}::text, decided_at = now(), severity = f.severity, kev = f.kev
      from findings f
      where d.org_id = ${orgId} and d.finding_id = any(${ids as string[]}::uuid[]) and d.state = 'requested' and f.org_id = ${orgId} and f.id = d.finding_id
      returning d.finding_id, d.owner, d.expires_at, d.compensating_control, d.scope, d.reason, d.person_name, d.approver_name
    ), changed as (
      update findings f set status = 'risk_accepted', status_reason = a.reason, reason_code = 'acceptance_approved', status_changed_at = now(),
        status_changed_by = ${person?.id ?? null}::text, assurance = null, acceptance_owner = a.owner, acceptance_expires_at = a.expires_at, compensating_control = a.compensating_control, justification = null,
        closed_at = coalesce(f.closed_at, now()), version = f.version + 1, updated_at = now()
      from accepted a where f.org_id = ${orgId} and f.id = a.finding_id
    ), recorded as (
      ${historySql(actor, entries)}
    )
    ${emitSql(orgId, sql<EventType>`emitted.type`, events)}`.execute(tx);
}

async function rejectRequests(tx: TenantTx, actor: Actor, reason: string | null, ids: readonly string[]): Promise<void> {
  const { orgId, person } = actor;
  const own = sql`(person is not distinct from ${person?.id ?? null}::text)`;
  const answered = sql`jsonb_build_object('state', r.state, 'owner', r.owner, 'expires_at', r.expires_at, 'compensating_control', r.compensating_control, 'requested_by', r.person_name, 'rejected_by', ${person?.name ?? actor.name}::text, 'reason', ${reason}::text)`;
  const entries = sql`
    select r.finding_id, case r.state when 'void' then 'acceptance_withdrawn' else 'acceptance_rejected' end as action, '{}'::jsonb as before, ${answered} as after, ${reason}::text as reason
    from refused r`;
  const events = sql`select r.finding_id::text as subject, ${answered} as data from refused r`;
  await sql`
    with refused as (
      update decisions set state = case when ${own} then 'void' else 'rejected' end, approver = case when ${own} then null else ${person?.id ?? null}::text end,
        approver_name = case when ${own} then null else ${person?.name ?? actor.name}::text end, approver_reason = ${reason}::text,
        decided_at = case when ${own} then null else now() end, ended_at = case when ${own} then now() end, ended_reason = case when ${own} then 'withdrawn' end
      where org_id = ${orgId} and finding_id = any(${ids as string[]}::uuid[]) and state = 'requested'
      returning finding_id, state, owner, expires_at, compensating_control, person_name
    ), changed as (
      update findings f set version = f.version + 1, updated_at = now() from refused r where f.org_id = ${orgId} and f.id = r.finding_id
    ), recorded as (
      ${historySql(actor, entries)}
    )
    ${emitSql(orgId, 'finding.acceptance_rejected', events)}`.execute(tx);
}
