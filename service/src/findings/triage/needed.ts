import type { Status } from '../status.ts';

export const neededFields = ['reason', 'owner', 'expires_at', 'justification'] as const;
export type Needed = readonly [name: (typeof neededFields)[number], why: string];

/** The fields that a change to the status requires. */
export function neededFor(from: Status, to: Status): readonly Needed[] {
  if (to === 'open') return comesBack(from) ? [['reason', 'explain why the finding is open again']] : [];
  return neededWith[to] ?? [];
}

const neededWith: Partial<Record<Status, readonly Needed[]>> = {
  remediated: [['reason', 'describe what was done']],
  withdrawn: [['reason', 'explain why the finding no longer applies']],
  risk_accepted: [
    ['reason', 'explain why the risk is accepted'],
    ['owner', 'name who is responsible for the risk'],
    ['expires_at', 'set the end of the acceptance'],
  ],
  false_positive: [['justification', 'state why the finding does not apply']],
};

/** Whether an open finding with this former status is one that came back. */
export const comesBack = (from: Status): boolean => from === 'remediated' || from === 'verified' || from === 'withdrawn';
