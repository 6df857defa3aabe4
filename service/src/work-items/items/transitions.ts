import type { WorkItemRow } from './read.ts';
import { allowed, type FindingCounts, rollUp, type SettableStatus, settableStatuses, type WorkItemStatus } from './status.ts';

/** How findings change when a person sets the status of their work item. */
export const findingMoves: Partial<Record<SettableStatus, { from: ('open' | 'in_progress')[]; to: 'open' | 'in_progress' | 'remediated' }>> = {
  open: { from: ['in_progress'], to: 'open' },
  in_progress: { from: ['open'], to: 'in_progress' },
  awaiting_verification: { from: ['open', 'in_progress'], to: 'remediated' },
};

/** The statuses that need a reason, and what it must say. */
export const reasonsToGive: Partial<Record<SettableStatus, string>> = {
  blocked: 'what the work waits for',
  cancelled: 'why the work is given up',
  awaiting_verification: 'what was done',
};

export interface Transition {
  to: SettableStatus;
  needs: 'reason'[];
  refused: string | null;
}

/** The statuses that a person can set, with what each requires and why the findings do not allow it. */
export function transitionsOf(item: WorkItemRow): Transition[] {
  return settableStatuses
    .filter((to) => allowed(item.status, 'person').includes(to))
    .map((to) => ({ to, needs: reasonsToGive[to] === undefined ? [] : ['reason'], refused: contradictionOf(item, to) }));
}

/** Why the findings contradict a status, after they changed with it. */
function contradictionOf(item: WorkItemRow, to: SettableStatus): string | null {
  const move = findingMoves[to];
  if (!move) return null;
  const counts = countsOf(item);
  for (const from of move.from) {
    counts[move.to] += counts[from];
    counts[from] = 0;
  }
  const status = rollUp(to, counts);
  return status === to ? null : contradiction(to, { status, counts });
}

export function countsOf(item: WorkItemRow): FindingCounts {
  return {
    open: item.findings_open,
    in_progress: item.findings_in_progress,
    remediated: item.findings_remediated,
    verified: item.findings_verified,
    excepted: item.findings_excepted,
    aside: item.findings_aside,
  };
}

const shownCounts = {
  open: 'open',
  in_progress: 'in progress',
  remediated: 'claimed as remediated',
  verified: 'verified',
  excepted: 'accepted, false positive or withdrawn',
  aside: 'withdrawn by their source',
} as const satisfies Record<keyof FindingCounts, string>;

/** The status that follows from the findings differs from the requested one. */
export function contradiction(wanted: SettableStatus, { status, counts }: { status: WorkItemStatus; counts: FindingCounts }): string {
  const names = Object.keys(shownCounts) as (keyof FindingCounts)[];
  const summary = names.flatMap((name) => (counts[name] > 0 ? [`${counts[name]} ${shownCounts[name]}`] : [])).join(', ');
  return `The work item cannot be ${wanted} because its findings (${summary}) make it ${status}. Change the findings or choose another status.`;
}
