import { randomOf } from '../../../service/src/testing/truth/random.ts';

export type Victim = 'service' | 'database' | 'both' | 'backend' | 'starting service' | 'migration';
export const workNames = ['findings', 'import', 'sync', 'seal', 'ticket', 'upgrade'] as const;
export type WorkName = (typeof workNames)[number];

/** One kill: what is at work, when and what it strikes, and whether everything must have recovered before the next one. */
export interface Round {
  work: readonly WorkName[];
  waitMs: number;
  victim: Victim;
  isChecked: boolean;
}

const VICTIMS: readonly Victim[] = ['service', 'service', 'database', 'database', 'both', 'backend', 'backend', 'starting service', 'migration'];

/** Longest wait before a kill. Most work takes less. */
const MAX_WAIT_MS = 2_000;

/** The same choices for the same seed, whatever the machine does. A longer plan begins with the shorter one. */
export function planOf(seed: number, kills: number): Round[] {
  const random = randomOf(seed);
  const rounds: Round[] = [];
  for (let left: Victim[] = []; rounds.length < kills; ) {
    // Every victim before one of them is struck again.
    if (left.length === 0) left = random.shuffled(VICTIMS);
    const victim = left.pop() ?? 'service';
    const some = random.shuffled(workNames).slice(0, 3 + random.number(4));
    rounds.push({
      victim,
      work: victim === 'migration' && !some.includes('upgrade') ? [...some, 'upgrade'] : some,
      // Early moments more often than late ones, when only little is left to do.
      waitMs: Math.round(MAX_WAIT_MS * (random.number(1_000) / 1_000) ** 2),
      // Some kills strike while the service still recovers from the one before.
      isChecked: !random.chance(0.25),
    });
  }
  return rounds;
}
