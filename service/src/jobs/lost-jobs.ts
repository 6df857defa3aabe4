import type { WorkerEvents } from 'graphile-worker';
import type pg from 'pg';

/**
 * The answer to a statement that fetches a job can be lost with its connection. Then the job is locked by a worker that does not know of it, and would stay so
 * for as long as the worker lives.
 */
export function watchForLostJobs(events: WorkerEvents, afterMs: number) {
  /** The jobs that the worker knows of, and when they ended: the end is recorded a little later. */
  const known = new Map<string, number>();
  events.on('job:start', ({ job }) => void known.set(job.id, Number.POSITIVE_INFINITY));
  events.on('job:complete', ({ job }) => void known.set(job.id, performance.now()));
  return {
    /** Makes lost jobs available again. No attempt is used up. */
    async release(pool: pg.Pool, workerId: string): Promise<void> {
      for (const [id, endedAt] of known) if (performance.now() - endedAt > afterMs) known.delete(id);
      const { rowCount: released } = await pool.query(
        `update graphile_worker._private_jobs set locked_at = null, locked_by = null, attempts = greatest(attempts - 1, 0)
         where locked_by = $1 and locked_at < now() - $2::float8 * interval '1 millisecond' and id <> all($3::bigint[])`,
        [workerId, afterMs, [...known.keys()]],
      );
      if (released) await pool.query(`select pg_notify('jobs:insert', json_build_object('count', $1::int)::text)`, [released]);
    },
  };
}
