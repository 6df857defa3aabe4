import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import type { Actor } from '../../shared/actor.ts';
import { voidRequestsOfClosed } from '../decisions/decisions.ts';
import { provenGoneSql } from '../decisions/sightings.ts';
import { type FindingFollower, idsSql } from '../follower.ts';
import { historySql } from '../history.ts';
import { seenUntilSql } from '../merge/group-records.ts';
import { reasonSentences } from '../reason-codes.ts';
import { verifiedByScan, withdrawnBySystem } from '../status.ts';
import { foldAgain } from './fold-again.ts';

interface Ending {
  code: 'track_ended' | 'source_retired';
  /** Selects the sightings `s` of which nothing more will be heard, also not whether what the source only called fixed is gone. */
  where: RawBuilder<boolean>;
}

/**
 * Ends sightings because a person ended their track or retired their source. Findings that nobody sees any more are verified if another source or track
 * has proven that they are gone. The end itself proves nothing, so the others are withdrawn. Requires the import lock.
 */
export async function endSightings(tx: TenantTx, actor: Actor, follower: FindingFollower, { code, where }: Ending): Promise<void> {
  const { orgId } = actor;
  const { rows } = await sql<{ finding_id: string }>`
    update sightings s set state = 'unknown', absence = null, absent_at = null, gaps = case when s.state = 'present' and ${code === 'source_retired'} then array[${code}] end,
      last_seen = case when s.state = 'present' then ${seenUntilSql(orgId, sql`f.asset_id`)} else s.last_seen end
    from findings f where f.org_id = ${orgId} and f.id = s.finding_id and s.org_id = ${orgId} and (s.state = 'present' or s.absence = 'declared') and ${where}
    returning s.finding_id`.execute(tx);
  const ids = [...new Set(rows.map(({ finding_id }) => finding_id))];
  if (ids.length === 0) return;
  await foldAgain(tx, actor, ids);
  await closeUnseen(tx, actor, code, ids);
  await voidRequestsOfClosed(tx, orgId, idsSql(ids));
  await follower.follow(tx, actor, idsSql(ids));
}

async function closeUnseen(tx: TenantTx, actor: Actor, code: Ending['code'], ids: readonly string[]): Promise<void> {
  const { orgId } = actor;
  const { scan_absent, acceptance_fixed } = reasonSentences;
  const before = sql`jsonb_build_object('status', status, 'reason_code', reason_code, 'status_reason', status_reason, 'assurance', assurance)`;
  const after = sql`jsonb_build_object('status', became, 'reason_code', code, 'status_reason', sentence, 'assurance', proven)`;
  const entries = sql`select id as finding_id, 'status_changed' as action, ${before} as before, ${after} as after, sentence as reason from closing`;
  const events = sql`select id::text as subject, jsonb_build_object('from', status, 'to', became, 'reason_code', code, 'status_reason', sentence) as data from closing where listed`;
  await sql`
    with closing as materialized (
      select f.id, f.status, f.reason_code, f.status_reason, f.assurance, f.listed, verdict.became, verdict.code, verdict.sentence,
        case when verdict.became = 'verified' then case f.status when 'remediated' then 'scan_after_claim' else 'scan_only' end end as proven
      from findings f
      cross join lateral (
        select bool_or(s.state = 'present') as present, max(s.absent_at) filter (where ${provenGoneSql(orgId)}) as gone_at
        from sightings s where s.org_id = ${orgId} and s.finding_id = f.id
      ) seen
      join (values ('verified', 'scan_absent', ${scan_absent}::text), ('verified', 'acceptance_fixed', ${acceptance_fixed}), ('withdrawn', ${code}, ${reasonSentences[code]}))
        as verdict (became, code, sentence)
        on verdict.code = case when seen.gone_at is null then ${code} when f.status = 'risk_accepted' then 'acceptance_fixed' else 'scan_absent' end
      where f.org_id = ${orgId} and f.id in (${idsSql(ids)}) and f.merged_into is null and not seen.present and case
        when seen.gone_at is null then f.status = any(${withdrawnBySystem as readonly string[]})
        else f.status = 'risk_accepted' or (f.status = any(${verifiedByScan as readonly string[]}) and (f.status <> 'remediated' or seen.gone_at > f.status_changed_at)) end
      for no key update of f
    ), emitted as (
      ${emitSql(orgId, 'finding.status_changed', events)}
    ), recorded as (
      ${historySql(actor, entries)}
    ), ended as (
      update decisions d set state = 'ended', ended_at = now(), ended_reason = closing.code from closing
      where d.org_id = ${orgId} and d.finding_id = closing.id and d.state = 'active' and d.kind = 'acceptance'
    )
    update findings f set status = closing.became, status_reason = closing.sentence, reason_code = closing.code, assurance = closing.proven, status_changed_at = now(),
      status_changed_by = case closing.became when 'withdrawn' then ${actor.person?.id ?? null}::text end, acceptance_owner = null, acceptance_expires_at = null, compensating_control = null,
      closed_at = now(), version = f.version + 1, updated_at = now()
    from closing where f.org_id = ${orgId} and f.id = closing.id`.execute(tx);
}
