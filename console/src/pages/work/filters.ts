import type { WorkItemStatus } from '@rrs/client';
import type { Filter } from '../../lists/filters.ts';

export const workStatuses: readonly WorkItemStatus[] = [
  'open',
  'in_progress',
  'blocked',
  'awaiting_verification',
  'verified',
  'closed_with_exceptions',
  'cancelled',
];
const OPEN = 'open,in_progress,blocked,awaiting_verification';

/** The filters of `GET /work-items`, by name. */
export const workFilters: readonly Filter[] = [
  { name: 'q', label: 'Text' },
  { name: 'status', label: 'Status', options: workStatuses, isList: true },
  { name: 'assignee', label: 'Assignee' },
  { name: 'priority', label: 'Priority', options: ['critical', 'high', 'medium', 'low'], isList: true },
  { name: 'overdue', label: 'Overdue', options: ['true', 'false'] },
  { name: 'due_from', label: 'Due since' },
  { name: 'due_to', label: 'Due before' },
  { name: 'created_from', label: 'Created since' },
  { name: 'created_to', label: 'Created before' },
  { name: 'updated_from', label: 'Changed since' },
  { name: 'updated_to', label: 'Changed before' },
  { name: 'finding_id', label: 'Has the finding' },
  { name: 'follows', label: 'Follows the work item' },
];

export const firstView = { status: OPEN, sort: 'due_at' };

export const workViews = (email: string | null) => [
  { label: 'To do', query: firstView },
  ...(email === null ? [] : [{ label: 'Mine', query: { status: OPEN, assignee: email, sort: 'due_at' } }]),
  { label: 'Overdue', query: { overdue: 'true', sort: 'due_at' } },
  { label: 'To verify', query: { status: 'awaiting_verification', sort: 'due_at' } },
  { label: 'Blocked', query: { status: 'blocked', sort: 'due_at' } },
  { label: 'Closed', query: { status: 'verified,closed_with_exceptions,cancelled', sort: '-updated_at' } },
  { label: 'All', query: {} },
];
