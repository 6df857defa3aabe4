import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import { type HistoryActor, historySql } from '../history.ts';
import { type ReasonCode, reasonSentences } from '../reason-codes.ts';

/** Why scans close findings. */
const closedByScan: readonly ReasonCode[] = ['scan_absent', 'acceptance_fixed', 'source_retracted', 'check_retired', 'asset_gone', 'track_ended'];

/**
 * Gives findings that a scan closed, and that a source still sees, the status back that they had before. Accepted risks are open first: whether the
 * acceptance still holds depends on its places. Returns the findings that changed.
 */
export async function reopenUnproven(
  tx: TenantTx,
  actor: HistoryActor,
  ids: readonly string[],
  code: 'asset_unmerged' | 'track_unmerged' | 'split' | 'asset_listed' | 'scan_unable',
): Promise<string[]> {
  if (ids.length === 0) return [];
  const { orgId } = actor;
  const sentence = sql`${reasonSentences[code]}::text`;
  const entries = sql`
    select id as finding_id, 'status_changed' as action, jsonb_build_object('status', status, 'reason_code', reason_code, 'assurance', assurance) as before,
      jsonb_strip_nulls(jsonb_build_object('status', became, 'reason_code', ${code}::text, 'assurance', claim)) as after, ${sentence} as reason from closed`;
  const events = sql`
    select id::text as subject, jsonb_build_object('from', status, 'to', became, 'reason_code', ${code}::text, 'reason', ${sentence}) as data from closed where listed`;
  const { rows } = await sql<{ id: string }>`
    with closed as materialized (
      select f.id, f.status, f.reason_code, f.assurance, f.listed, coalesce(earlier.status, 'open') as became, case earlier.status when 'remediated' then 'declared' end as claim
      from findings f
      left join lateral (
        select h.before->>'status' as status from finding_history h
        where h.org_id = ${orgId} and h.finding_id = f.id and h.import_id is not null and h.after->>'status' = f.status order by h.occurred_at desc, h.id desc limit 1
      ) last on true
      left join lateral (select last.status where last.status in ('in_progress', 'remediated')) earlier on true
      where f.org_id = ${orgId} and f.id = any(${ids as string[]}::uuid[]) and f.merged_into is null and f.status in ('verified', 'withdrawn') and f.reason_code = any(${closedByScan})
        and exists (select from sightings s where s.org_id = ${orgId} and s.finding_id = f.id and s.state = 'present')
      for no key update of f
    ), emitted as (${emitSql(orgId, 'finding.status_changed', events)}), recorded as (${historySql(actor, entries)})
    update findings f set status = closed.became, reason_code = ${code}, status_reason = ${sentence}, status_changed_at = now(),
      status_changed_by = ${actor.person?.id ?? null}::text, assurance = closed.claim, closed_at = null, version = f.version + 1, updated_at = now()
    from closed where f.org_id = ${orgId} and f.id = closed.id returning f.id`.execute(tx);
  return rows.map(({ id }) => id);
}
