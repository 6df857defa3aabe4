export interface FairTurns {
  /** Waits for a turn, at most so long. Zero is without a limit. Returns a function that ends the turn. */
  take(key: string, waitMs: number): Promise<() => void>;
  waiting(): number;
}

interface Waiting {
  grant(): void;
}

/**
 * Limits how many turns are taken at a time. The next turn goes to the key that has the fewest, and of these to the one that waits longest since it was
 * last served, so that nobody who asks a hundred times is served a hundred times before the others. A key has at most a third of the turns while others have or want one.
 * Fails like a pool of connections does.
 */
export function createFairTurns(limit: number): FairTurns {
  const share = Math.ceil(limit / 3);
  const taken = new Map<string, number>();
  let all = 0;
  /** The keys in the order in which they are served: a key that is served and still waits comes last. No queue is empty. */
  const queues = new Map<string, Set<Waiting>>();

  const takenBy = (key: string): number => taken.get(key) ?? 0;
  const isOnlyKeyOf = (map: ReadonlyMap<string, unknown>, key: string): boolean => map.size <= (map.has(key) ? 1 : 0);
  const isFree = (key: string): boolean => all < limit && (takenBy(key) < share || (isOnlyKeyOf(taken, key) && isOnlyKeyOf(queues, key)));
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
  const wait = (key: string, one: Waiting): void => {
    const queue = queues.get(key) ?? new Set();
    queues.set(key, queue.add(one));
  };
  const leave = (key: string, one: Waiting): void => {
    const queue = queues.get(key);
    queue?.delete(one);
    if (queue?.size === 0) queues.delete(key);
  };
  const putLast = (key: string): void => {
    const queue = queues.get(key);
    if (queue === undefined) return;
    queues.delete(key);
    queues.set(key, queue);
  };
  const next = (): { key: string; one: Waiting } | null => {
    let found: { key: string; one: Waiting } | null = null;
    for (const [key, [one]] of queues) {
      if (one === undefined || !isFree(key)) continue;
      if (found === null || takenBy(key) < takenBy(found.key)) found = { key, one };
    }
    return found;
  };
  const serve = (): void => {
    for (let turn = next(); turn !== null; turn = next()) {
      leave(turn.key, turn.one);
      putLast(turn.key);
      turn.one.grant();
    }
  };

  return {
    async take(key, waitMs) {
      if (isFree(key)) return begin(key);
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const one: Waiting = { grant: () => resolve(begin(key)) };
      wait(key, one);
      const giveUp = (): void => {
        leave(key, one);
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
    waiting: () => [...queues.values()].reduce((sum, queue) => sum + queue.size, 0),
  };
}
