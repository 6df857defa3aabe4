import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { doubtAbsences } from '../../findings/absence/doubt-absences.ts';
import { findingFacts } from '../../findings/relations.ts';
import type { Actor } from '../../shared/actor.ts';
import { readStandings } from '../standing/read-standings.ts';
import { queueTicketSyncs } from '../tickets/jobs.ts';
import { countsOf, type FindingCounts, isClosed, rollUp, type WorkItemStatus } from './status.ts';

interface ItemCounts {
  id: string;
  status: WorkItemStatus;
  stored: FindingCounts;
  counts: FindingCounts;
}

const AUDIT_BATCH = 1_000;

/** Confirmed by a scan or by a second person. */
const proven = sql`coalesce(f.assurance in ('scan_only', 'scan_after_claim', 'independent'), false)`;
/** The source itself said that there is nothing. */
const takenBack = sql`coalesce(f.reason_code in ('source_retracted', 'check_retired'), false)`;

/** Updates counts and status of open work items from their findings, in a fixed number of statements. The caller must have the item lock. */
export async function rollUpItems(tx: TenantTx, actor: Actor, ids: readonly string[]): Promise<void> {
  const counted = await countFindings(tx, actor.orgId, ids);
  const changes = (await judgeClosing(tx, actor.orgId, counted))
    .map((item) => ({ ...item, to: rollUp(item.status, item.counts) }))
    .filter(({ status, to, stored, counts }) => status !== to || JSON.stringify(stored) !== JSON.stringify(counts));
  if (changes.length === 0) return;
  const written = changes.map(({ id, to, counts, status }) => ({ id, to, moves: to !== status, closes: isClosed(to), ...counts }));
  await sql`
    update work_items w set
      findings_open = c.open, findings_in_progress = c.in_progress, findings_remediated = c.remediated, findings_verified = c.verified, findings_excepted = c.excepted, findings_aside = c.aside,
      status = c."to",
      status_reason = case when c.moves then null else w.status_reason end,
      status_changed_at = case when c.moves then now() else w.status_changed_at end,
      status_changed_by = case when c.moves then null else w.status_changed_by end,
      closed_at = case when c.closes then now() end,
      version = w.version + c.moves::integer, updated_at = case when c.moves then now() else w.updated_at end
    from jsonb_to_recordset(${JSON.stringify(written)}::jsonb) as c (
      id uuid, "to" text, moves boolean, closes boolean, open integer, in_progress integer, remediated integer, verified integer, excepted integer, aside integer)
    where w.org_id = ${actor.orgId} and w.id = c.id`.execute(tx);
  await queueTicketSyncs(
    tx,
    actor.orgId,
    changes.map(({ id }) => id),
  );
  const moved = changes.filter(({ status, to }) => status !== to);
  for (let at = 0; at < moved.length; at += AUDIT_BATCH) await recordStatusChanges(tx, actor, moved.slice(at, at + AUDIT_BATCH));
}

/** A work item that its findings would close is judged like its evidence. What scans reported counts only if they can be believed. */
async function judgeClosing(tx: TenantTx, orgId: string, items: readonly ItemCounts[]): Promise<ItemCounts[]> {
  const closing = items.filter(({ status, counts }) => isClosed(rollUp(status, counts))).map(({ id }) => id);
  const judged = await readStandings(tx, orgId, closing);
  const unproven = [...judged.values()].flat().filter(({ standing }) => standing === 'active');
  if (unproven.length > 0)
    await doubtAbsences(
      tx,
      orgId,
      unproven.map(({ id }) => id),
    );
  return items.map((item) => ({ ...item, counts: judged.has(item.id) ? countsOf(judged.get(item.id) ?? []) : item.counts }));
}

async function recordStatusChanges(tx: TenantTx, actor: Actor, moved: readonly (ItemCounts & { to: WorkItemStatus })[]): Promise<void> {
  const changes = moved.map(({ id, status, to, counts }) => ({ id, before: { status }, after: { status: to, findings: counts } }));
  await recordAudit(
    tx,
    actor,
    ...changes.map(({ id, before, after }) => ({ action: 'work_item.status_changed' as const, objectType: 'work_item', objectId: id, before, after })),
  );
  await emit(
    tx,
    actor.orgId,
    ...changes.map(({ id, before, after }) => ({
      type: 'work_item.status_changed' as const,
      subject: id,
      data: { from: before.status, to: after.status, findings: after.findings },
    })),
  );
}

async function countFindings(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<ItemCounts[]> {
  const { rows } = await sql<ItemCounts>`
    select w.id, w.status,
      jsonb_build_object('open', w.findings_open, 'in_progress', w.findings_in_progress, 'remediated', w.findings_remediated, 'verified', w.findings_verified, 'excepted', w.findings_excepted, 'aside', w.findings_aside) as stored,
      counted.counts
    from work_items w cross join lateral (
      select jsonb_build_object(
        'open', count(*) filter (where f.status = 'open'), 'in_progress', count(*) filter (where f.status = 'in_progress'),
        'remediated', count(*) filter (where f.status = 'remediated' or (f.status = 'verified' and not ${proven})), 'verified', count(*) filter (where f.status = 'verified' and ${proven}),
        'excepted', count(*) filter (where f.status in ('risk_accepted', 'false_positive') or (f.status = 'withdrawn' and not ${takenBack})),
        'aside', count(*) filter (where f.status = 'withdrawn' and ${takenBack})) as counts
      from work_item_findings l join ${findingFacts} f on f.org_id = ${orgId} and f.id = l.finding_id
      where l.org_id = ${orgId} and l.work_item_id = w.id and l.unlinked_at is null
    ) counted
    where w.org_id = ${orgId} and w.id = any(${ids as string[]}::uuid[]) and w.closed_at is null
    order by w.id`.execute(tx);
  return rows;
}
