import type { WorkerEvents } from 'graphile-worker';
import type { JobKind } from './jobs.ts';

const kinds = ['cpu', 'io'] as const satisfies readonly JobKind[];

export interface Turns {
  /** The kinds of which a fetch that begins now must not return a job. Called by the queue before each fetch. */
  forbidden(): JobKind[];
  /** A job has ended. */
  release(kind: JobKind): void;
  /** From now on no job is fetched. */
  stop(): void;
}

/**
 * Limits the running jobs of each kind, and fetches a job only when it can run. Threat: the queue fetches with all its loops at the same time. A job that
 * is fetched and has to wait would come before jobs that other organizations add in the meantime, and would count as interrupted if the process is killed.
 */
export function takeTurns(limits: Record<JobKind, number>, kindOf: (task: string) => JobKind, events: WorkerEvents): Turns {
  const running: Record<JobKind, number> = { cpu: 0, io: 0 };
  /** Fetches under way that may return a job of the kind. */
  const reserved: Record<JobKind, number> = { cpu: 0, io: 0 };
  const announced: JobKind[][] = [];
  const fetches = new Map<object, JobKind[]>();
  /** Kinds that a fetch had to leave out, so that one of their jobs may be waiting. */
  const refused = new Set<JobKind>();
  let nudge = (): void => {};
  let isStopping = false;

  const end = (worker: object, fetched: JobKind | null): void => {
    const freed = fetches.get(worker) ?? [];
    fetches.delete(worker);
    for (const kind of freed) reserved[kind]--;
    if (fetched !== null) running[fetched]++;
    // Otherwise the job would wait until a loop looks by itself.
    if (freed.filter((kind) => kind !== fetched && refused.delete(kind)).length > 0) nudge();
  };
  events.on('pool:create', ({ workerPool }) => {
    nudge = () => void (isStopping || workerPool.nudge(1));
  });
  events.on('worker:getJob:start', ({ worker }) => void fetches.set(worker, announced.shift() ?? []));
  events.on('worker:getJob:empty', ({ worker }) => end(worker, null));
  events.on('worker:getJob:error', ({ worker }) => end(worker, null));
  events.on('job:start', ({ worker, job }) => end(worker, kindOf(job.task_identifier)));

  return {
    forbidden() {
      const isFree = (kind: JobKind): boolean => !isStopping && running[kind] + reserved[kind] < limits[kind];
      const allowed = kinds.filter(isFree);
      const forbidden = kinds.filter((kind) => !allowed.includes(kind));
      for (const kind of allowed) reserved[kind]++;
      for (const kind of forbidden) refused.add(kind);
      announced.push(allowed);
      return forbidden;
    },
    release: (kind) => void running[kind]--,
    stop() {
      isStopping = true;
    },
  };
}
