export interface FairTurns {
  /** Waits for a turn, at most so long. Zero is without a limit. Returns a function that ends the turn. */
  take(key: string, waitMs: number): Promise<() => void>;
  waiting(): number;
}

interface Waiting {
  key: string;
  grant(): void;
}

/**
 * Limits how many turns are taken at a time. The next turn goes to the key that has the fewest, and of these to the one that waits longest, so that
 * somebody who asks a hundred times is not served a hundred times before the others. A key has at most half of the turns while others have or want one.
 * Fails like a pool of connections does.
 */
export function createFairTurns(limit: number): FairTurns {
  const share = Math.ceil(limit / 2);
  const taken = new Map<string, number>();
  let all = 0;
  let queue: Waiting[] = [];

  const takenBy = (key: string): number => taken.get(key) ?? 0;
  const isAlone = (key: string): boolean => taken.size <= (taken.has(key) ? 1 : 0) && queue.every((one) => one.key === key);
  const isFree = (key: string): boolean => all < limit && (takenBy(key) < share || isAlone(key));
  const begin = (key: string): (() => void) => {
    all++;
    taken.set(key, takenBy(key) + 1);
    return () => {
      all--;
      if (takenBy(key) === 1) taken.delete(key);
      else taken.set(key, takenBy(key) - 1);
      serve();
    };
  };
  const leave = (one: Waiting): void => {
    queue = queue.filter((other) => other !== one);
  };
  const first = (): Waiting | null => {
    let found: Waiting | null = null;
    for (const one of queue) if (isFree(one.key) && (found === null || takenBy(one.key) < takenBy(found.key))) found = one;
    return found;
  };
  const serve = (): void => {
    for (let one = first(); one !== null; one = first()) {
      leave(one);
      one.grant();
    }
  };

  return {
    async take(key, waitMs) {
      if (isFree(key)) return begin(key);
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const one: Waiting = { key, grant: () => resolve(begin(key)) };
      queue.push(one);
      const giveUp = (): void => {
        leave(one);
        reject(new Error('timeout exceeded when trying to connect: all connections are in use'));
        serve();
      };
      const timer = waitMs === 0 ? undefined : setTimeout(giveUp, waitMs);
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
      }
    },
    waiting: () => queue.length,
  };
}
