/** The status machine of a work item: one table, pure. */
export const statuses = ['open', 'in_progress', 'blocked', 'awaiting_verification', 'verified', 'closed_with_exceptions', 'cancelled'] as const;
export type WorkItemStatus = (typeof statuses)[number];

/** Statuses that a person may ask for; the others follow from the findings alone. */
export const askable = ['open', 'in_progress', 'blocked', 'awaiting_verification', 'cancelled'] as const satisfies readonly WorkItemStatus[];
export type AskableStatus = (typeof askable)[number];

/** Who takes an item from one status to another: a person, or its findings by how they stand. */
export type By = 'person' | 'findings';

/** What is not here is forbidden. A closed item never reopens: what comes back goes to an item that follows it. */
const transitions: Readonly<Record<WorkItemStatus, Partial<Record<WorkItemStatus, readonly By[]>>>> = {
  open: {
    in_progress: ['person', 'findings'],
    blocked: ['person'],
    awaiting_verification: ['person', 'findings'],
    verified: ['findings'],
    closed_with_exceptions: ['findings'],
    cancelled: ['person'],
  },
  in_progress: {
    open: ['person'],
    blocked: ['person'],
    awaiting_verification: ['person', 'findings'],
    verified: ['findings'],
    closed_with_exceptions: ['findings'],
    cancelled: ['person'],
  },
  blocked: {
    open: ['person'],
    in_progress: ['person'],
    awaiting_verification: ['person'],
    verified: ['findings'],
    closed_with_exceptions: ['findings'],
    cancelled: ['person'],
  },
  awaiting_verification: {
    open: ['person'],
    in_progress: ['person', 'findings'],
    blocked: ['person'],
    verified: ['findings'],
    closed_with_exceptions: ['findings'],
    cancelled: ['person'],
  },
  verified: {},
  closed_with_exceptions: {},
  cancelled: {},
};

export function allowed(from: WorkItemStatus, by: By): WorkItemStatus[] {
  return statuses.filter((to) => transitions[from][to]?.includes(by));
}

export function mayMove(from: WorkItemStatus, to: WorkItemStatus, by: By): boolean {
  return transitions[from][to]?.includes(by) ?? false;
}

export function isClosed(status: WorkItemStatus): boolean {
  return Object.keys(transitions[status]).length === 0;
}

/** Closed because the work was done: what comes back from there is new work. A cancelled item was given up by a person, and stays given up. */
export const doneStatuses = ['verified', 'closed_with_exceptions'] as const satisfies readonly WorkItemStatus[];

/** How the findings of an item stand. */
export interface FindingCounts {
  open: number;
  in_progress: number;
  remediated: number;
  verified: number;
  /** Risk accepted, false positive or withdrawn. */
  excepted: number;
}

/** What the findings make of the item's status. A person's block outlasts everything but the end of the work. */
export function rollUp(status: WorkItemStatus, { open, in_progress, remediated, verified, excepted }: FindingCounts): WorkItemStatus {
  if (isClosed(status) || open + in_progress + remediated + verified + excepted === 0) return status;
  if (open + in_progress + remediated === 0) return excepted === 0 ? 'verified' : 'closed_with_exceptions';
  if (status === 'blocked') return status;
  if (open + in_progress === 0) return 'awaiting_verification';
  const begun = in_progress + remediated + verified > 0 || status === 'awaiting_verification';
  return begun ? 'in_progress' : status;
}
