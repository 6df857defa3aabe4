import { sql } from 'kysely';
import type { Static } from 'typebox';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { FindingFollower } from '../../findings/follower.ts';
import { changeFindings } from '../../findings/triage/bulk.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, invalidField } from '../../shared/errors.ts';
import type { WorkItemPatch as PatchSchema } from '../schemas.ts';
import { queueTicketSyncs } from '../tickets/jobs.ts';
import { resolveAssignee } from './assignee.ts';
import { followFindings } from './follow-findings.ts';
import { lockItems, lockLinksShared } from './locks.ts';
import { priorityName, priorityRank } from './priority.ts';
import { readItem, type WorkItemRow } from './read.ts';
import { allowed, isClosed, mayMove, type SettableStatus } from './status.ts';
import { contradiction, countsOf, findingMoves, reasonsToGive } from './transitions.ts';

export type WorkItemPatch = Static<typeof PatchSchema>;

interface Update {
  id: string;
  patch: WorkItemPatch;
  check: (current: WorkItemRow) => void;
}

export async function updateWorkItem(tx: TenantTx, actor: Actor, { id, patch, check }: Update): Promise<WorkItemRow> {
  const { orgId } = actor;
  assertReason(patch);
  // Locks on findings come before locks on work items, so the work item is read without a lock first and again under the lock.
  const first = await readItem(tx, orgId, id);
  check(first);
  const wanted = requestedMove(first, patch);
  const moved = wanted !== null && (await moveFindings(tx, actor, id, { to: wanted, reason: patch.reason }));
  if (moved) await lockLinksShared(tx, orgId);
  await lockItems(tx, orgId);
  const current = await readItem(tx, orgId, id);
  if (current.version !== first.version) check(current);
  await writeChanges(tx, actor, current, patch);
  if (moved)
    await followFindings.follow(
      tx,
      actor,
      sql`select finding_id from work_item_findings where org_id = ${orgId} and work_item_id = ${id} and unlinked_at is null`,
    );
  const updated = await readItem(tx, orgId, id);
  if (wanted !== null && updated.status !== wanted) throw contradicted(wanted, updated);
  return updated;
}

function assertReason({ status, reason }: WorkItemPatch): void {
  if (status !== undefined && reasonsToGive[status] !== undefined && !reason?.trim()) {
    throw invalidField({ in: 'body', path: '/reason', code: 'required', detail: `is required for \`${status}\`: say ${reasonsToGive[status]}` });
  }
  if (status === undefined && reason !== undefined) {
    throw invalidField({ in: 'body', path: '/reason', code: 'misplaced', detail: 'is only allowed together with `status`' });
  }
}

function requestedMove(item: WorkItemRow, { status: to }: WorkItemPatch): SettableStatus | null {
  if (to === undefined || to === item.status) return null;
  if (mayMove(item.status, to, 'person')) return to;
  const next = isClosed(item.status)
    ? 'Closed work items cannot be reopened. Create another one.'
    : `Allowed statuses: ${allowed(item.status, 'person').join(', ')}.`;
  throw new AppError('invalid_transition', `A work item cannot change from ${item.status} to ${to}. ${next}`);
}

/** The follower runs once at the end, when the work item has its new status. */
export const noFollower: FindingFollower = {
  follow: async () => {},
  assertOpen: async () => {},
  onWorkItems: async () => [],
  link: async () => {},
  moveLinks: async () => {},
  restoreLinks: async () => {},
};

async function moveFindings(tx: TenantTx, actor: Actor, id: string, { to, reason }: { to: SettableStatus; reason: string | undefined }): Promise<boolean> {
  const move = findingMoves[to];
  if (!move) return false;
  const change = { status: move.to, ...(reason === undefined ? {} : { reason }) };
  await changeFindings(tx, actor, { filter: { work_item_id: id, status: move.from }, change }, noFollower);
  return true;
}

async function writeChanges(tx: TenantTx, actor: Actor, current: WorkItemRow, patch: WorkItemPatch): Promise<void> {
  const { orgId } = actor;
  const to = requestedMove(current, patch);
  const assigned = patch.assignee === undefined ? {} : await resolveAssignee(tx, orgId, patch.assignee);
  const { title, description, external_ref, due_at, priority } = patch;
  const columns = {
    ...Object.fromEntries(Object.entries({ title, description, external_ref }).filter(([, value]) => value !== undefined)),
    ...assigned,
    ...(priority === undefined ? {} : { priority: priorityRank(priority) }),
    ...(due_at === undefined ? {} : { due_at: due_at === null ? Number.POSITIVE_INFINITY : new Date(due_at) }),
    ...(to === null ? {} : { status: to, status_reason: patch.reason ?? null }),
  } as Partial<WorkItemRow>;
  const names = (Object.keys(columns) as (keyof WorkItemRow)[]).filter((name) => comparable(current[name]) !== comparable(columns[name]));
  if (names.length === 0) return;
  const { due_at: due, ...others } = columns;
  const moves =
    to === null ? {} : { status_changed_at: sql<Date>`now()`, status_changed_by: actor.person?.id ?? null, closed_at: isClosed(to) ? sql<Date>`now()` : null };
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
  await queueTicketSyncs(tx, orgId, [current.id]);
  const changedFields = (from: Partial<WorkItemRow>) =>
    Object.fromEntries(names.map((name) => [name, name === 'priority' && from.priority !== undefined ? priorityName(from.priority) : comparable(from[name])]));
  const [before, after] = [changedFields(current), changedFields(columns)];
  const action = to === null ? 'work_item.updated' : 'work_item.status_changed';
  await recordAudit(tx, actor, { action, objectType: 'work_item', objectId: current.id, before, after });
  await emit(tx, orgId, { type: action, subject: current.id, data: { ...(to === null ? {} : { from: current.status, to }), ...after } });
}

/** pg returns the timestamp 'infinity' as a number. */
function comparable(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  return value === Number.POSITIVE_INFINITY ? null : value;
}

function contradicted(wanted: SettableStatus, item: WorkItemRow): AppError {
  return new AppError('conflict', contradiction(wanted, { status: item.status, counts: countsOf(item) }));
}
