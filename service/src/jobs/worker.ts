import { EventEmitter } from 'node:events';
import { Logger, parseCronItems, run, type WorkerEvents } from 'graphile-worker';
import type pg from 'pg';
import { type Database, openPool } from '../db/database.ts';
import { JOB_LIMITS } from '../db/limits.ts';
import { isUnavailable } from '../db/unavailable.ts';
import { messageOf } from '../shared/errors.ts';
import { isBack } from './is-back.ts';
import type { JobContext, JobHandler } from './jobs.ts';
import { watchForLostJobs } from './lost-jobs.ts';
import { patientPool } from './patient-pool.ts';
import { takeTurns } from './turns.ts';

export interface WorkerOptions {
  url: string;
  db: Database;
  handlers: readonly JobHandler[];
  /** How many jobs that compute run at the same time. As many more can, of organizations that have none running. */
  concurrency: number;
  log: JobContext['log'];
  onFinished?: (job: string, outcome: 'succeeded' | 'failed', seconds: number) => void;
  /** Whether this is the only worker on the database. Then all existing locks belong to dead workers and are released at once. */
  alone?: boolean;
  /** Whether jobs with a schedule run by themselves. Default: true. */
  schedules?: boolean;
  heartbeatMs?: number;
  deadAfterMs?: number;
  /** How long running jobs may continue when the worker stops, before their signal aborts. */
  graceMs?: number;
}

export interface Worker {
  readonly id: string;
  stop(): Promise<void>;
}

const HEARTBEAT_MS = 5_000;
const DEAD_AFTER_MS = 30_000;
const GRACE_MS = 5_000;
/** Running jobs of the kind `io`. They mostly wait, so one more is enough for an organization that has none. */
const IO_PLACES = { shared: 15, reserved: 1 };
/** One connection listens, two fetch and complete jobs. The jobs themselves use the connections of `db`. */
const CONNECTIONS = 3;

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const {
    url,
    handlers,
    concurrency,
    log,
    alone = false,
    schedules = true,
    heartbeatMs = HEARTBEAT_MS,
    deadAfterMs = DEAD_AFTER_MS,
    graceMs = GRACE_MS,
  } = options;
  // Without a time limit: the queue does not expect that it cannot mark a job as done because the process was busy.
  const pool = openPool(url, 'rrs_system', { max: CONNECTIONS, pipeline: false, acquireMs: 0 });
  const events = new EventEmitter() as WorkerEvents;
  let id = '';
  events.on('pool:create', ({ workerPool }) => {
    id = workerPool.id;
  });
  let lostAt = Number.NEGATIVE_INFINITY;
  events.on('pool:listen:error', () => {
    lostAt = performance.now();
  });
  const places = { cpu: { shared: concurrency, reserved: concurrency }, io: IO_PLACES };
  const loops = Object.values(places).reduce((sum, { shared, reserved }) => sum + shared + reserved, 0);
  const turns = takeTurns(places, events);
  const lost = watchForLostJobs(events, deadAfterMs);
  let isStopping = false;
  const queue: Queue = {
    async begin(jobId) {
      if (!isStopping) return;
      await giveBack(pool, jobId);
      throw new Error(GIVEN_BACK);
    },
    wasLostSince: (time) => lostAt >= time,
  };
  // Jobs that were added while nobody listened would wait until a loop of the queue looks for jobs by itself.
  events.on('pool:listen:success', ({ workerPool }) => workerPool.nudge(loops));
  if (alone) {
    await releaseJobsOfDeadWorkers(pool, 0).catch(async (error: unknown) => {
      await pool.end();
      throw error;
    });
  }
  const runner = await run({
    pgPool: patientPool(pool, () => isStopping),
    concurrency: loops,
    forbiddenFlags: () => turns.forbidden(),
    noHandleSignals: true,
    noPreparedStatements: false,
    gracefulShutdownAbortTimeout: graceMs,
    events,
    logger: quietLogger(log),
    taskList: Object.fromEntries(handlers.map((handler) => [handler.name, taskOf(handler, options, queue)])),
    parsedCronItems: parseCronItems(
      handlers.flatMap(({ name, schedule }) =>
        schedule === undefined || !schedules ? [] : [{ task: name, match: schedule, options: { backfillPeriod: 0, maxAttempts: 3 } }],
      ),
    ),
  });

  try {
    await beat(pool, id);
  } catch (error) {
    await runner.stop();
    await pool.end();
    throw error;
  }
  const beating = setInterval(() => {
    beat(pool, id)
      .then(() => releaseJobsOfDeadWorkers(pool, deadAfterMs))
      .then(() => lost.release(pool, id))
      .then(() => lowerPriorities(pool))
      .catch((error: unknown) => log.error({ error: messageOf(error) }, 'worker heartbeat failed'));
  }, heartbeatMs);

  return {
    id,
    stop: async () => {
      // From now on no job is fetched, although the queue needs a moment to shut down.
      isStopping = true;
      turns.stop();
      // The heartbeat continues until the last job is done. Otherwise the worker would count as dead and its jobs would run twice.
      await runner.stop();
      clearInterval(beating);
      await pool.query('delete from worker_heartbeats where worker_id = $1', [id]).catch(() => {});
      await pool.end();
    },
  };
}

const GIVEN_BACK = 'given back to the queue';

/** A job may be fetched while the worker begins to stop. No attempt is used up. */
async function giveBack(pool: pg.Pool, jobId: string): Promise<void> {
  await pool.query('update graphile_worker._private_jobs set locked_at = null, locked_by = null, attempts = greatest(attempts - 1, 0) where id = $1', [jobId]);
}

interface Queue {
  /** Throws if the worker stops, and makes the job available again. */
  begin(jobId: string): Promise<void>;
  /** Whether its connection to the database broke after this time. */
  wasLostSince(time: number): boolean;
}

function taskOf(handler: JobHandler, { db: unlimited, log, onFinished }: WorkerOptions, queue: Queue) {
  const db = unlimited.limitedTo(JOB_LIMITS);
  return async (
    payload: unknown,
    { abortSignal, job }: { abortSignal?: AbortSignal | undefined; job: { id: string; attempts: number; max_attempts: number; last_error: string | null } },
  ): Promise<void> => {
    await queue.begin(job.id);
    const started = performance.now();
    const finished = (outcome: 'succeeded' | 'failed'): void => onFinished?.(handler.name, outcome, (performance.now() - started) / 1000);
    const context = { db, log, signal: abortSignal ?? new AbortController().signal, lastAttempt: job.attempts >= job.max_attempts };
    try {
      if (job.last_error === DIED_AGAIN) {
        finished('failed');
        return await abandon(handler, payload, context, job.id);
      }
      await handler.run(payload, context).catch(async (error: unknown) => {
        // By itself, the queue would wait for seconds, although the work can go on as soon as the database is back.
        const isInterrupted = isUnavailable(error) || queue.wasLostSince(started);
        if (!isInterrupted || !(await isBack(db, context.signal))) throw error;
        log.info({ job: handler.name, job_id: job.id, error: messageOf(error) }, 'job starts again: the database went away while it ran');
        await handler.run(payload, context);
      });
      finished('succeeded');
    } catch (error) {
      finished('failed');
      log.error({ job: handler.name, job_id: job.id, attempt: job.attempts, err: error }, 'job failed');
      throw error;
    }
  };
}

const DIED = 'worker died';
const DIED_AGAIN = 'worker died again';
const ABANDONED = 'Twice, the process that worked on it ended without finishing it, so it was not tried again. The log of the service may show why.';

/**
 * Threat: an upload that ends the process that reads it would end every process that tries it again. Other work must not get lost because the service was
 * killed twice: it counts as failed, so that it is tried again later, and kept after the last attempt. Scheduled jobs come again by themselves.
 */
async function abandon(handler: JobHandler, payload: unknown, context: JobContext, jobId: string): Promise<void> {
  if (handler.abandon === undefined && handler.schedule === undefined) throw new Error('two workers died while they ran it');
  context.log.error({ job: handler.name, job_id: jobId }, 'job abandoned: two workers died while they ran it');
  await handler.abandon?.(payload, context, ABANDONED);
}

async function beat(pool: pg.Pool, id: string): Promise<void> {
  await pool.query('insert into worker_heartbeats (worker_id, seen_at) values ($1, now()) on conflict (worker_id) do update set seen_at = now()', [id]);
}

/**
 * By itself, the queue waits four hours before it unlocks the jobs of a killed worker. A job whose worker died gets another attempt, also after the
 * last one, so that its handler can record the failure.
 */
async function releaseJobsOfDeadWorkers(pool: pg.Pool, deadAfterMs: number): Promise<void> {
  const { rows } = await pool.query<{ worker_id: string }>(
    `with dead as (delete from worker_heartbeats where seen_at < now() - $1::float8 * interval '1 millisecond' returning worker_id)
     select worker_id from dead
     union
     select locked_by from graphile_worker._private_jobs
     where locked_at < now() - $1::float8 * interval '1 millisecond' and locked_by not in (select worker_id from worker_heartbeats)`,
    [deadAfterMs],
  );
  if (rows.length === 0) return;
  const dead = rows.map(({ worker_id }) => worker_id);
  // Unlocked in the same statement: of several workers that see the death, one counts it.
  const { rowCount: unlocked } = await pool.query(
    `update graphile_worker._private_jobs
     set locked_at = null, locked_by = null, run_at = greatest(run_at, now()), max_attempts = greatest(max_attempts, attempts + 1), last_error = case when last_error in ($2, $3) then $3 else $2 end
     where locked_by = any($1)`,
    [dead, DIED, DIED_AGAIN],
  );
  await pool.query('select graphile_worker.force_unlock_workers($1::text[])', [dead]);
  // Otherwise they would wait until a loop of the queue looks for jobs by itself.
  await pool.query(`select pg_notify('jobs:insert', json_build_object('count', $1::int)::text)`, [unlocked ?? 0]);
}

/** A priority is a small integer. On a queue that is never empty they grow, because each job comes after the previous ones. */
async function lowerPriorities(pool: pg.Pool): Promise<void> {
  await pool.query(
    `update graphile_worker._private_jobs set priority = greatest(priority - lowest, 1)
     from (select min(priority) as lowest from graphile_worker._private_jobs where is_available and priority > 0 and run_at <= now()) waiting
     where lowest > $1 and priority > 0 and is_available`,
    [10_000],
  );
}

function quietLogger(log: JobContext['log']): Logger {
  return new Logger(() => (level, message) => {
    if (level === 'error' && !message.includes(GIVEN_BACK)) log.error({}, message);
  });
}

/** Jobs in the queue by state, for metrics. */
export const JOBS_WAITING = `
  select count(*) filter (where locked_at is null and run_at <= now() and attempts < max_attempts)::int as ready,
         count(*) filter (where locked_at is null and run_at > now() and attempts < max_attempts)::int as later,
         count(*) filter (where locked_at is not null)::int as running,
         count(*) filter (where locked_at is null and attempts >= max_attempts)::int as given_up
  from graphile_worker._private_jobs`;

/** Whether any worker is alive, for readiness. */
export const WORKER_ALIVE = `select exists (select from worker_heartbeats where seen_at > now() - interval '30 seconds') as alive`;
