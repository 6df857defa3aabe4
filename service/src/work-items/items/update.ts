import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { FindingFollower } from '../../findings/follower.ts';
import type { Status } from '../../findings/status.ts';
import { changeFindings } from '../../findings/triage/bulk.ts';
import { personOf } from '../../findings/triage/triage.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, invalidField } from '../../shared/errors.ts';
import { followWithTickets } from '../tickets/jobs.ts';
import { assigneeOf } from './assignee.ts';
import { followFindings } from './follow-findings.ts';
import { lockItems, shareGate } from './locks.ts';
import { type Priority, priorityRank } from './priority.ts';
import { readItem, type WorkItemRow } from './read.ts';
import { type AskableStatus, allowed, isClosed, mayMove } from './status.ts';

export interface WorkItemPatch {
  title?: string;
  description?: string | null;
  assignee?: string | null;
  priority?: Priority;
  due_at?: string | null;
  external_ref?: string | null;
  status?: AskableStatus;
  reason?: string;
}

interface Update {
  id: string;
  patch: WorkItemPatch;
  check: (current: WorkItemRow) => void;
}

/** What a person's word about the item says about its findings. */
const taken: Partial<Record<AskableStatus, { from: Status[]; to: Status }>> = {
  open: { from: ['in_progress'], to: 'open' },
  in_progress: { from: ['open'], to: 'in_progress' },
  awaiting_verification: { from: ['open', 'in_progress'], to: 'remediated' },
};

export async function updateWorkItem(tx: TenantTx, actor: Actor, { id, patch, check }: Update): Promise<WorkItemRow> {
  const { orgId } = actor;
  assertMeant(patch);
  // Findings are locked before items: the item is looked at now, and again when it cannot change any more.
  const seen = await readItem(tx, orgId, id);
  check(seen);
  const wanted = moveOf(seen, patch);
  const moved = wanted !== null && (await moveFindings(tx, actor, id, wanted, patch.reason));
  if (moved) await shareGate(tx, orgId);
  await lockItems(tx, orgId);
  const current = await readItem(tx, orgId, id);
  if (current.version !== seen.version) check(current);
  await writeChanges(tx, actor, current, patch);
  if (moved)
    await followFindings.follow(
      tx,
      actor,
      sql`select finding_id from work_item_findings where org_id = ${orgId} and work_item_id = ${id} and unlinked_at is null`,
    );
  const updated = await readItem(tx, orgId, id);
  if (wanted !== null && updated.status !== wanted) throw outvoted(wanted, updated);
  return updated;
}

function assertMeant({ status, reason }: WorkItemPatch): void {
  const why: Partial<Record<AskableStatus, string>> = {
    blocked: 'says what the work waits for',
    cancelled: 'says why the work is given up',
    awaiting_verification: 'says what was done',
  };
  if (status !== undefined && why[status] !== undefined && !reason?.trim()) {
    throw invalidField({ in: 'body', path: '/reason', code: 'required', detail: `is required: it ${why[status]}` });
  }
  if (status === undefined && reason !== undefined) {
    throw invalidField({ in: 'body', path: '/reason', code: 'misplaced', detail: 'goes with a status only' });
  }
}

function moveOf(item: WorkItemRow, { status: to }: WorkItemPatch): AskableStatus | null {
  if (to === undefined || to === item.status) return null;
  if (mayMove(item.status, to, 'person')) return to;
  const next = isClosed(item.status)
    ? 'a closed work item stays closed, so that its evidence stays true: create another one'
    : `from here you may make it ${allowed(item.status, 'person').join(', ')}`;
  throw new AppError('invalid_transition', `A work item that is ${item.status} cannot become ${to}; ${next}.`);
}

/** Whoever follows these changes does so at the end, when the item has its new status. */
const nobody: FindingFollower = { follow: async () => {}, assertOpen: async () => {}, link: async () => {} };

async function moveFindings(tx: TenantTx, actor: Actor, id: string, to: AskableStatus, reason?: string): Promise<boolean> {
  const move = taken[to];
  if (!move) return false;
  const change = { status: move.to, ...(reason === undefined ? {} : { reason }) };
  await changeFindings(tx, actor, { filter: { work_item_id: id, status: move.from }, change }, nobody);
  return true;
}

async function writeChanges(tx: TenantTx, actor: Actor, current: WorkItemRow, patch: WorkItemPatch): Promise<void> {
  const { orgId } = actor;
  const to = moveOf(current, patch);
  const assigned = patch.assignee === undefined ? {} : await assigneeOf(tx, orgId, patch.assignee);
  const { title, description, external_ref, due_at, priority } = patch;
  const columns = {
    ...Object.fromEntries(Object.entries({ title, description, external_ref }).filter(([, value]) => value !== undefined)),
    ...assigned,
    ...(priority === undefined ? {} : { priority: priorityRank(priority) }),
    ...(due_at === undefined ? {} : { due_at: due_at === null ? Number.POSITIVE_INFINITY : new Date(due_at) }),
    ...(to === null ? {} : { status: to, status_reason: patch.reason ?? null }),
  } as Partial<WorkItemRow>;
  const names = (Object.keys(columns) as (keyof WorkItemRow)[]).filter((name) => shown(current[name]) !== shown(columns[name]));
  if (names.length === 0) return;
  const { due_at: due, ...others } = columns;
  const moves =
    to === null ? {} : { status_changed_at: sql<Date>`now()`, status_changed_by: personOf(actor), closed_at: isClosed(to) ? sql<Date>`now()` : null };
  await tx
    .updateTable('work_items')
    .set({
      ...others,
      ...(due === undefined ? {} : { due_at: due instanceof Date ? due : sql<Date>`'infinity'` }),
      ...moves,
      version: current.version + 1,
      updated_at: sql<Date>`now()`,
    })
    .where('org_id', '=', orgId)
    .where('id', '=', current.id)
    .execute();
  await followWithTickets(tx, orgId, [current.id]);
  const side = (from: Partial<WorkItemRow>) => Object.fromEntries(names.map((name) => [name, shown(from[name])]));
  const [before, after] = [side(current), side(columns)];
  const action = to === null ? 'work_item.updated' : 'work_item.status_changed';
  await recordAudit(tx, actor, { action, objectType: 'work_item', objectId: current.id, before, after });
  await emit(tx, orgId, { type: action, subject: current.id, data: { ...(to === null ? {} : { from: current.status, to }), ...after } });
}

/** A deadline that never comes arrives as a number. */
function shown(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  return value === Number.POSITIVE_INFINITY ? null : value;
}

/** The findings say otherwise, by the same rule that the item follows when they change. */
function outvoted(wanted: AskableStatus, { status, ...item }: WorkItemRow): AppError {
  const counts = [
    [item.findings_open, 'open'],
    [item.findings_in_progress, 'in progress'],
    [item.findings_remediated, 'claimed as remediated'],
    [item.findings_verified, 'verified'],
    [item.findings_excepted, 'accepted, false or withdrawn'],
  ] as const;
  const standing = counts.flatMap(([count, name]) => (count > 0 ? [`${count} ${name}`] : [])).join(', ');
  return new AppError(
    'conflict',
    `The work item cannot be ${wanted}: by its findings (${standing}) it is ${status}. Change those findings, or ask for ${status}.`,
  );
}
