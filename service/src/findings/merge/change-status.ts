import { type RawBuilder, sql } from 'kysely';
import { assetTracks, assetVersions } from '../../assets/relations.ts';
import { trackName } from '../../assets/track-name.ts';
import type { TenantTx } from '../../db/database.ts';
import { anyRows } from '../../db/rows.ts';
import { emitSql } from '../../events/emit.ts';
import { endedBySourceSql, provenGoneSql } from '../decisions/sightings.ts';
import { historySql } from '../history.ts';
import { type ReasonCode, reasonSentences } from '../reason-codes.ts';
import { scanOfSql } from '../scan-of.ts';
import { dueSql } from '../sla.ts';
import { type Assurance, reopenedByScan, verifiedByScan } from '../status.ts';
import type { Resolution } from './resolution.ts';

/**
 * Reopens findings that the import sees. A status that a scan set gives way to any present sighting, whatever the order of imports was. A status that a
 * person set gives way to a scan that took place later. Whoever ends a track or retires a source decides about these, not about what others still see, and whoever
 * separates findings decides about none of them.
 * Returns whether there were any.
 */
export async function reopenSeen(tx: TenantTx, { orgId, importId, sourceId, sla, actor }: Resolution): Promise<boolean> {
  const sentence = sql`${reasonSentences.scan_seen_again}::text`;
  const events = sql`
    select id::text as subject, jsonb_build_object('from', before, 'to', 'open', 'reason_code', 'scan_seen_again', 'import_id', ${importId}::text, 'reason', ${sentence}) || scan as data from reopened where listed`;
  const entries = sql`
    select id as finding_id, 'reopened' as action, jsonb_build_object('status', before) as before, jsonb_build_object('status', 'open', 'reason_code', 'scan_seen_again') || scan
        || jsonb_build_object('clock_started_at', seen_at) as after,
      ${sentence} as reason from reopened`;
  const { numAffectedRows = 0n } = await sql`
    with reopened as materialized (
      select f.id, f.listed, f.status as before, f.assurance, max(g.seen_at) as seen_at, ${scanOfSql(orgId, importId, sql`f.id`)} as scan
      from tenant_import_groups g
      join findings f on f.org_id = ${orgId} and f.id = g.finding_id and f.status = any(${reopenedByScan as readonly string[]})
      join sightings s on s.org_id = ${orgId} and s.finding_id = g.finding_id and s.source_id = ${sourceId} and s.track = g.track and s.state = 'present'
      where g.org_id = ${orgId} and g.import_id = ${importId} and g.present
        and (g.seen_at > f.status_changed_at or (f.status_changed_by is null and f.status <> 'remediated') or (f.status = 'withdrawn' and (f.reason_code = 'split' or ${isEndedElsewhere(orgId)})))
      group by f.org_id, f.id
    ), emitted as (
      ${emitSql(orgId, 'finding.status_changed', events)}
    ), recorded as (
      ${historySql(actor, entries, importId)}
    ), marked as (
      update tenant_import_groups g set outcome = 'reopened' from reopened where g.org_id = ${orgId} and g.import_id = ${importId} and g.finding_id = reopened.id
    )
    update findings f set status = 'open', reason_code = 'scan_seen_again', status_reason = ${sentence}, status_changed_at = reopened.seen_at, status_changed_by = null,
      assurance = null, closed_at = null, clock_from = reopened.seen_at, due_at = ${dueSql(sla, sql`reopened.seen_at`, sql`f.severity`, sql`f.kev`)},
      reopen_count = f.reopen_count + 1, version = f.version + 1, updated_at = now()
    from reopened where f.org_id = ${orgId} and f.id = reopened.id`.execute(tx);
  return numAffectedRows > 0n;
}

/** Whether the finding `f` was closed because a source or track ended, and that of the group `g` is another one, or in use again. */
function isEndedElsewhere(orgId: string): RawBuilder<unknown> {
  const ended = sql`${['track_ended', 'source_retired'] satisfies ReasonCode[]}::text[]`;
  return sql`f.reason_code = any(${ended}) and not exists (
    select from ${assetTracks} track where track.org_id = ${orgId} and track.asset_id = g.asset_id and track.n = g.track and track.ended_at is not null)`;
}

const closable = sql`${verifiedByScan as readonly string[]}`;
/** Assurances of findings that are called verified without proof. */
const UNPROVEN: readonly Assurance[] = ['declared', 'artifact'];

/**
 * What follows for findings of `ids` that no source sees any more: `verified` if at least one source would have seen them, `remediated` if a report only
 * states it, otherwise `withdrawn`. `track` and `version` are what the scan that no longer shows them covered. A claim that is newer than the scans stays a claim. A finding that was called verified without proof is verified by the scan, and one whose proof a late report
 * refutes is withdrawn. One that was withdrawn is verified if a late report shows that it was gone before.
 */
function closingSql(orgId: string, ids: RawBuilder<unknown>): RawBuilder<unknown> {
  const { scan_absent, acceptance_fixed, source_fixed, source_retracted, source_retired, check_retired, asset_gone, track_ended } = reasonSentences;
  return sql`
    select f.id, f.listed, f.status as before, seen.absent_at, verdict.status as after, verdict.code, verdict.sentence,
      case verdict.status when 'verified' then case when f.status = 'remediated' or (f.status = 'verified' and f.assurance <> 'scan_only') then 'scan_after_claim' else 'scan_only' end when 'remediated' then 'declared' end as assurance,
      coalesce(track.name, ${trackName(null)}) as track, build.name as version
    from findings f
    cross join lateral (
      select bool_or(s.state = 'present') as present, max(s.absent_at) as absent_at, bool_or(s.proves) as gone, bool_or(s.absence = 'declared') as declared, bool_or(s.doubted) as doubted, bool_or(${endedBySourceSql('s')}) as ended,
        coalesce(max(s.absent_at) filter (where s.proves), max(s.absent_at)) as decided_at,
        (array_agg(s.absence order by s.absence = 'gone', s.absent_at desc, s.absence) filter (where s.absence is not null))[1] as last,
        (array_agg(array[s.source_id::text, s.track::text, s.last_import_id::text] order by s.proves desc, s.absent_at desc nulls last, s.absence, s.source_id, s.track))[1:1] as scan
      from (select s.*, ${provenGoneSql(orgId)} as proves from sightings s where s.org_id = ${orgId} and s.finding_id = f.id) s
    ) seen
    join (values
      ('verified', 'scan_absent', ${scan_absent}::text), ('verified', 'acceptance_fixed', ${acceptance_fixed}::text),
      ('remediated', 'source_fixed', ${source_fixed}::text), ('withdrawn', 'source_retracted', ${source_retracted}::text), ('withdrawn', 'source_retired', ${source_retired}::text),
      ('withdrawn', 'check_retired', ${check_retired}::text), ('withdrawn', 'asset_gone', ${asset_gone}::text), ('withdrawn', 'track_ended', ${track_ended}::text)
    ) as verdict (status, code, sentence)
      on verdict.code = case when seen.gone then case f.status when 'risk_accepted' then 'acceptance_fixed' else 'scan_absent' end
        when seen.declared then 'source_fixed' when seen.ended then 'source_retired' when seen.last in ('retracted', 'gone') then 'source_retracted' else coalesce(seen.last, 'source_retracted') end
    left join ${assetTracks} track on track.org_id = ${orgId} and track.asset_id = f.asset_id and track.n = seen.scan[1][2]::smallint
    left join run_assets run on run.org_id = ${orgId} and run.source_id = seen.scan[1][1]::uuid and run.asset_id = f.asset_id and run.track = seen.scan[1][2]::smallint
      and run.import_id = seen.scan[1][3]::uuid
    left join ${assetVersions} build on build.org_id = ${orgId} and build.asset_id = f.asset_id and build.n = run.version_n
    where f.org_id = ${orgId} and f.id in (${ids}) and not seen.present
      and (f.status = any(${closable}) or (f.status = 'verified' and (f.assurance = any(${UNPROVEN as string[]}) or seen.doubted) and seen.gone and seen.decided_at > f.status_changed_at)
        or (f.status = 'verified' and f.status_changed_by is null and not seen.gone and seen.last = 'retracted')
        or (f.status = 'withdrawn' and f.reason_code in ('source_retracted', 'asset_gone', 'track_ended') and f.status_changed_by is null and seen.gone))
      and (f.status <> 'remediated' or (seen.decided_at > f.status_changed_at and (seen.gone or not seen.declared)))
      and (f.status <> 'risk_accepted' or seen.gone or not seen.declared)`;
}

/** Closes findings of `ids` that no source sees any more, and ends acceptances that are no longer needed. Returns how many. */
export async function closeUnseen(
  tx: TenantTx,
  { orgId, importId, actor }: Pick<Resolution, 'orgId' | 'actor'> & { importId: string | null },
  ids: RawBuilder<unknown>,
): Promise<number> {
  if (!(await anyRows(tx, ids))) return 0;
  const events = sql`
    select id::text as subject, jsonb_build_object('from', before, 'to', after, 'reason_code', code, 'import_id', ${importId}::text, 'scanned_at', absent_at, 'track', track, 'version', version) as data from closing where listed and before <> after`;
  const entries = sql`
    select id as finding_id, 'status_changed' as action, jsonb_build_object('status', before) as before,
      jsonb_strip_nulls(jsonb_build_object('status', after, 'reason_code', code, 'assurance', assurance, 'scanned_at', absent_at, 'track', track, 'version', version)) as after, sentence as reason from closing`;
  const { rows } = await sql<{ count: number }>`
    with closing as materialized (${closingSql(orgId, ids)}), emitted as (
      ${emitSql(orgId, 'finding.status_changed', events)}
    ), recorded as (
      ${historySql(actor, entries, importId)}
    ), ended as (
      update decisions d set state = 'ended', ended_at = now(), ended_reason = closing.code from closing
      where d.org_id = ${orgId} and d.finding_id = closing.id and d.state = 'active' and d.kind = 'acceptance'
    ), closed as (
      update findings f set status = closing.after, assurance = closing.assurance, reason_code = closing.code, status_reason = closing.sentence,
        status_changed_at = least(closing.absent_at, now()), status_changed_by = null, closed_at = case when closing.after <> 'remediated' then least(closing.absent_at, now()) end,
        acceptance_owner = null, acceptance_expires_at = null, compensating_control = null, version = f.version + 1, updated_at = now()
      from closing where f.org_id = ${orgId} and f.id = closing.id
      returning closing.before, closing.after
    )
    select count(*) filter (where after <> 'remediated' and after <> before)::int as count from closed`.execute(tx);
  return rows[0]?.count ?? 0;
}

/** Whether scans closed the finding `f`, and nobody had claimed or decided anything about it. */
export const isClosedByScans = sql<boolean>`(f.status in ('verified', 'withdrawn') and f.status_changed_by is null
  and f.reason_code in ('scan_absent', 'source_retracted') and f.assurance is distinct from 'scan_after_claim')`;

/** Late reports can show that findings of `ids` were gone earlier, or later, than was known when scans closed them. */
export async function followScanTimes(tx: TenantTx, orgId: string, ids: RawBuilder<unknown>): Promise<void> {
  await sql`
    with gone as materialized (
      select s.finding_id, least(max(s.absent_at), now()) as at from sightings s where s.org_id = ${orgId} and s.finding_id in (${ids})
      group by 1 having bool_and(s.state = 'absent')
    )
    update findings f set closed_at = gone.at, status_changed_at = gone.at, version = f.version + 1, updated_at = now() from gone
    where f.org_id = ${orgId} and f.id = gone.finding_id and f.closed_at <> gone.at and ${isClosedByScans}`.execute(tx);
}
