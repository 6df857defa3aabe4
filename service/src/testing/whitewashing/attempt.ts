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
  /**
   * The work item is called verified although the evidence says otherwise. Its status follows what scans reported, and only evidence judges whether they can
   * be believed. A closed work item also stays closed when its findings come back.
   */
  itemSaysVerified?: true;
}
