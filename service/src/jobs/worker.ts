import { EventEmitter } from 'node:events';
import { Logger, parseCronItems, run, type WorkerEvents } from 'graphile-worker';
import type pg from 'pg';
import { type Database, openPool } from '../db/database.ts';
import { messageOf } from '../shared/errors.ts';
import type { JobContext, JobHandler, JobKind } from './jobs.ts';

export interface WorkerOptions {
  url: string;
  db: Database;
  handlers: readonly JobHandler[];
  concurrency: number;
  log: JobContext['log'];
  onFinished?: (job: string, outcome: 'succeeded' | 'failed', seconds: number) => void;
  /** Nobody else works on this database: whoever still holds a job is dead, and need not be waited for. */
  alone?: boolean;
  heartbeatMs?: number;
  deadAfterMs?: number;
  /** How long jobs under way may go on undisturbed when the worker stops; then their signal aborts. */
  graceMs?: number;
}

export interface Worker {
  readonly id: string;
  stop(): Promise<void>;
}

const HEARTBEAT_MS = 5_000;
const DEAD_AFTER_MS = 30_000;
const GRACE_MS = 5_000;
/** Places for jobs that wait for others, beside those that work. */
const WAITING = 16;
/** One listens, two fetch and settle jobs for all of them: jobs themselves work on the connections of `db`. */
const CONNECTIONS = 3;

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { url, handlers, concurrency, log, alone = false, heartbeatMs = HEARTBEAT_MS, deadAfterMs = DEAD_AFTER_MS, graceMs = GRACE_MS } = options;
  const pool = openPool(url, 'rrs_system', { max: CONNECTIONS, pipeline: false });
  const events = new EventEmitter() as WorkerEvents;
  let id = '';
  events.on('pool:create', ({ workerPool }) => {
    id = workerPool.id;
  });
  const most: Record<JobKind, number> = { cpu: concurrency, io: WAITING };
  const running: Record<JobKind, number> = { cpu: 0, io: 0 };
  const counted = (handler: JobHandler): JobHandler => ({
    ...handler,
    run: async (payload, context) => {
      running[handler.kind]++;
      await handler.run(payload, context).finally(() => running[handler.kind]--);
    },
  });
  if (alone) {
    await releaseJobsOfTheDead(pool, 0).catch(async (error: unknown) => {
      await pool.end();
      throw error;
    });
  }
  const runner = await run({
    pgPool: pool,
    concurrency: concurrency + WAITING,
    forbiddenFlags: () => (['cpu', 'io'] as const).filter((kind) => running[kind] >= most[kind]),
    noHandleSignals: true,
    noPreparedStatements: false,
    gracefulShutdownAbortTimeout: graceMs,
    events,
    logger: quietLogger(log),
    taskList: Object.fromEntries(handlers.map((handler) => [handler.name, taskOf(counted(handler), options)])),
    parsedCronItems: parseCronItems(
      handlers.flatMap(({ name, schedule }) =>
        schedule === undefined ? [] : [{ task: name, match: schedule, options: { backfillPeriod: 0, maxAttempts: 3 } }],
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
      .then(() => releaseJobsOfTheDead(pool, deadAfterMs))
      .catch((error: unknown) => log.error({ error: messageOf(error) }, 'the heartbeat of the worker failed'));
  }, heartbeatMs);

  return {
    id,
    stop: async () => {
      // Beats until the last job is done: it would otherwise count as dead and its job run twice.
      await runner.stop();
      clearInterval(beating);
      await pool.query('delete from worker_heartbeats where worker_id = $1', [id]).catch(() => {});
      await pool.end();
    },
  };
}

function taskOf(handler: JobHandler, { db, log, onFinished }: WorkerOptions) {
  return async (
    payload: unknown,
    { abortSignal, job }: { abortSignal?: AbortSignal | undefined; job: { id: string; attempts: number; max_attempts: number } },
  ): Promise<void> => {
    const started = performance.now();
    const finished = (outcome: 'succeeded' | 'failed'): void => onFinished?.(handler.name, outcome, (performance.now() - started) / 1000);
    try {
      await handler.run(payload, { db, log, signal: abortSignal ?? new AbortController().signal, lastAttempt: job.attempts >= job.max_attempts });
      finished('succeeded');
    } catch (error) {
      finished('failed');
      log.error({ job: handler.name, job_id: job.id, attempt: job.attempts, err: error }, 'a job failed');
      throw error;
    }
  };
}

async function beat(pool: pg.Pool, id: string): Promise<void> {
  await pool.query('insert into worker_heartbeats (worker_id, seen_at) values ($1, now()) on conflict (worker_id) do update set seen_at = now()', [id]);
}

/**
 * The queue itself would wait four hours for a worker that was killed. A job whose last attempt died with its worker gets one more, so that
 * somebody can say that it failed.
 */
async function releaseJobsOfTheDead(pool: pg.Pool, deadAfterMs: number): Promise<void> {
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
  await pool.query(
    `update graphile_worker._private_jobs set max_attempts = max_attempts + 1, last_error = $2
     where locked_by = any($1) and attempts >= max_attempts and last_error is distinct from $2`,
    [dead, 'its worker died'],
  );
  await pool.query('select graphile_worker.force_unlock_workers($1::text[])', [dead]);
}

function quietLogger(log: JobContext['log']): Logger {
  return new Logger(() => (level, message) => {
    if (level === 'error') log.error({}, message);
  });
}
