import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import { dueSql } from '../sla.ts';
import { reopenedByScan, verifiedByScan } from '../status.ts';
import type { Resolution } from './resolution.ts';

const REOPENED = 'A scan saw the finding again.';
const VERIFIED = 'A complete scan no longer reports the finding.';
const RETRACTED = 'The source no longer reports the finding, although nothing changed that could have fixed it.';
const DECLARED = 'The report states that the finding is fixed.';

/**
 * Reopens findings that the import sees. A status that a scan set gives way to any present sighting, whatever the order of imports was. A status that a
 * person set gives way to a scan that took place later.
 */
export async function reopenSeen(tx: TenantTx, { orgId, importId, sourceId, sla, actor }: Resolution): Promise<number> {
  const events = sql`select id::text as subject, jsonb_build_object('from', before, 'to', 'open', 'import_id', ${importId}::text, 'reason', ${REOPENED}::text) as data from reopened`;
  const { rows } = await sql<{ count: number }>`
    with reopened as materialized (
      select f.id, f.status as before, f.assurance, max(g.seen_at) as seen_at
      from tenant_import_groups g
      join findings f on f.org_id = ${orgId} and f.id = g.finding_id and f.status = any(${reopenedByScan as readonly string[]})
      join sightings s on s.org_id = ${orgId} and s.finding_id = g.finding_id and s.source_id = ${sourceId} and s.track = g.track and s.state = 'present'
      where g.org_id = ${orgId} and g.import_id = ${importId} and g.present
        and (g.seen_at > f.status_changed_at or (f.status_changed_by is null and f.status <> 'remediated'))
      group by f.org_id, f.id
    ), emitted as (
      ${emitSql(orgId, 'finding.status_changed', events)}
    ), recorded as (
      insert into finding_history (org_id, finding_id, id, actor_type, actor_id, actor_name, import_id, action, before, after, reason)
      select ${orgId}, id, new_id(), ${actor.type}, ${actor.id}, ${actor.name}, ${importId}, 'reopened', jsonb_build_object('status', before), jsonb_build_object('status', 'open'), ${REOPENED}
      from reopened
    ), marked as (
      update tenant_import_groups g set outcome = 'reopened' from reopened where g.org_id = ${orgId} and g.import_id = ${importId} and g.finding_id = reopened.id
    ), changed as (
      update findings f set status = 'open', status_reason = ${REOPENED}, status_changed_at = reopened.seen_at, status_changed_by = null, assurance = null, closed_at = null,
        clock_from = reopened.seen_at, due_at = ${dueSql(sla, sql`reopened.seen_at`, sql`f.severity`, sql`f.kev`)}, reopen_count = f.reopen_count + 1, version = f.version + 1, updated_at = now()
      from reopened where f.org_id = ${orgId} and f.id = reopened.id
      returning 1
    )
    select count(*)::int as count from changed`.execute(tx);
  return rows[0]?.count ?? 0;
}

const closable = sql`${[...verifiedByScan, 'risk_accepted'] as readonly string[]}`;

/**
 * What follows for findings `f` of `ids` that no source sees any more: `verified` if at least one source would have seen them, `remediated` if a report
 * only states it, otherwise `withdrawn`. A claim that is newer than the scans stays a claim.
 */
export function closingSql(orgId: string, ids: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select f.id, f.status as before, seen.absent_at,
      case when seen.gone then 'verified' when seen.declared then 'remediated' else 'withdrawn' end as after
    from findings f
    cross join lateral (
      select bool_or(s.state = 'present') as present, max(s.absent_at) as absent_at, bool_or(s.absence = 'gone') as gone, bool_or(s.absence = 'declared') as declared
      from sightings s where s.org_id = ${orgId} and s.finding_id = f.id
    ) seen
    where f.org_id = ${orgId} and f.id in (${ids}) and f.status = any(${closable}) and not seen.present
      and (f.status <> 'remediated' or (seen.absent_at > f.status_changed_at and (seen.gone or not seen.declared)))`;
}

/** Closes findings of `ids` that no source sees any more. Returns how many. */
export async function closeUnseen(tx: TenantTx, { orgId, importId, actor }: Resolution, ids: RawBuilder<unknown>): Promise<number> {
  const reason = sql`case after when 'verified' then ${VERIFIED} when 'remediated' then ${DECLARED} else ${RETRACTED} end`;
  const assurance = sql`case after when 'verified' then case when before = 'remediated' then 'scan_after_claim' else 'scan_only' end when 'remediated' then 'declared' end`;
  const events = sql`select id::text as subject, jsonb_build_object('from', before, 'to', after, 'import_id', ${importId}::text) as data from closing`;
  const { rows } = await sql<{ count: number }>`
    with closing as materialized (${closingSql(orgId, ids)}), emitted as (
      ${emitSql(orgId, 'finding.status_changed', events)}
    ), recorded as (
      insert into finding_history (org_id, finding_id, id, actor_type, actor_id, actor_name, import_id, action, before, after, reason)
      select ${orgId}, id, new_id(), ${actor.type}, ${actor.id}, ${actor.name}, ${importId}, 'status_changed', jsonb_build_object('status', before),
        jsonb_strip_nulls(jsonb_build_object('status', after, 'assurance', ${assurance})), ${reason}
      from closing
    ), closed as (
      update findings f set status = closing.after, assurance = ${assurance}, status_reason = ${reason}, status_changed_at = least(closing.absent_at, now()), status_changed_by = null,
        closed_at = case when closing.after <> 'remediated' then least(closing.absent_at, now()) end,
        acceptance_owner = null, acceptance_expires_at = null, version = f.version + 1, updated_at = now()
      from closing where f.org_id = ${orgId} and f.id = closing.id
      returning closing.after
    )
    select count(*) filter (where after <> 'remediated')::int as count from closed`.execute(tx);
  return rows[0]?.count ?? 0;
}
