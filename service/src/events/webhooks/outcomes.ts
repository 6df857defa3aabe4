import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { systemActor } from '../../shared/actor.ts';
import type { Outcome } from './send.ts';
import { disableWebhook } from './webhooks.ts';

const [MINUTE, HOUR] = [60, 3_600];
/** Seconds from each attempt to the next: ten attempts in about a day. */
export const RETRY_SECONDS = [MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 6 * HOUR, 10 * HOUR] as const;
const MAX_ATTEMPTS = RETRY_SECONDS.length + 1;
const DISABLE_AFTER_HOURS = 24;
/** After this many consecutive failures all deliveries to the receiver are paused. The pause doubles with each further failure. */
const FAILURES_BEFORE_PAUSE = 5;
const [FIRST_PAUSE, LONGEST_PAUSE] = [30, 15 * MINUTE];

export interface Attempt {
  deliveryId: string;
  outcome: Outcome;
}

/** Numbers of deliveries by outcome. */
export interface Tally {
  delivered: number;
  /** Failed, with a further attempt later. */
  failed: number;
  /** Failed or cancelled, without a further attempt. */
  given_up: number;
}

interface Recorded {
  tally: Tally;
  /** Whether more can be sent to the receiver immediately. */
  canContinue: boolean;
}

export async function recordAttempts(tx: TenantTx, orgId: string, webhookId: string, attempts: readonly Attempt[]): Promise<Recorded> {
  const locked = await tx.selectFrom('webhooks').select('enabled').where('org_id', '=', orgId).where('id', '=', webhookId).forNoKeyUpdate().executeTakeFirst();
  if (!locked) return { tally: { delivered: 0, failed: 0, given_up: 0 }, canContinue: false };
  const tally = await recordDeliveries(tx, orgId, attempts);
  const health = await recordHealth(tx, orgId, webhookId, attempts);
  const gone = attempts.find(({ outcome }) => outcome.status === 410);
  const reason = gone?.outcome.error ?? (health.failing_too_long ? failingReason(health.failing_since, attempts) : null);
  if (reason === null || !locked.enabled) return { tally, canContinue: locked.enabled && !health.paused };
  const cancelled = await disableWebhook(tx, systemActor(orgId, 'webhooks'), webhookId, reason);
  return { tally: { ...tally, given_up: tally.given_up + cancelled }, canContinue: false };
}

function failingReason(since: Date, attempts: readonly Attempt[]): string {
  return `All deliveries have failed since ${since.toISOString()}. Last error: ${attempts.at(-1)?.outcome.error ?? ''}`;
}

/** A delivery without a next attempt (a test) fails with its first failure. */
export async function recordDeliveries(tx: TenantTx, orgId: string, attempts: readonly Attempt[]): Promise<Tally> {
  const recorded = attempts.map(({ deliveryId, outcome }) => ({ ...outcome, id: deliveryId }));
  const { rows } = await sql<{ status: 'pending' | 'succeeded' | 'failed' }>`
    update webhook_deliveries d set
      attempts = d.attempts + 1, last_attempt_at = now(), duration_ms = o."durationMs", response_status = o.status, response_excerpt = o.excerpt, error = o.error,
      status = case when o.delivered then 'succeeded' when d.attempts + 1 >= ${MAX_ATTEMPTS} or d.next_attempt_at is null then 'failed' else 'pending' end,
      next_attempt_at = case when not o.delivered and d.attempts + 1 < ${MAX_ATTEMPTS} and d.next_attempt_at is not null then
        now() + make_interval(secs => greatest((${[...RETRY_SECONDS]}::integer[])[d.attempts + 1] * (0.95 + 0.1 * random()), o."retryAfter")) end
    from jsonb_to_recordset(${JSON.stringify(recorded)}::jsonb)
      o (id uuid, delivered boolean, status smallint, excerpt text, error text, "retryAfter" integer, "durationMs" integer)
    where d.org_id = ${orgId} and d.id = o.id and d.status = 'pending' returning d.status`.execute(tx);
  const count = (wanted: string): number => rows.filter(({ status }) => status === wanted).length;
  return { delivered: count('succeeded'), failed: count('pending'), given_up: count('failed') };
}

interface Health {
  failing_since: Date;
  paused: boolean;
  failing_too_long: boolean;
}

async function recordHealth(tx: TenantTx, orgId: string, webhookId: string, attempts: readonly Attempt[]): Promise<Health> {
  const succeeded = attempts.some(({ outcome }) => outcome.delivered);
  const requested = Math.max(0, ...attempts.map(({ outcome }) => outcome.retryAfter ?? 0));
  const failed = attempts.length;
  const backOff = sql`case when failures + ${failed} < ${FAILURES_BEFORE_PAUSE} then 0
    else least(${FIRST_PAUSE} * 2.0 ^ least(failures + ${failed} - ${FAILURES_BEFORE_PAUSE}, 10), ${LONGEST_PAUSE}) end`;
  const { rows } = await (succeeded
    ? sql<Health>`
        update webhooks set failures = 0, failing_since = null, last_success_at = now(), paused_until = ${pause(sql`${requested}::integer`)}
        where org_id = ${orgId} and id = ${webhookId} returning failing_since, paused_until is not null as paused, false as failing_too_long`
    : sql<Health>`
        update webhooks set failures = failures + ${failed}, failing_since = coalesce(failing_since, now()),
          paused_until = ${pause(sql`greatest(${requested}, ${backOff})`)}
        where org_id = ${orgId} and id = ${webhookId}
        returning failing_since, paused_until is not null as paused, failing_since <= now() - make_interval(hours => ${DISABLE_AFTER_HOURS}) as failing_too_long`
  ).execute(tx);
  return rows[0] as Health;
}

function pause(seconds: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`now() + make_interval(secs => nullif(${seconds}, 0))`;
}
