import { type Expression, type RawBuilder, sql } from 'kysely';
import type { Static } from 'typebox';
import { assetFacts } from '../../assets/relations.ts';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import type { EventType } from '../../events/types.ts';
import type { OrganizationPolicy } from '../../organizations/policy.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, invalidField } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { riskSql } from '../../vulnerabilities/risk.ts';
import { type FindingFollower, idsSql } from '../follower.ts';
import { takeImportLock } from '../import-lock.ts';
import { filterFindings, ownFindings } from '../list/filter.ts';
import type { BulkAnswer, BulkBody } from '../schemas-bulk.ts';
import { severityRank } from '../severity.ts';
import { dueSql } from '../sla.ts';
import { mayMove, type Status, statuses } from '../status.ts';
import { type Decidable, type Deciding, decide, personOf, readDeciding, SEVERITY_UNEXPLAINED } from './triage.ts';

export type BulkRequest = Static<typeof BulkBody>;
type BulkChange = BulkRequest['change'];
export type BulkResult = Static<typeof BulkAnswer>;

const MAX_MATCHED = 100_000;
const MAX_REFUSALS = 1_000;

/** The rules are evaluated once per status, and one statement changes all findings, regardless of their number. */
export async function changeFindings(
  tx: TenantTx,
  actor: Actor,
  { ids, filter = {}, change, dry_run = false }: BulkRequest,
  follower: FindingFollower,
): Promise<BulkResult> {
  const { orgId } = actor;
  const { work_item_id } = change;
  if (work_item_id !== undefined) await follower.assertOpen(tx, orgId, work_item_id);
  if (!dry_run) await takeImportLock(tx, orgId);
  const deciding = await readDeciding(tx, actor, change);
  const outcomes = outcomesOf(change, deciding);
  const found = filterFindings(ownFindings(tx).select('findings.id'), orgId, filter);
  if (ids === undefined) await assertNotTooMany(tx, found.limit(MAX_MATCHED + 1));
  const own = tx.selectFrom('findings').select(needed).where('findings.org_id', '=', orgId);
  const wanted = own.where(
    ids === undefined ? sql<boolean>`findings.id in (${found.limit(MAX_MATCHED)})` : sql<boolean>`findings.id = any(${[...new Set(ids)]}::uuid[])`,
  );
  const matched = dry_run ? wanted : wanted.forNoKeyUpdate();
  const decided = sql`with matched as materialized (${matched}), decided as materialized (${decidedSql(actor, change, outcomes, deciding.policy)})`;
  const refusals = sql`coalesce((select jsonb_agg(refused) from (select id, code, detail from decided where code is not null order by id limit ${MAX_REFUSALS}) refused), '[]')`;
  const summary = sql`
    select count(*)::int as matched, count(*) filter (where code is null and changed)::int as changed, count(*) filter (where code is not null)::int as refused,
      array_agg(id) filter (where code is null and moves) as moved, array_agg(id) filter (where code is null and links) as linked, ${refusals} as refusals, ${ids === undefined ? sql`null` : sql`(select array_agg(given) from unnest(${[...new Set(ids)]}::uuid[]) given where not exists (select from decided where id = given))`} as unknown
    from decided`;
  const { rows } = await sql<Summary>`${decided}${dry_run ? sql`` : writesSql(actor, change)} ${summary}`.execute(tx);
  const [summed] = rows;
  const result = resultOf(summed, dry_run);
  if (!dry_run && result.counts.changed > 0) {
    const after = { change, ...(ids === undefined ? { filter } : { ids: ids.length }), ...result.counts };
    await recordAudit(tx, actor, { action: 'finding.bulk_changed', objectType: 'finding', objectId: newId(), after });
  }
  if (!dry_run && work_item_id !== undefined && summed?.linked) await follower.link(tx, actor, work_item_id, summed.linked);
  if (!dry_run && summed?.moved) await follower.follow(tx, actor, idsSql(summed.moved));
  return result;
}

const needed = [
  'findings.id',
  'findings.asset_id',
  'findings.status',
  'findings.status_reason',
  'findings.status_changed_by',
  'findings.assurance',
  'findings.acceptance_owner',
  'findings.acceptance_expires_at',
  'findings.justification',
  'findings.severity',
  'findings.source_severity',
  'findings.severity_override',
  'findings.cvss_score',
  'findings.epss',
  'findings.kev',
  'findings.clock_from',
  'findings.tags',
] as const;

async function assertNotTooMany(tx: TenantTx, found: Expression<unknown>): Promise<void> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from (${found}) found`.execute(tx);
  if ((rows[0]?.count ?? 0) <= MAX_MATCHED) return;
  throw invalidField({
    in: 'body',
    path: '/filter',
    code: 'too_many',
    detail: `\`filter\` matches more than ${MAX_MATCHED.toLocaleString('en')} findings. Add filters and send several requests.`,
  });
}

interface Summary {
  matched: number;
  changed: number;
  refused: number;
  refusals: BulkResult['refused'];
  unknown: string[] | null;
  moved: string[] | null;
  linked: string[] | null;
}

function resultOf(summary: Omit<Summary, 'moved' | 'linked'> | undefined, dry_run: boolean): BulkResult {
  const { matched, changed, refused, refusals, unknown } = summary ?? { matched: 0, changed: 0, refused: 0, refusals: [], unknown: null };
  const missing = (unknown ?? []).map((id) => ({ id, code: 'not_found', detail: `There is no finding "${id}" in your organization.` }));
  return {
    dry_run,
    counts: { matched: matched + missing.length, changed, unchanged: matched - changed - refused, refused: refused + missing.length },
    refused: [...missing, ...refusals].slice(0, MAX_REFUSALS),
  };
}

/** The result of the change for findings in one status, by the same rules as for a single finding. */
interface Outcome {
  from: Status;
  /** Whether the status was set by the person who makes the change. */
  own: boolean;
  code: string | null;
  detail: string | null;
  assurance: string | null;
  closed: boolean;
  reopened: number;
}

function outcomesOf({ status, reason, owner, expires_at, justification }: BulkChange, deciding: Deciding): Outcome[] {
  if (status === undefined) return [];
  const given = { status, reason, owner, expires_at, justification };
  const patch = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const refusals: AppError[] = [];
  const outcomes = statuses.flatMap((from) =>
    [true, false].map((own): Outcome => {
      try {
        const change = decide(sampleOf(from, own, deciding), patch, deciding);
        return {
          from,
          own,
          code: null,
          detail: null,
          assurance: change.assurance ?? null,
          closed: change.closed_at instanceof Date,
          reopened: change.reopen_count ?? 0,
        };
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        if (mayMove(from, status, 'person')) refusals.push(error);
        return { from, own, code: error.code, detail: error.message, assurance: null, closed: false, reopened: 0 };
      }
    }),
  );
  // If a field is missing for every possible status, the request itself is invalid.
  const possible = outcomes.filter(({ from }) => mayMove(from, status, 'person'));
  const [first] = refusals;
  if (first?.code === 'validation_failed' && refusals.length === possible.length) throw first;
  return outcomes;
}

/** A finding in this status. The rules for a change of status read only the status and who set it. The rest is neutral. */
function sampleOf(status: Status, own: boolean, { actor, now }: Deciding): Decidable {
  return {
    status,
    status_changed_by: own ? personOf(actor) : null,
    status_reason: null,
    assurance: null,
    acceptance_owner: null,
    acceptance_expires_at: null,
    justification: null,
    closed_at: null,
    reopen_count: 0,
    severity_override: null,
    source_severity: 0,
    clock_from: now,
    kev: false,
    tags: [],
  };
}

/** The rows of `matched` with their new values, in columns named n_…, and the reason if the change is refused. */
function decidedSql(actor: Actor, change: BulkChange, outcomes: readonly Outcome[], policy: OrganizationPolicy): RawBuilder<unknown> {
  const { status, severity, reason, add_tags = [], remove_tags = [], work_item_id } = change;
  const rank = severity === undefined || severity === null ? null : severityRank(severity);
  const override = severity === undefined ? sql`m.severity_override` : sql`${rank}::smallint`;
  const overridden = severity === undefined ? sql`false` : sql`m.severity_override is distinct from ${rank}::smallint`;
  const unexplained = typeof severity === 'string' && reason === undefined;
  const moving = status === undefined ? sql`false` : sql`m.status <> ${status}`;
  const restating = restatingSql(change);
  const deciding = sql`(${moving} or ${restating})`;
  const tags = sql`(select coalesce(array_agg(distinct tag order by tag), '{}') from unnest(m.tags || ${add_tags}::text[]) tag where tag <> all(${remove_tags}::text[]))`;
  const retagged = add_tags.length + remove_tags.length === 0 ? sql`false` : sql`(not m.tags @> ${add_tags}::text[] or m.tags && ${remove_tags}::text[])`;
  const linking =
    work_item_id === undefined
      ? sql`false`
      : sql`not exists (select from finding_work_items l where l.org_id = ${actor.orgId} and l.work_item_id = ${work_item_id} and l.finding_id = m.id)`;
  return sql`
    select m.*, case when ${moving} then w.assurance else m.assurance end as n_assurance, case when ${moving} then ${reason ?? null}::text else coalesce(${reason ?? null}::text, m.status_reason) end as n_reason, w.closed as n_closed, w.reopened as n_reopened, ${override} as n_override, coalesce(${override}, m.source_severity) as n_severity,
      case when ${retagged} then ${tags} else m.tags end as n_tags, ${moving} as moves, ${deciding} as decides, ${overridden} as reranks, ${retagged} as retags,
      ${linking} as links, ${deciding} or ${overridden} or ${retagged} as writes, ${deciding} or ${overridden} or ${retagged} or ${linking} as changed,
      case when ${deciding} then w.code when ${unexplained} and ${overridden} then 'validation_failed' end as code,
      case when ${deciding} and w.code is not null then w.detail when ${unexplained} and ${overridden} then ${SEVERITY_UNEXPLAINED}::text end as detail,
      ${riskSql('s', 'a')} as n_risk, ${dueSql(policy.sla, sql`m.clock_from`, sql`s.severity`, sql`m.kev`)} as n_due
    from matched m
    join ${assetFacts} a on a.org_id = ${actor.orgId} and a.id = m.asset_id
    cross join lateral (select coalesce(${override}, m.source_severity) as severity, m.cvss_score, m.epss, m.kev) s
    left join jsonb_to_recordset(${JSON.stringify(outcomes)}::jsonb) as w ("from" text, own boolean, code text, detail text, assurance text, closed boolean, reopened integer)
      on w."from" = m.status and w.own = (m.status_changed_by is not distinct from ${personOf(actor)})`;
}

/** Whether the status stays but its reason or details change, as for a single finding. */
function restatingSql({ status, reason, owner, expires_at, justification }: BulkChange): RawBuilder<unknown> {
  const given = [
    [sql`m.status_reason`, sql`${reason}::text`, reason],
    [sql`m.acceptance_owner`, sql`${owner}::text`, owner],
    [sql`m.acceptance_expires_at`, sql`${expires_at}::timestamptz(3)`, expires_at],
    [sql`m.justification`, sql`${justification}::text`, justification],
  ] as const;
  const differences = given.flatMap(([known, requested, value]) => (value === undefined ? [] : [sql`${known} is distinct from ${requested}`]));
  return status === undefined || differences.length === 0 ? sql`false` : sql`(m.status = ${status} and (${sql.join(differences, sql` or `)}))`;
}

function writesSql(
  actor: Actor,
  { status, reason, owner, expires_at, justification, severity, add_tags = [], remove_tags = [] }: BulkChange,
): RawBuilder<unknown> {
  const { orgId } = actor;
  const accepted = status === 'risk_accepted';
  const after = {
    status: sql`${status ?? null}::text`,
    owner: sql`${accepted ? (owner ?? null) : null}::text`,
    expires: sql`${accepted ? (expires_at ?? null) : null}::timestamptz`,
    justification: sql`${status === 'false_positive' ? (justification ?? null) : null}::text`,
  };
  const name = (rank: string) => sql`(array['unknown', 'info', 'low', 'medium', 'high', 'critical'])[${sql.ref(rank)} + 1]`;
  const decided = (column: string, to: RawBuilder<unknown>) => sql`${sql.ref(column)} = case when d.decides then ${to} else ${sql.ref(`f.${column}`)} end`;
  const removed = remove_tags.map((tag) => `t:${tag.toLowerCase()}`);
  const sets = [
    ...(status === undefined
      ? []
      : [
          decided('status', after.status),
          decided('status_reason', sql`d.n_reason`),
          decided('status_changed_at', sql`now()`),
          decided('status_changed_by', sql`${personOf(actor)}::text`),
          decided('assurance', sql`d.n_assurance`),
          decided('acceptance_owner', after.owner),
          decided('acceptance_expires_at', after.expires),
          decided('justification', after.justification),
          sql`closed_at = case when d.moves then case when d.n_closed then now() end else f.closed_at end`,
          sql`reopen_count = f.reopen_count + case when d.moves then d.n_reopened else 0 end`,
        ]),
    ...(severity === undefined
      ? []
      : [
          sql`severity = d.n_severity, severity_override = d.n_override, risk_score = case when d.reranks then d.n_risk else f.risk_score end`,
          sql`due_at = case when d.reranks then d.n_due else f.due_at end`,
          sql`severity_override_by = case when d.reranks then ${severity === null ? null : actor.name}::text else f.severity_override_by end`,
          sql`severity_override_reason = case when d.reranks then ${severity === null ? null : (reason ?? null)}::text else f.severity_override_reason end`,
        ]),
    ...(add_tags.length + remove_tags.length === 0
      ? []
      : [
          sql`tags = d.n_tags, search = case when d.retags then ts_delete(f.search, ${removed}::text[]) || array_to_tsvector(array(select distinct 't:' || lower(tag) from unnest(d.n_tags) tag)) else f.search end`,
        ]),
    sql`version = f.version + 1, updated_at = now()`,
  ];
  const before = sql`jsonb_build_object('status', d.status, 'status_reason', d.status_reason, 'assurance', d.assurance, 'acceptance_owner', d.acceptance_owner,
    'acceptance_expires_at', d.acceptance_expires_at, 'justification', d.justification, 'severity', ${name('d.severity')}, 'severity_override', ${name('d.severity_override')}, 'tags', d.tags)`;
  const now = sql`jsonb_build_object('severity', ${name('d.n_severity')}, 'severity_override', ${name('d.n_override')}, 'tags', d.n_tags) || case when d.decides then jsonb_build_object('status', ${after.status}, 'status_reason', d.n_reason,
    'assurance', d.n_assurance, 'acceptance_owner', ${after.owner}, 'acceptance_expires_at', ${after.expires}, 'justification', ${after.justification}) else '{}' end`;
  const events = sql`select id::text as subject, became || jsonb_build_object('from', "from", 'to', "to") as data, action from changes`;
  return sql`, written as (
      update findings f set ${sql.join(sets)} from decided d where f.org_id = ${orgId} and f.id = d.id and d.writes and d.code is null
    ), changes as materialized (
      select d.id, d.status as "from", case when d.moves then ${after.status} else d.status end as "to", was, became,
        case when d.moves then 'status_changed' when d.reranks then 'severity_changed' else 'updated' end as action
      from decided d
      cross join lateral (
        select coalesce(jsonb_object_agg(o.key, o.value), '{}') as was, coalesce(jsonb_object_agg(n.key, n.value), '{}') as became
        from jsonb_each(${now}) n join jsonb_each(${before}) o on o.key = n.key and (o.value <> n.value or (d.decides and n.key = 'status'))
      ) difference
      where d.writes and d.code is null
    ), recorded as (
      insert into finding_history (org_id, finding_id, id, actor_type, actor_id, actor_name, action, before, after, reason)
      select ${orgId}, id, new_id(), ${actor.type}, ${actor.id}, ${actor.name}, action, was, became, ${reason ?? null} from changes
    ), emitted as (
      ${emitSql(orgId, sql<EventType>`'finding.' || action`, events)}
    )`;
}
