import type { WorkerEvents } from 'graphile-worker';
import type { JobKind } from './jobs.ts';

const kinds = ['cpu', 'io'] as const satisfies readonly JobKind[];

interface Turns {
  /** Waits until no other fetch is under way, and returns the flags of jobs that the next one must not return. Called by the queue before each fetch. */
  forbidden(): Promise<string[]>;
  /** From now on no job is fetched. */
  stop(): void;
}

/** How many jobs of a kind run at the same time. */
interface Places {
  /** For everybody. */
  shared: number;
  /** More of them, for organizations that have no job of this kind running. */
  reserved: number;
}

/**
 * Limits the running jobs of each kind, and fetches a job only when it can run. Threat: the queue fetches with all its loops at the same time. A job that
 * is fetched and has to wait would come before jobs that other organizations add in the meantime, and would count as interrupted if the process is killed.
 * So the loops fetch one after the other, and each fetch knows what runs. A loop that ends a job fetches again by itself, so no free place is missed.
 *
 * An organization that has no job running gets any free place, also a reserved one. One that has some gets another place only of the shared ones, and
 * only if it then has at most half of them and no more than an equal share among the organizations that have jobs running. Threat: jobs cannot be
 * interrupted, so one that comes while another organization has a long one on every place waits for the first of them to end, however short it is itself. A job
 * has its kind as a flag, and its kind with its organization (`db/queue-functions.ts`).
 */
export function takeTurns(places: Record<JobKind, Places>, events: WorkerEvents): Turns {
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
    const { shared, reserved } = places[kind];
    const all = running.get(kind) ?? 0;
    if (isStopping || all >= shared + reserved) return [kind];
    const organizations = [...running].filter(([flag]) => flag.startsWith(`${kind} `));
    const share = all >= shared ? 0 : Math.min(Math.ceil(shared / 2), Math.floor(shared / organizations.length));
    return organizations.flatMap(([flag, jobs]) => (jobs >= share ? [flag] : []));
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
