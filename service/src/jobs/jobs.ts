import { sql } from 'kysely';
import type { Database, TenantTx, Tx } from '../db/database.ts';
import { AppError } from '../shared/errors.ts';

/** What a job mostly does: compute, or wait for other systems. The two kinds have separate concurrency limits. */
export type JobKind = 'cpu' | 'io';

/** The name and payload type of a job. Declared apart from its handler, so that code that enqueues the job does not load the handler. */
export interface Job<Payload> {
  readonly name: string;
  readonly maxAttempts: number;
  readonly kind: JobKind;
  /** Carries only the type. */
  readonly payload?: Payload;
}

export interface JobContext {
  db: Database;
  log: { info(details: object, message: string): void; error(details: object, message: string): void };
  /** Aborts a few seconds after the worker begins to stop. Finish the current step, then throw: the job runs again later. */
  signal: AbortSignal;
  /** Whether the queue gives up if this attempt fails. */
  lastAttempt: boolean;
}

export interface JobHandler {
  readonly name: string;
  /** Crontab schedule in UTC, for a recurring job. */
  readonly schedule?: string;
  readonly kind: JobKind;
  /** May run more than once per job, because a worker can die after the work and before the job is marked as done. */
  run(payload: unknown, context: JobContext): Promise<void>;
  /** Records that the job failed for good, without trying it again: two workers in a row died while they ran it. Without this, the job is tried again later. */
  abandon?(payload: unknown, context: JobContext, reason: string): Promise<void>;
}

interface HandlerOptions<Payload> {
  schedule?: string;
  abandon?: (payload: Payload, context: JobContext, reason: string) => Promise<void>;
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
  { schedule, abandon }: HandlerOptions<Payload> = {},
): JobHandler {
  return {
    name: job.name,
    run: (payload, context) => run(payload as Payload, context),
    ...(schedule === undefined ? {} : { schedule }),
    ...(abandon === undefined ? {} : { abandon: (payload, context, reason) => abandon(payload as Payload, context, reason) }),
    kind: job.kind,
  };
}

/** How many jobs of an organization may wait at once. */
export const MAX_WAITING_JOBS = 1_000;

/**
 * For requests that queue a job: refuses if the organization has too many waiting already. Jobs that follow from others are not refused, because
 * what they belong to has been accepted.
 */
export async function assertQueueHasRoom(tx: TenantTx): Promise<void> {
  const { rows } = await sql<{ waiting: number }>`select rrs_jobs.count_waiting() as waiting`.execute(tx);
  if ((rows[0]?.waiting ?? 0) < MAX_WAITING_JOBS) return;
  throw new AppError('rate_limited', `Your organization has ${MAX_WAITING_JOBS} jobs waiting, which is the limit. Wait until some have finished.`, {
    headers: { 'retry-after': '30' },
  });
}

/** Enqueues a job in the caller's transaction, so that it exists if and only if the change is committed. */
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

/** Enqueues many jobs in one statement. */
export async function enqueueAll<Payload extends object>(
  tx: Tx,
  job: Job<Payload>,
  payloads: readonly Payload[],
  keyOf: (payload: Payload) => string | null = () => null,
  runAt: Date | null = null,
): Promise<void> {
  if (payloads.length === 0) return;
  const texts = payloads.map((payload) => JSON.stringify(payload));
  await sql`
    select rrs_jobs.add_job(${job.name}, payload::json, ${runAt}, job_key, ${job.maxAttempts}, ${job.kind})
    from unnest(${texts}::text[], ${payloads.map(keyOf)}::text[]) as wanted (payload, job_key)`.execute(tx);
}
