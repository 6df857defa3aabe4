import type { WorkerEvents } from 'graphile-worker';
import type { JobKind } from './jobs.ts';

const kinds = ['cpu', 'io'] as const satisfies readonly JobKind[];

interface Turns {
  /** The flags of jobs that a fetch that begins now must not return. Called by the queue before each fetch. */
  forbidden(): string[];
  /** From now on no job is fetched. */
  stop(): void;
}

type Count = Map<string, number>;

function add(count: Count, flag: string, change: 1 | -1): void {
  const after = (count.get(flag) ?? 0) + change;
  if (after === 0) count.delete(flag);
  else count.set(flag, after);
}

/**
 * Limits the running jobs of each kind, and fetches a job only when it can run. Threat: the queue fetches with all its loops at the same time. A job that
 * is fetched and has to wait would come before jobs that other organizations add in the meantime, and would count as interrupted if the process is killed.
 *
 * The last place of a kind is for an organization that has no job running. Threat: imports of one organization wait for each other, and would use all
 * places meanwhile. A job has its kind as a flag, and its kind with its organization (`db/queue-functions.ts`).
 */
export function takeTurns(limits: Record<JobKind, number>, events: WorkerEvents): Turns {
  /** By flag. */
  const running: Count = new Map();
  /** Fetches under way that may return a job of the kind. */
  const reserved: Record<JobKind, number> = { cpu: 0, io: 0 };
  const announced: JobKind[][] = [];
  const fetches = new Map<object, JobKind[]>();
  /** Kinds that a fetch had to leave out, so that one of their jobs may be waiting. */
  const refused = new Set<JobKind>();
  let nudge = (): void => {};
  let isStopping = false;

  const placesOf = (kind: JobKind): number => limits[kind] - (running.get(kind) ?? 0) - reserved[kind];
  const end = (worker: object): void => {
    const freed = fetches.get(worker) ?? [];
    fetches.delete(worker);
    for (const kind of freed) reserved[kind]--;
    // Otherwise the job would wait until a loop looks by itself.
    if (freed.filter((kind) => placesOf(kind) > 0 && refused.delete(kind)).length > 0) nudge();
  };
  events.on('pool:create', ({ workerPool }) => {
    nudge = () => void (isStopping || workerPool.nudge(1));
  });
  events.on('worker:getJob:start', ({ worker }) => void fetches.set(worker, announced.shift() ?? []));
  events.on('worker:getJob:empty', ({ worker }) => end(worker));
  events.on('worker:getJob:error', ({ worker }) => end(worker));
  events.on('job:start', ({ worker, job }) => {
    for (const flag of Object.keys(job.flags ?? {})) add(running, flag, 1);
    end(worker);
  });
  events.on('job:complete', ({ job }) => {
    for (const flag of Object.keys(job.flags ?? {})) add(running, flag, -1);
  });

  return {
    forbidden() {
      // While another fetch is under way, it is not known whose job it returns.
      const isFree = (kind: JobKind): boolean => !isStopping && (placesOf(kind) > 1 || (placesOf(kind) === 1 && reserved[kind] === 0));
      const allowed = kinds.filter(isFree);
      const forbidden = kinds.filter((kind) => !allowed.includes(kind));
      const last = allowed.filter((kind) => placesOf(kind) === 1);
      for (const kind of allowed) reserved[kind]++;
      for (const kind of forbidden) refused.add(kind);
      announced.push(allowed);
      return [...forbidden, ...[...running.keys()].filter((flag) => last.some((kind) => flag.startsWith(`${kind} `)))];
    },
    stop() {
      isStopping = true;
    },
  };
}
