import type { Case } from './case.ts';

/** A way to make evidence look better than the work was. */
export interface Attempt {
  name: string;
  /** Returns the id of the work item. */
  run(one: Case): Promise<string>;
  conclusion: string;
  /** The best grade that is right. */
  atBest: 'A' | 'B' | 'C' | 'D';
  /** Gaps that must be named. There may be more. */
  gaps: readonly string[];
}
