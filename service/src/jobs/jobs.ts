import { sql } from 'kysely';
import type { Database, Tx } from '../db/database.ts';

/** What a job mostly does: compute, or wait for other systems. The two kinds have separate concurrency limits. */
export type JobKind = 'cpu' | 'io';

/** What a job is called and carries. Declared apart from its handler, so that who enqueues it does not load who runs it. */
export interface Job<Payload> {
  readonly name: string;
  readonly maxAttempts: number;
  /** One that mostly waits for others has places of its own and keeps nothing else from running. */
  readonly kind: JobKind;
  /** Only for the type. */
  readonly payload?: Payload;
}

export interface JobContext {
  db: Database;
  log: { info(details: object, message: string): void; error(details: object, message: string): void };
  /** Aborts when the worker stops and has waited a few seconds: finish the step, then throw; the job runs again elsewhere. */
  signal: AbortSignal;
  /** The queue gives up after this one. */
  lastAttempt: boolean;
}

export interface JobHandler {
  readonly name: string;
  /** Crontab times in UTC, for a job that runs by itself. */
  readonly schedule?: string;
  readonly kind: JobKind;
  /** May run more than once for one job: a worker can die after the work and before the note that it is done. */
  run(payload: unknown, context: JobContext): Promise<void>;
}

export function declareJob<Payload extends object>(
  name: string,
  { maxAttempts = 25, kind = 'cpu' }: { maxAttempts?: number; kind?: JobKind } = {},
): Job<Payload> {
  return { name, maxAttempts, kind };
}

export function handle<Payload extends object>(
  job: Job<Payload>,
  run: (payload: Payload, context: JobContext) => Promise<void>,
  schedule?: string,
): JobHandler {
  return {
    name: job.name,
    run: (payload, context) => run(payload as Payload, context),
    ...(schedule === undefined ? {} : { schedule }),
    kind: job.kind,
  };
}

/** In the caller's transaction: the job exists if and only if the change that asked for it does. */
export async function enqueue<Payload extends object>(
  tx: Tx,
  job: Job<Payload>,
  payload: Payload,
  options: { runAt?: Date; key?: string } = {},
): Promise<void> {
  await sql`select rrs_jobs.add_job(${job.name}, ${JSON.stringify(payload)}::json, ${options.runAt ?? null}, ${options.key ?? null}, ${job.maxAttempts}, ${job.kind})`.execute(
    tx,
  );
}

/** Many at once, in one statement. */
export async function enqueueAll<Payload extends object>(
  tx: Tx,
  job: Job<Payload>,
  payloads: readonly Payload[],
  keyOf: (payload: Payload) => string | null = () => null,
): Promise<void> {
  if (payloads.length === 0) return;
  const texts = payloads.map((payload) => JSON.stringify(payload));
  await sql`
    select rrs_jobs.add_job(${job.name}, payload::json, null, job_key, ${job.maxAttempts}, ${job.kind})
    from unnest(${texts}::text[], ${payloads.map(keyOf)}::text[]) as wanted (payload, job_key)`.execute(tx);
}
