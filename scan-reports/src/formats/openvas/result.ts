import type { FixState, Severity } from '../../contract.ts';
import { productOfCpe } from '../../shared/cpe.ts';
import { severityOf, severityOfScore } from '../../shared/normalize.ts';

/** Maps Greenbone's threat or severity word. Without a known word, uses the score. */
export function severityOfThreat(word: string | undefined, score: number | undefined): Severity {
  const known = word?.toLowerCase();
  if (known === 'alarm') return 'high';
  if (known === 'error') return 'info';
  const severity = severityOf(known);
  return severity === 'unknown' && score !== undefined && score >= 0 ? severityOfScore(score) : severity;
}

export function isFalsePositive(word: string | undefined, score: number | undefined): boolean {
  return /^false.?positive$/i.test(word ?? '') || score === -1;
}

/** The software that a CVE was matched against. Several products of a host may have the same CVE. */
export function softwareIn(text: string | undefined): { component: string; version: string | undefined } | Record<string, never> {
  return productOfCpe(/cpe:\S+/i.exec(text ?? '')?.[0]) ?? {};
}

/** Solution types of Greenbone. Mitigations and workarounds do not fix the weakness. */
const FIX_STATES: ReadonlyMap<string, FixState> = new Map([
  ['vendorfix', 'available'],
  ['noneavailable', 'not_available'],
  ['willnotfix', 'will_not_fix'],
]);

export function fixStateOfSolution(type: string | undefined): FixState | undefined {
  return FIX_STATES.get(type?.toLowerCase() ?? '');
}
