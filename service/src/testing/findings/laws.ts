import { inject } from 'vitest';

const seconds = inject('lawSeconds');

interface Histories {
  numRuns: number;
  interruptAfterTimeLimit: number;
  markInterruptAsFailure: boolean;
}

/**
 * How many random histories a law of imports is tried with, in a test with `LAW`. `npm run test:laws` tries as many as fit into a minute.
 * The search for the smallest wrong history ends before the test does: it names the history, and does not only time out.
 */
export function histories(few: number): Histories {
  const limited = seconds > 0;
  return {
    numRuns: limited ? Number.MAX_SAFE_INTEGER : few,
    interruptAfterTimeLimit: limited ? seconds * 1000 : 90_000,
    markInterruptAsFailure: !limited,
  };
}

export const LAW = { tags: ['law'], timeout: 120_000 + 5_000 * seconds };
