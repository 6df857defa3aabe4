import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import { type HistoryActor, historySql } from '../history.ts';
import { type ReasonCode, reasonSentences } from '../reason-codes.ts';
import { scanOfSql } from '../scan-of.ts';
import { isUncovered } from './places.ts';

/** Why scans end an acceptance of which nothing is left. It holds again if the finding is back. */
const endedByScan: readonly ReasonCode[] = ['acceptance_fixed', 'scan_absent', 'source_retracted', 'check_retired', 'asset_gone', 'track_ended'];

/** Why a finding is open that no person reopened. */
const reopened: readonly ReasonCode[] = ['scan_seen_again', 'asset_listed', 'scan_unable'];
const whileActive = sql`${[...reopened, 'new_occurrence', 'merged']}::text[]`;
const onceEnded = sql`${[...reopened, 'track_unmerged', 'asset_unmerged']}::text[]`;

interface Scope {
  /** Selects the findings whose places may have changed. May select more. */
  ids: RawBuilder<unknown>;
  /** Null if a person changed the places. */
  importId: string | null;
}

/**
 * A decision stays on its places. A finding that is reported at another place is open. When it is reported only at covered places again, the decision holds
 * again. So does an acceptance whose finding was gone and is back before the acceptance would have expired. Returns the findings whose status changed.
 */
export async function followPlaces(tx: TenantTx, actor: HistoryActor, { ids, importId }: Scope): Promise<string[]> {
  const { orgId } = actor;
  const decided = sql`case d.kind when 'acceptance' then 'risk_accepted' else 'false_positive' end`;
  const { new_occurrence, decision_resumed, acceptance_resumed } = reasonSentences;
  const entries = sql`
    select id as finding_id, 'status_changed' as action, jsonb_build_object('status', before, 'reason_code', old_code) as before,
      jsonb_build_object('status', after, 'reason_code', code, 'status_reason', reason, 'compensating_control', control) || scan as after, sentence as reason from moved`;
  const events = sql`
    select id::text as subject, jsonb_build_object('from', before, 'to', after, 'reason_code', code, 'import_id', ${importId}::text, 'reason', sentence) || scan as data from moved`;
  const { rows } = await sql<{ id: string }>`
    with candidates as materialized (
      select f.id, f.status as before, f.reason_code as old_code, d.id as decision_id, d.kind, d.state, d.owner, d.expires_at, d.compensating_control, d.reason as words, d.justification,
        ${decided} as decided, ${isUncovered(orgId)} as uncovered,
        d.kind = 'acceptance' and (d.expires_at <= now() or f.severity > d.severity or (f.kev and not d.kev)) as outdated,
        exists (select from sightings s where s.org_id = ${orgId} and s.finding_id = f.id and s.state = 'present') as present
      from findings f
      join lateral (
        select * from decisions d where d.org_id = ${orgId} and d.finding_id = f.id
          and (d.state = 'active' or (d.state = 'ended' and d.ended_reason = any(${endedByScan})))
        order by d.state, d.decided_at desc limit 1
      ) d on true
      where f.org_id = ${orgId} and f.id in (${ids}) and (f.status in ('risk_accepted', 'false_positive') or f.reason_code = any(${whileActive} || ${onceEnded}))
    ), moved as materialized (
      select c.*, ${scanOfSql(orgId, importId, sql`c.id`)} as scan, case when uncovered then 'open' else decided end as after, case when not uncovered then compensating_control end as control,
        case when uncovered then ${new_occurrence}::text else coalesce(words, case state when 'ended' then ${acceptance_resumed}::text else ${decision_resumed}::text end) end as reason,
        case when uncovered then 'new_occurrence' when state = 'ended' then 'acceptance_resumed' else 'decision_resumed' end as code,
        case when uncovered then ${new_occurrence}::text when state = 'ended' then ${acceptance_resumed}::text else ${decision_resumed}::text end as sentence
      from candidates c
      where (uncovered and state = 'active' and before = decided)
        or (not uncovered and present and before = 'open' and not outdated and old_code = any(case state when 'active' then ${whileActive} else ${onceEnded} end))
    ), emitted as (
      ${emitSql(orgId, 'finding.status_changed', events)}
    ), recorded as (
      ${historySql(actor, entries, importId)}
    ), resumed as (
      update decisions d set state = 'active', ended_at = null, ended_reason = null from moved
      where moved.code = 'acceptance_resumed' and d.org_id = ${orgId} and d.finding_id = moved.id and d.id = moved.decision_id
    )
    update findings f set status = moved.after, reason_code = moved.code, status_changed_at = now(), status_changed_by = null, assurance = null,
      status_reason = moved.reason,
      acceptance_owner = case moved.after when 'risk_accepted' then moved.owner end, acceptance_expires_at = case moved.after when 'risk_accepted' then moved.expires_at end,
      compensating_control = moved.control, justification = case moved.after when 'false_positive' then moved.justification end, closed_at = case when moved.after <> 'open' then now() end,
      version = f.version + 1, updated_at = now()
    from moved where f.org_id = ${orgId} and f.id = moved.id
    returning f.id`.execute(tx);
  return rows.map(({ id }) => id);
}
