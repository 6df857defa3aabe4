import { type RawBuilder, sql } from 'kysely';
import { assetFacts } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, invalidField } from '../../shared/errors.ts';
import { riskSql } from '../../vulnerabilities/risk.ts';
import { decisionOf, endDecisions, recordDecisions, voidRequestsOfClosed } from '../decisions/decisions.ts';
import { reopenRiskIncreased } from '../decisions/risk-increased.ts';
import { type FindingFollower, idsSql } from '../follower.ts';
import { takeImportLock } from '../import-lock.ts';
import { changedBy } from '../reason-codes.ts';
import { severityRank } from '../severity.ts';
import { dueSql } from '../sla.ts';
import { mayMove, type Status, statuses } from '../status.ts';
import { pendingSql, requestAcceptances } from './acceptance-requests.ts';
import { answerRequests } from './bulk-answers.ts';
import { auditBulk, type BulkChange, type BulkRequest, type BulkResult, matchedSql, resultOf, type Summary, summarySql } from './bulk-selection.ts';
import { writesSql } from './bulk-writes.ts';
import { type Decidable, type Deciding, decide, SEVERITY_UNEXPLAINED } from './decide.ts';
import { readDeciding } from './triage.ts';

export type { BulkRequest, BulkResult } from './bulk-selection.ts';

/** The rules are evaluated once per status, and one statement changes all findings, regardless of their number. */
export async function changeFindings(tx: TenantTx, actor: Actor, request: BulkRequest, follower: FindingFollower): Promise<BulkResult> {
  const { change, dry_run = false } = request;
  if (change.acceptance !== undefined) return answerRequests(tx, actor, request, follower);
  const { orgId } = actor;
  const { work_item_id } = change;
  if (work_item_id !== undefined) await follower.assertOpen(tx, orgId, work_item_id);
  if (!dry_run) await takeImportLock(tx, orgId);
  const deciding = await readDeciding(tx, actor);
  const { outcomes, invalid } = outcomesOf(change, deciding);
  const matched = await matchedSql(tx, orgId, request);
  const idsWhere = (condition: RawBuilder<unknown>) => sql`array_agg(id) filter (where code is null and ${condition})`;
  const { rows } = await sql<ChangeSummary>`
    with matched as materialized (${matched}), decided as materialized (${decidedSql(deciding, change, outcomes)})${dry_run ? sql`` : writesSql(actor, change)}
    select ${summarySql(request)}, min(detail) filter (where code = 'validation_failed') as invalid, ${idsWhere(sql`moves`)} as moved, ${idsWhere(sql`decides`)} as decided,
      ${idsWhere(sql`leaves`)} as left, ${idsWhere(sql`asks`)} as asked, ${idsWhere(sql`reranks`)} as reranked, ${idsWhere(sql`links`)} as linked
    from decided`.execute(tx);
  const [summed] = rows;
  // Nothing is written: the error rolls the transaction back.
  if (summed?.invalid) throw invalid.find(({ message }) => message === summed.invalid) ?? unexplained();
  const result = resultOf(summed, dry_run);
  if (dry_run || summed === undefined) return result;
  if (result.counts.changed > 0) await auditBulk(tx, actor, request, result);
  if (work_item_id !== undefined && summed.linked) await follower.link(tx, actor, work_item_id, summed.linked);
  const reopened = await followDecisions(tx, deciding, change, summed);
  const moved = [...(summed.moved ?? []), ...reopened];
  if (moved.length > 0) await follower.follow(tx, actor, idsSql(moved));
  return result;
}

interface ChangeSummary extends Summary {
  /** The error if the request lacks a field that one of the findings needs. */
  invalid: string | null;
  moved: string[] | null;
  decided: string[] | null;
  /** Findings that are no longer accepted or a false positive. */
  left: string[] | null;
  asked: string[] | null;
  reranked: string[] | null;
  linked: string[] | null;
}

/** Records, requests and ends decisions as for a single finding. Returns the findings that were reopened because their risk increased. */
async function followDecisions(tx: TenantTx, { actor, policy }: Deciding, change: BulkChange, summed: ChangeSummary): Promise<string[]> {
  const { decided, left, asked, moved, reranked } = summed;
  const decision = decisionOf(change.status, change);
  if (decision && asked) await requestAcceptances(tx, actor, decision, asked);
  if (decision && decided) await recordDecisions(tx, actor, decision, decided);
  if (left) await endDecisions(tx, actor.orgId, left, changedBy(actor));
  if (moved) await voidRequestsOfClosed(tx, actor.orgId, idsSql(moved));
  return reranked ? reopenRiskIncreased(tx, actor, { ids: idsSql(reranked), sla: policy.sla }) : [];
}

function unexplained(): AppError {
  return invalidField({ in: 'body', path: '/reason', code: 'required', detail: SEVERITY_UNEXPLAINED });
}

/** Who set the current status: the person who makes the change, another one, or no person. */
type SetBy = 'self' | 'other' | 'nobody';

/** The result of the change for findings in one status, by the same rules as for a single finding. */
interface Outcome {
  from: Status;
  by: SetBy;
  code: string | null;
  detail: string | null;
  assurance: string | null;
  closed: boolean;
  reopened: number;
}

/** `invalid` are the errors of requests that lack a field. */
function outcomesOf(change: BulkChange, deciding: Deciding): { outcomes: Outcome[]; invalid: AppError[] } {
  const { status, reason, owner, expires_at, compensating_control, justification, scope } = change;
  if (status === undefined) return { outcomes: [], invalid: [] };
  const given = { status, reason, owner, expires_at, compensating_control, justification, scope };
  const patch = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const refusals: AppError[] = [];
  const invalid: AppError[] = [];
  const outcomes = statuses.flatMap((from) =>
    (['self', 'other', 'nobody'] as const).map((by): Outcome => {
      try {
        const change = decide(sampleOf(from, by, deciding), patch, deciding);
        return {
          from,
          by,
          code: null,
          detail: null,
          assurance: change.assurance ?? null,
          closed: change.closed_at instanceof Date,
          reopened: change.reopen_count ?? 0,
        };
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        if (error.code === 'validation_failed') invalid.push(error);
        if (mayMove(from, status, 'person')) refusals.push(error);
        return { from, by, code: error.code, detail: error.message, assurance: null, closed: false, reopened: 0 };
      }
    }),
  );
  // If a field is missing for every possible status, the request itself is invalid.
  const possible = outcomes.filter(({ from }) => mayMove(from, status, 'person'));
  const [first] = refusals;
  if (first?.code === 'validation_failed' && refusals.length === possible.length) throw first;
  return { outcomes, invalid };
}

/** A finding in this status. The rules for a change of status read only the status and who set it. The rest is neutral. */
function sampleOf(status: Status, by: SetBy, { actor, now }: Deciding): Decidable {
  return {
    status,
    status_changed_by: by === 'nobody' ? null : by === 'self' ? (actor.person?.id ?? null) : 'another person',
    status_reason: null,
    assurance: null,
    acceptance_owner: null,
    acceptance_expires_at: null,
    compensating_control: null,
    justification: null,
    closed_at: null,
    reopen_count: 0,
    severity_override: null,
    source_severity: 0,
    clock_from: now,
    kev: false,
    tags: [],
    scope: null,
  };
}

/** The rows of `matched` with their new values, in columns named n_…, and the reason if the change is refused. */
function decidedSql({ actor, policy }: Deciding, change: BulkChange, outcomes: readonly Outcome[]): RawBuilder<unknown> {
  const { status, severity, reason, add_tags = [], remove_tags = [], work_item_id } = change;
  const rank = severity === undefined || severity === null ? null : severityRank(severity);
  const override = severity === undefined ? sql`m.severity_override` : sql`${rank}::smallint`;
  const overridden = severity === undefined ? sql`false` : sql`m.severity_override is distinct from ${rank}::smallint`;
  const unexplained = typeof severity === 'string' && reason === undefined;
  const person = actor.person?.id ?? null;
  const requested = status === 'risk_accepted' && policy.four_eyes ? decisionOf(status, change) : null;
  const differs = status === undefined ? sql`false` : sql`(m.status <> ${status} or ${restatingSql(actor.orgId, change)})`;
  // Under the four-eyes policy the status stays, and a second person is asked.
  const asking = requested ? sql`(${differs} and not ${pendingSql(actor, requested, sql`m.id`)})` : sql`false`;
  const deciding = requested ? sql`false` : differs;
  const moving = requested || status === undefined ? sql`false` : sql`m.status <> ${status}`;
  const tags = sql`(select coalesce(array_agg(distinct tag order by tag), '{}') from unnest(m.tags || ${add_tags}::text[]) tag where tag <> all(${remove_tags}::text[]))`;
  const retagged = add_tags.length + remove_tags.length === 0 ? sql`false` : sql`(not m.tags @> ${add_tags}::text[] or m.tags && ${remove_tags}::text[])`;
  const linking =
    work_item_id === undefined
      ? sql`false`
      : sql`not exists (select from finding_work_items l where l.org_id = ${actor.orgId} and l.work_item_id = ${work_item_id} and l.finding_id = m.id)`;
  return sql`
    select m.*, case when ${moving} then w.assurance else m.assurance end as n_assurance, case when ${moving} then ${reason ?? null}::text else coalesce(${reason ?? null}::text, m.status_reason) end as n_reason, w.closed as n_closed, w.reopened as n_reopened, ${override} as n_override, coalesce(${override}, m.source_severity) as n_severity,
      case when ${retagged} then ${tags} else m.tags end as n_tags, ${moving} as moves, ${deciding} as decides, ${asking} as asks,
      ${moving} and m.status in ('risk_accepted', 'false_positive') as leaves, ${overridden} as reranks, ${retagged} as retags,
      ${linking} as links, ${deciding} or ${overridden} or ${retagged} as writes, ${deciding} or ${asking} or ${overridden} or ${retagged} or ${linking} as changed,
      case when ${differs} and w.code is not null then w.code when ${unexplained} and ${overridden} then 'validation_failed' end as code,
      case when ${differs} and w.code is not null then w.detail when ${unexplained} and ${overridden} then ${SEVERITY_UNEXPLAINED}::text end as detail,
      ${riskSql('s', 'a')} as n_risk, ${dueSql(policy.sla, sql`m.clock_from`, sql`s.severity`, sql`m.kev`)} as n_due
    from matched m
    join ${assetFacts} a on a.org_id = ${actor.orgId} and a.id = m.asset_id
    cross join lateral (select coalesce(${override}, m.source_severity) as severity, m.cvss_score, m.epss, m.kev, m.malicious) s
    left join jsonb_to_recordset(${JSON.stringify(outcomes)}::jsonb) as w ("from" text, "by" text, code text, detail text, assurance text, closed boolean, reopened integer)
      on w."from" = m.status and w."by" = case when m.status_changed_by is null then 'nobody' when m.status_changed_by = ${person}::text then 'self' else 'other' end`;
}

/** Whether the status stays but its reason or details change, as for a single finding. */
function restatingSql(orgId: string, change: BulkChange): RawBuilder<unknown> {
  const { status, reason, owner, expires_at, compensating_control, justification, scope } = change;
  const decided = sql`(select d.scope from decisions d where d.org_id = ${orgId} and d.finding_id = m.id and d.state = 'active')`;
  const given = [
    [sql`m.status_reason`, sql`${reason}::text`, reason],
    [sql`m.acceptance_owner`, sql`${owner}::text`, owner],
    [sql`m.acceptance_expires_at`, sql`${expires_at}::timestamptz(3)`, expires_at],
    [sql`m.compensating_control`, sql`${compensating_control}::text`, compensating_control],
    [sql`m.justification`, sql`${justification}::text`, justification],
    [decided, sql`${scope}::text`, scope],
  ] as const;
  const differences = given.flatMap(([known, requested, value]) => (value === undefined ? [] : [sql`${known} is distinct from ${requested}`]));
  return status === undefined || differences.length === 0 ? sql`false` : sql`(m.status = ${status} and (${sql.join(differences, sql` or `)}))`;
}
