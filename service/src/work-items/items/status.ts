import type { Standing } from '@rrs/evidence-format';

/** The status machine of a work item. */
export const statuses = ['open', 'in_progress', 'blocked', 'awaiting_verification', 'verified', 'closed_with_exceptions', 'cancelled'] as const;
export type WorkItemStatus = (typeof statuses)[number];

/** Statuses that a person can set. The others follow only from the findings. */
export const settableStatuses = ['open', 'in_progress', 'blocked', 'awaiting_verification', 'cancelled'] as const satisfies readonly WorkItemStatus[];
export type SettableStatus = (typeof settableStatuses)[number];

/** What causes a transition: a person, or the statuses of the findings. */
export type Cause = 'person' | 'findings';

/** All allowed transitions. Closed work items are never reopened: findings that come back go to a work item that follows. */
const transitions: Readonly<Record<WorkItemStatus, Partial<Record<WorkItemStatus, readonly Cause[]>>>> = {
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

export function allowed(from: WorkItemStatus, by: Cause): WorkItemStatus[] {
  return statuses.filter((to) => transitions[from][to]?.includes(by));
}

export function mayMove(from: WorkItemStatus, to: WorkItemStatus, by: Cause): boolean {
  return transitions[from][to]?.includes(by) ?? false;
}

export function isClosed(status: WorkItemStatus): boolean {
  return Object.keys(transitions[status]).length === 0;
}

/** Closed because the work was done. Findings that come back get a follow-up work item, unlike those of a cancelled work item. */
export const doneStatuses = ['verified', 'closed_with_exceptions'] as const satisfies readonly WorkItemStatus[];

/** Number of findings by what they contribute to the status. Evidence packages draw their conclusion from the same groups. */
export interface FindingCounts {
  open: number;
  in_progress: number;
  /** Claimed, without a second person or a scan that can be believed to confirm it. */
  remediated: number;
  verified: number;
  /** Risk accepted, false positive, or withdrawn for another reason than that the source took the finding back. */
  excepted: number;
  /** Withdrawn by the source. */
  aside: number;
}

/** What findings of which no scan or person says that they are open contribute. */
export function countsOf(findings: readonly { standing: Standing }[]): FindingCounts {
  const count = (standing: Standing): number => findings.filter((one) => one.standing === standing).length;
  return { open: 0, in_progress: 0, remediated: count('active'), verified: count('remediated'), excepted: count('excepted'), aside: count('aside') };
}

/** The status that follows from the findings. A block by a person remains until the work is done. */
export function rollUp(status: WorkItemStatus, { open, in_progress, remediated, verified, excepted, aside }: FindingCounts): WorkItemStatus {
  if (isClosed(status) || open + in_progress + remediated + verified + excepted + aside === 0) return status;
  if (open + in_progress + remediated === 0) return verified > 0 && excepted === 0 ? 'verified' : 'closed_with_exceptions';
  if (status === 'blocked') return status;
  if (open + in_progress === 0) return 'awaiting_verification';
  const hasStarted = in_progress + remediated + verified > 0 || status === 'awaiting_verification';
  return hasStarted ? 'in_progress' : status;
}
