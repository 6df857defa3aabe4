import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { systemActor } from '../../shared/actor.ts';
import type { Outcome } from './send.ts';
import { disableWebhook } from './webhooks.ts';

const [MINUTE, HOUR] = [60, 3_600];
/** Seconds between one attempt and the next: ten attempts in about a day. */
export const RETRY_SECONDS = [MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 6 * HOUR, 10 * HOUR] as const;
const MAX_ATTEMPTS = RETRY_SECONDS.length + 1;
const GIVE_UP_AFTER_HOURS = 24;
/** A receiver that fails this often in a row is left alone for a while, longer each time, whatever waits for it. */
const FAILURES_IN_A_ROW = 5;
const [FIRST_PAUSE, LONGEST_PAUSE] = [30, 15 * MINUTE];

export interface Attempt {
  deliveryId: string;
  outcome: Outcome;
}

export interface Tally {
  delivered: number;
  /** Attempts that failed and are repeated later. */
  failed: number;
  /** Never to be tried again, with or without an attempt just now. */
  given_up: number;
}

interface Noted {
  tally: Tally;
  /** Whether the receiver may get more at once. */
  isOpen: boolean;
}

export async function noteAttempts(tx: TenantTx, orgId: string, webhookId: string, attempts: readonly Attempt[]): Promise<Noted> {
  const locked = await tx.selectFrom('webhooks').select('enabled').where('org_id', '=', orgId).where('id', '=', webhookId).forNoKeyUpdate().executeTakeFirst();
  if (!locked) return { tally: { delivered: 0, failed: 0, given_up: 0 }, isOpen: false };
  const tally = await noteDeliveries(tx, orgId, attempts);
  const health = await noteHealth(tx, orgId, webhookId, attempts);
  const gone = attempts.find(({ outcome }) => outcome.status === 410);
  const reason = gone?.outcome.error ?? (health.hopeless ? hopelessReason(health.failing_since, attempts) : null);
  if (reason === null || !locked.enabled) return { tally, isOpen: locked.enabled && !health.paused };
  const dropped = await disableWebhook(tx, systemActor(orgId, 'webhooks'), webhookId, reason);
  return { tally: { ...tally, given_up: tally.given_up + dropped }, isOpen: false };
}

function hopelessReason(since: Date, attempts: readonly Attempt[]): string {
  return `Nothing could be delivered since ${since.toISOString()}. The last attempt: ${attempts.at(-1)?.outcome.error ?? ''}`;
}

/** One that nobody would try again (a test) has failed with its first failure. */
export async function noteDeliveries(tx: TenantTx, orgId: string, attempts: readonly Attempt[]): Promise<Tally> {
  const noted = attempts.map(({ deliveryId, outcome }) => ({ ...outcome, id: deliveryId }));
  const { rows } = await sql<{ status: 'pending' | 'succeeded' | 'failed' }>`
    update webhook_deliveries d set
      attempts = d.attempts + 1, last_attempt_at = now(), duration_ms = o."durationMs", response_status = o.status, response_excerpt = o.excerpt, error = o.error,
      status = case when o.delivered then 'succeeded' when d.attempts + 1 >= ${MAX_ATTEMPTS} or d.next_attempt_at is null then 'failed' else 'pending' end,
      next_attempt_at = case when not o.delivered and d.attempts + 1 < ${MAX_ATTEMPTS} and d.next_attempt_at is not null then
        now() + make_interval(secs => greatest((${[...RETRY_SECONDS]}::integer[])[d.attempts + 1] * (0.95 + 0.1 * random()), o."retryAfter")) end
    from jsonb_to_recordset(${JSON.stringify(noted)}::jsonb)
      o (id uuid, delivered boolean, status smallint, excerpt text, error text, "retryAfter" integer, "durationMs" integer)
    where d.org_id = ${orgId} and d.id = o.id and d.status = 'pending' returning d.status`.execute(tx);
  const ended = (as: string): number => rows.filter(({ status }) => status === as).length;
  return { delivered: ended('succeeded'), failed: ended('pending'), given_up: ended('failed') };
}

interface Health {
  failing_since: Date;
  paused: boolean;
  hopeless: boolean;
}

async function noteHealth(tx: TenantTx, orgId: string, webhookId: string, attempts: readonly Attempt[]): Promise<Health> {
  const reached = attempts.some(({ outcome }) => outcome.delivered);
  const asked = Math.max(0, ...attempts.map(({ outcome }) => outcome.retryAfter ?? 0));
  const failed = attempts.length;
  const own = sql`case when failures + ${failed} < ${FAILURES_IN_A_ROW} then 0
    else least(${FIRST_PAUSE} * 2.0 ^ least(failures + ${failed} - ${FAILURES_IN_A_ROW}, 10), ${LONGEST_PAUSE}) end`;
  const { rows } = await (reached
    ? sql<Health>`
        update webhooks set failures = 0, failing_since = null, last_success_at = now(), paused_until = ${pause(sql`${asked}::integer`)}
        where org_id = ${orgId} and id = ${webhookId} returning failing_since, paused_until is not null as paused, false as hopeless`
    : sql<Health>`
        update webhooks set failures = failures + ${failed}, failing_since = coalesce(failing_since, now()),
          paused_until = ${pause(sql`greatest(${asked}, ${own})`)}
        where org_id = ${orgId} and id = ${webhookId}
        returning failing_since, paused_until is not null as paused, failing_since <= now() - make_interval(hours => ${GIVE_UP_AFTER_HOURS}) as hopeless`
  ).execute(tx);
  return rows[0] as Health;
}

function pause(seconds: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`now() + make_interval(secs => nullif(${seconds}, 0))`;
}
