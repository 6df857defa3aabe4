import type { Case } from './case.ts';

/** A way to make evidence look better than the work was. */
export interface Attempt {
  name: string;
  /** Returns the id of the work item. */
  run(one: Case): Promise<string>;
  conclusion: string;
  grade: 'A' | 'B' | 'C' | 'D';
  /** Gaps that must be named, at least one. There may be more. */
  gaps: readonly [string, ...string[]];
  /** The work item was verified and closed before the evidence against it came. Closed work items stay closed. */
  closedBefore?: true;
}
