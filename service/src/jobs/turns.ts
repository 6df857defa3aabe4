import type { WorkerEvents } from 'graphile-worker';
import type { JobKind } from './jobs.ts';

const kinds = ['cpu', 'io'] as const satisfies readonly JobKind[];

interface Turns {
  /** Waits until no other fetch is under way, and returns the flags of jobs that the next one must not return. Called by the queue before each fetch. */
  forbidden(): Promise<string[]>;
  /** From now on no job is fetched. */
  stop(): void;
}

/**
 * Limits the running jobs of each kind, and fetches a job only when it can run. Threat: the queue fetches with all its loops at the same time. A job that
 * is fetched and has to wait would come before jobs that other organizations add in the meantime, and would count as interrupted if the process is killed.
 * So the loops fetch one after the other, and each fetch knows what runs. A loop that ends a job fetches again by itself, so no free place is missed.
 *
 * An organization has at most half of the places of a kind, and the last one is for an organization that has no job running. Threat: imports of one
 * organization wait for each other, and would use all places meanwhile, so that all others together had one. A job has its kind as a flag, and its kind
 * with its organization (`db/queue-functions.ts`).
 */
export function takeTurns(limits: Record<JobKind, number>, events: WorkerEvents): Turns {
  /** How many jobs with a flag are running. */
  const running = new Map<string, number>();
  let fetched: Promise<void> = Promise.resolve();
  let endFetch = (): void => {};
  let isStopping = false;

  const count = (flags: Readonly<Record<string, boolean>> | null, change: 1 | -1): void => {
    for (const flag of Object.keys(flags ?? {})) {
      const after = (running.get(flag) ?? 0) + change;
      if (after === 0) running.delete(flag);
      else running.set(flag, after);
    }
  };
  events.on('worker:getJob:empty', () => endFetch());
  events.on('worker:getJob:error', () => endFetch());
  events.on('job:start', ({ job }) => {
    count(job.flags, 1);
    endFetch();
  });
  events.on('job:complete', ({ job }) => count(job.flags, -1));

  const forbiddenOf = (kind: JobKind): string[] => {
    const places = isStopping ? 0 : limits[kind] - (running.get(kind) ?? 0);
    if (places <= 0) return [kind];
    const most = places === 1 ? 1 : Math.ceil(limits[kind] / 2);
    return [...running].flatMap(([flag, jobs]) => (flag.startsWith(`${kind} `) && jobs >= most ? [flag] : []));
  };

  return {
    async forbidden() {
      const before = fetched;
      const { promise, resolve } = Promise.withResolvers<void>();
      fetched = promise;
      await before;
      endFetch = resolve;
      return kinds.flatMap(forbiddenOf);
    },
    stop() {
      isStopping = true;
    },
  };
}
