import type { RunFacts } from './contract.ts';

/** Whether a report may leave out findings that the tool was told to ignore: it has none of them, and nothing says that it would. */
export function leavesOutSuppressed(facts: readonly RunFacts[], hasSuppressed: boolean): boolean {
  const states = (fact: 'looked_for' | 'left_out') => facts.some((one) => one[fact]?.includes('suppressed'));
  return states('left_out') || !(hasSuppressed || states('looked_for'));
}
