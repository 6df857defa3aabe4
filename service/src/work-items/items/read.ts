import { sql } from 'kysely';
import type { Static } from 'typebox';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type PageRequest, type SortColumns } from '../../db/pages.ts';
import { memberNames } from '../../organizations/relations.ts';
import { AppError, notFound } from '../../shared/errors.ts';
import { isUuid } from '../../shared/ids.ts';
import type { WorkItemQuery } from '../schemas.ts';
import { priorityRank } from './priority.ts';
import { isClosed } from './status.ts';

const listed = [
  'id',
  'title',
  'status',
  'status_reason',
  'status_changed_at',
  'assignee',
  'assignee_member_id',
  'priority',
  'due_at',
  'external_ref',
  'follows',
  'findings_open',
  'findings_in_progress',
  'findings_remediated',
  'findings_verified',
  'findings_excepted',
  'findings_aside',
  'closed_at',
  'created_by',
  'created_by_name',
  'version',
  'created_at',
  'updated_at',
] as const;

/** The name that the assigned member has now. */
const assigneeName = sql<string | null>`(select m.name from ${memberNames} m where m.org_id = work_items.org_id and m.id = work_items.assignee_member_id)`.as(
  'assignee_name',
);

export type WorkItemFilter = Omit<Static<typeof WorkItemQuery>, 'limit' | 'cursor' | 'sort' | 'total'>;

const RANGES = [
  ['created', 'created_at'],
  ['updated', 'updated_at'],
  ['due', 'due_at'],
] as const;

export function listItems(tx: TenantTx, orgId: string, filter: WorkItemFilter, page: PageRequest) {
  let query = tx.selectFrom('work_items').select(listed).select(assigneeName).where('org_id', '=', orgId);
  const { status, assignee, priority, overdue, finding_id, follows, q } = filter;
  if (status) query = query.where('status', 'in', status);
  if (assignee !== undefined) {
    const text = assignee.trim().toLowerCase();
    query = isUuid(text) ? query.where('assignee_member_id', '=', text) : query.where('assignee_key', '=', sql<string>`lower(${text}::text)`);
  }
  if (priority) query = query.where('priority', 'in', priority.map(priorityRank));
  if (overdue !== undefined) {
    const late = sql<boolean>`(due_at < now() and closed_at is null)`;
    query = query.where(overdue ? late : sql<boolean>`not ${late}`);
  }
  if (finding_id !== undefined)
    query = query.where(
      sql<boolean>`id in (select l.work_item_id from work_item_findings l where l.org_id = ${orgId} and l.finding_id = ${finding_id} and l.unlinked_at is null)`,
    );
  if (follows !== undefined) query = query.where('follows', '=', follows);
  if (q !== undefined) query = query.where(sql<boolean>`search @@ plainto_tsquery('simple', ${q})`);
  for (const [name, column] of RANGES) {
    const from = filter[`${name}_from`];
    const to = filter[`${name}_to`];
    if (from) query = query.where(column, '>=', new Date(from));
    if (to) query = query.where(column, '<', new Date(to));
  }
  if (filter.due_from !== undefined) query = query.where(sql<boolean>`due_at < 'infinity'`);
  type Row = Awaited<ReturnType<typeof query.executeTakeFirstOrThrow>>;
  const columns: SortColumns<Row> = {
    created_at: { column: 'created_at', type: 'timestamptz' },
    updated_at: { column: 'updated_at', type: 'timestamptz' },
    due_at: { column: 'due_at', type: 'timestamptz' },
    priority: { column: 'priority', type: 'smallint' },
  };
  return fetchPage(tx, query, columns, page);
}

export type ListedRow = Awaited<ReturnType<typeof listItems>>['data'][number];

export async function readItem(tx: TenantTx, orgId: string, id: string) {
  const item = await tx
    .selectFrom('work_items')
    .select(listed)
    .select(['description', assigneeName])
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!item) throw notFound('work item', id);
  return item;
}

export type WorkItemRow = Awaited<ReturnType<typeof readItem>>;

/** What is returned for a single work item but not in lists. */
export async function readItemDetails(tx: TenantTx, orgId: string, id: string) {
  const [approvals, followers] = await Promise.all([
    tx.selectFrom('work_item_approvals').selectAll().where('org_id', '=', orgId).where('work_item_id', '=', id).orderBy('id', 'desc').limit(100).execute(),
    tx.selectFrom('work_items').select('id').where('org_id', '=', orgId).where('follows', '=', id).execute(),
  ]);
  return { approvals, followedBy: followers[0]?.id ?? null };
}

/** All decisions on a work item, oldest first. */
export function readApprovals(tx: TenantTx, orgId: string, id: string): Promise<ApprovalRow[]> {
  return tx.selectFrom('work_item_approvals').selectAll().where('org_id', '=', orgId).where('work_item_id', '=', id).orderBy('id').execute();
}

export type WorkItemDetails = Awaited<ReturnType<typeof readItemDetails>>;
export type ApprovalRow = WorkItemDetails['approvals'][number];

/** Why findings cannot be added to or removed from the work item: the evidence of a closed one must stay true. */
export function findingsFixed({ status }: Pick<WorkItemRow, 'status'>): string | null {
  if (!isClosed(status)) return null;
  return `The work item is closed (${status}). Findings can no longer be added or removed. Create another work item.`;
}

export function assertFindingsChangeable(item: Pick<WorkItemRow, 'status'>): void {
  const fixed = findingsFixed(item);
  if (fixed !== null) throw new AppError('conflict', fixed);
}
