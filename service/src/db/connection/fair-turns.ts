export interface FairTurns {
  /** Waits for a turn, at most so long. Zero is without a limit. Returns a function that ends the turn. */
  take(key: string, waitMs: number): Promise<() => void>;
  waiting(): number;
}

interface Waiting {
  /** The order of arrival, over all keys. */
  number: number;
  grant(): void;
}

/**
 * Limits how many turns are taken at a time. The next turn goes to the key that has the fewest, and of these to the one that waits longest, so that
 * somebody who asks a hundred times is not served a hundred times before the others. A key has at most a third of the turns while others have or want one.
 * Fails like a pool of connections does.
 */
export function createFairTurns(limit: number): FairTurns {
  const share = Math.ceil(limit / 3);
  const taken = new Map<string, number>();
  let all = 0;
  let came = 0;
  /** In the order in which they came. No queue is empty. */
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
  const next = (): { key: string; one: Waiting } | null => {
    let found: { key: string; one: Waiting } | null = null;
    for (const [key, [one]] of queues) {
      if (one === undefined || !isFree(key)) continue;
      const more = found === null ? -1 : takenBy(key) - takenBy(found.key) || one.number - found.one.number;
      if (more < 0) found = { key, one };
    }
    return found;
  };
  const serve = (): void => {
    for (let turn = next(); turn !== null; turn = next()) {
      leave(turn.key, turn.one);
      turn.one.grant();
    }
  };

  return {
    async take(key, waitMs) {
      if (isFree(key)) return begin(key);
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const one: Waiting = { number: came++, grant: () => resolve(begin(key)) };
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
