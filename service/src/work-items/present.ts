import type { Static } from 'typebox';
import { severityName } from '../findings/severity.ts';
import type { LinkedRow } from './items/links.ts';
import { priorityName } from './items/priority.ts';
import type { ApprovalRow, ListedRow, WorkItemDetails, WorkItemRow } from './items/read.ts';
import type { WorkItemStatus } from './items/status.ts';
import type { TimelineRow } from './items/timeline.ts';
import type { Approval, LinkedFinding, ListedWorkItem, TimelineEntry, WorkItem } from './schemas.ts';
import { toTicket } from './tickets/present.ts';
import type { TicketView } from './tickets/tickets.ts';

export function toListed(row: ListedRow): Static<typeof ListedWorkItem> {
  const due: Date | number = row.due_at;
  const counts = {
    open: row.findings_open,
    in_progress: row.findings_in_progress,
    remediated: row.findings_remediated,
    verified: row.findings_verified,
    excepted: row.findings_excepted,
    aside: row.findings_aside,
  };
  return {
    id: row.id,
    title: row.title,
    status: row.status,
    status_reason: row.status_reason,
    status_changed_at: row.status_changed_at.toISOString(),
    assignee: row.assignee,
    assignee_member_id: row.assignee_member_id,
    assignee_name: row.assignee_name,
    priority: priorityName(row.priority),
    // pg returns the timestamp 'infinity' as a number. It means that there is no due date.
    due_at: due instanceof Date ? due.toISOString() : null,
    overdue: due instanceof Date && due.getTime() < Date.now() && row.closed_at === null,
    external_ref: row.external_ref,
    follows: row.follows,
    findings: { total: Object.values(counts).reduce((sum, count) => sum + count, 0), ...counts },
    closed_at: row.closed_at?.toISOString() ?? null,
    created_by: row.created_by_name,
    version: row.version,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

export function toWorkItem(
  row: WorkItemRow,
  { approvals, followedBy }: WorkItemDetails,
  tickets: TicketView[],
): Omit<Static<typeof WorkItem>, 'may' | 'transitions'> {
  const more = { followed_by: followedBy, approvals: approvals.map(toApproval), tickets: tickets.map(toTicket) };
  return { ...toListed(row), description: row.description, ...more };
}

export function toApproval(row: ApprovalRow): Static<typeof Approval> {
  return {
    id: row.id,
    decision: row.decision,
    comment: row.comment,
    by: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    person: row.person === null ? null : { id: row.person, name: row.person_name ?? '' },
    independent: row.independent,
    state_digest: row.state_digest,
    work_item_status: row.item_status as WorkItemStatus,
    work_item_version: row.item_version,
    occurred_at: row.occurred_at.toISOString(),
  };
}

export function toLinked(row: LinkedRow): Static<typeof LinkedFinding> {
  return {
    finding_id: row.finding_id,
    title: row.title,
    status: row.status,
    assurance: row.assurance,
    severity: severityName(row.severity),
    risk_score: row.risk_score,
    asset: { id: row.asset_id, name: row.asset_name },
    linked_at: row.linked_at.toISOString(),
    linked_by: row.linked_by,
    unlinked_at: row.unlinked_at?.toISOString() ?? null,
    unlinked_by: row.unlinked_by,
    unlink_reason: row.unlink_reason,
  };
}

export function toTimelineEntry(row: TimelineRow): Static<typeof TimelineEntry> {
  return {
    id: row.id,
    occurred_at: row.occurred_at.toISOString(),
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    person: row.person === null ? null : { id: row.person, name: row.person_name ?? '' },
    action: row.action,
    object: { type: row.object_type, id: row.object_id },
    before: row.before,
    after: row.after,
    reason: row.reason,
    import_id: row.import_id,
  };
}
