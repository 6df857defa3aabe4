import { inject } from 'vitest';

const seconds = inject('lawSeconds');

/** How many random histories a law of imports is tried with, in a test with `LAW`. `npm run test:laws` tries as many as fit into a minute. */
export function histories(few: number): { numRuns: number; interruptAfterTimeLimit?: number } {
  return seconds === 0 ? { numRuns: few } : { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: seconds * 1000 };
}

export const LAW = { tags: ['law'], timeout: 60_000 + 2_000 * seconds };
