import { type RawBuilder, sql } from 'kysely';
import { emitSql } from '../../events/emit.ts';
import type { EventType } from '../../events/types.ts';
import type { Actor } from '../../shared/actor.ts';
import { historySql } from '../history.ts';
import { changedBy } from '../reason-codes.ts';
import type { BulkChange } from './bulk-selection.ts';

/** The common table expressions that write the rows of `decided`, with their history and events. */
export function writesSql(
  actor: Actor,
  { status, reason, owner, expires_at, compensating_control, justification, severity, add_tags = [], remove_tags = [] }: BulkChange,
): RawBuilder<unknown> {
  const { orgId } = actor;
  const accepted = status === 'risk_accepted';
  const after = {
    status: sql`${status ?? null}::text`,
    owner: sql`${accepted ? (owner ?? null) : null}::text`,
    expires: sql`${accepted ? (expires_at ?? null) : null}::timestamptz`,
    // Like a reason, a control that the request leaves out stays. Only accepted findings have one.
    control: accepted && compensating_control === undefined ? sql`d.compensating_control` : sql`${compensating_control ?? null}::text`,
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
          decided('reason_code', sql`${changedBy(actor)}::text`),
          decided('status_changed_at', sql`now()`),
          decided('status_changed_by', sql`${actor.person?.id ?? null}::text`),
          decided('assurance', sql`d.n_assurance`),
          decided('acceptance_owner', after.owner),
          decided('acceptance_expires_at', after.expires),
          decided('compensating_control', after.control),
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
  const before = sql`jsonb_build_object('status', d.status, 'status_reason', d.status_reason, 'reason_code', d.reason_code, 'assurance', d.assurance, 'acceptance_owner', d.acceptance_owner,
    'acceptance_expires_at', d.acceptance_expires_at, 'compensating_control', d.compensating_control, 'justification', d.justification, 'severity', ${name('d.severity')}, 'severity_override', ${name('d.severity_override')}, 'tags', d.tags)`;
  const now = sql`jsonb_build_object('severity', ${name('d.n_severity')}, 'severity_override', ${name('d.n_override')}, 'tags', d.n_tags) || case when d.decides then jsonb_build_object('status', ${after.status}, 'status_reason', d.n_reason, 'reason_code', ${changedBy(actor)}::text,
    'assurance', d.n_assurance, 'acceptance_owner', ${after.owner}, 'acceptance_expires_at', ${after.expires}, 'compensating_control', ${after.control}, 'justification', ${after.justification}) else '{}' end`;
  const events = sql`select id::text as subject, became || jsonb_build_object('from', "from", 'to', "to") as data, action from changes`;
  return sql`, written as (
      update findings f set ${sql.join(sets)} from decided d where f.org_id = ${orgId} and f.id = d.id and d.writes and d.code is null
    ), changes as materialized (
      select d.id, d.status as "from", case when d.moves then ${after.status} else d.status end as "to", was, became,
        case when d.moves then 'status_changed' when d.reranks then 'severity_changed' else 'updated' end as action
      from decided d
      cross join lateral (
        select coalesce(jsonb_object_agg(o.key, o.value), '{}') as was, coalesce(jsonb_object_agg(n.key, n.value), '{}') as became
        from jsonb_each(${now}) n join jsonb_each(${before}) o on o.key = n.key and (o.value <> n.value or (d.decides and n.key in ('status', 'reason_code')))
      ) difference
      where d.writes and d.code is null
    ), recorded as (
      ${historySql(actor, sql`select id as finding_id, action, was as before, became as after, ${reason ?? null}::text as reason from changes`)}
    ), emitted as (
      ${emitSql(orgId, sql<EventType>`'finding.' || action`, events)}
    )`;
}
