import { sql } from 'kysely';
import type { Static } from 'typebox';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type PageRequest } from '../../db/pages.ts';
import type { Outbound } from '../../net/request.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, invalidField, notFound } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { emit } from '../emit.ts';
import type { WebhookCreate, WebhookPatch } from '../schemas.ts';
import type { EventType } from '../types.ts';
import type { SecretBox } from './secrets.ts';
import { newSecret } from './signature.ts';

const MAX_WEBHOOKS = 50;
const OVERLAP_HOURS = 24;

const columns = [
  'id',
  'url',
  'event_types',
  'description',
  'enabled',
  'disabled_at',
  'disabled_reason',
  'secret_hint',
  'previous_secret_until',
  'failing_since',
  'paused_until',
  'last_success_at',
  'created_by',
  'version',
  'created_at',
  'updated_at',
] as const;

type AddressCheck = Pick<Outbound, 'refusal'>;

export function listWebhooks(tx: TenantTx, orgId: string, page: PageRequest) {
  const query = tx.selectFrom('webhooks').select(columns).where('org_id', '=', orgId);
  return fetchPage(tx, query, { created_at: { column: 'created_at', type: 'timestamptz' } }, page);
}

function oneWebhook(tx: TenantTx, orgId: string, id: string) {
  return tx.selectFrom('webhooks').select(columns).where('org_id', '=', orgId).where('id', '=', id);
}

export async function readWebhook(tx: TenantTx, orgId: string, id: string): Promise<WebhookRow> {
  const webhook = await oneWebhook(tx, orgId, id).executeTakeFirst();
  if (!webhook) throw notFound('webhook', id);
  return webhook;
}

export type WebhookRow = Awaited<ReturnType<ReturnType<typeof oneWebhook>['executeTakeFirstOrThrow']>>;

async function lockWebhook(tx: TenantTx, orgId: string, id: string): Promise<WebhookRow> {
  const webhook = await oneWebhook(tx, orgId, id).forNoKeyUpdate().executeTakeFirst();
  if (!webhook) throw notFound('webhook', id);
  return webhook;
}

/** The secret is returned only here. */
export async function createWebhook(
  tx: TenantTx,
  actor: Actor,
  { box, outbound }: { box: SecretBox; outbound: AddressCheck },
  input: Static<typeof WebhookCreate>,
): Promise<{ webhook: WebhookRow; secret: string }> {
  const { orgId } = actor;
  await sql`select pg_advisory_xact_lock(hashtextextended(${`webhooks ${orgId}`}, 0))`.execute(tx);
  const { count } = await tx.selectFrom('webhooks').select(tx.fn.countAll<string>().as('count')).where('org_id', '=', orgId).executeTakeFirstOrThrow();
  if (Number(count) >= MAX_WEBHOOKS) {
    throw new AppError('conflict', `The organization has ${MAX_WEBHOOKS} webhooks, which is the limit. Delete one that you no longer need.`);
  }
  const id = newId();
  const secret = newSecret();
  const webhook = await tx
    .insertInto('webhooks')
    .values({
      org_id: orgId,
      id,
      url: normalizeUrl(input.url, outbound),
      event_types: input.event_types,
      description: input.description ?? null,
      ...enabledColumns(input.enabled ?? true, actor),
      secret: box.seal(orgId, id, secret),
      secret_hint: hintOf(secret),
      created_by: actor.name,
    })
    .returning(columns)
    .executeTakeFirstOrThrow();
  await recordChange(tx, actor, 'webhook.created', { id, after: auditable(webhook) });
  return { webhook, secret };
}

export async function updateWebhook(
  tx: TenantTx,
  actor: Actor,
  outbound: AddressCheck,
  { id, patch, check }: { id: string; patch: Static<typeof WebhookPatch>; check: (current: WebhookRow) => void },
): Promise<WebhookRow> {
  const current = await lockWebhook(tx, actor.orgId, id);
  check(current);
  const next = {
    url: patch.url === undefined ? current.url : normalizeUrl(patch.url, outbound),
    event_types: patch.event_types ?? current.event_types,
    description: patch.description === undefined ? current.description : patch.description,
    enabled: patch.enabled ?? current.enabled,
  };
  const same = next.url === current.url && next.description === current.description && next.enabled === current.enabled;
  if (same && JSON.stringify(next.event_types) === JSON.stringify(current.event_types)) return current;
  const updated = await tx
    .updateTable('webhooks')
    .set({ ...next, ...(next.enabled === current.enabled ? {} : { ...enabledColumns(next.enabled, actor), ...resetProgress }) })
    .set((row) => ({ version: row('version', '+', 1), updated_at: sql<Date>`now()` }))
    .where('org_id', '=', actor.orgId)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();
  if (current.enabled && !next.enabled) await cancelPending(tx, actor.orgId, id);
  const moved = updated.url === current.url ? {} : { url: 'changed' };
  await recordChange(tx, actor, 'webhook.updated', { id, before: auditable(current), after: { ...auditable(updated), ...moved } });
  return updated;
}

/** The previous secret also signs for a day, so that the receiver can switch over without rejecting an event. */
export async function rotateSecret(tx: TenantTx, actor: Actor, box: SecretBox, id: string): Promise<{ webhook: WebhookRow; secret: string }> {
  const current = await lockWebhook(tx, actor.orgId, id);
  const secret = newSecret();
  const webhook = await tx
    .updateTable('webhooks')
    .set((row) => ({
      previous_secret: row.ref('secret'),
      previous_secret_until: sql<Date>`now() + make_interval(hours => ${OVERLAP_HOURS})`,
      secret: box.seal(actor.orgId, id, secret),
      secret_hint: hintOf(secret),
      version: row('version', '+', 1),
      updated_at: sql<Date>`now()`,
    }))
    .where('org_id', '=', actor.orgId)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();
  const hint = (row: WebhookRow) => ({ secret_hint: row.secret_hint });
  await recordChange(tx, actor, 'webhook.secret_rotated', { id, before: hint(current), after: hint(webhook) });
  return { webhook, secret };
}

export async function deleteWebhook(tx: TenantTx, actor: Actor, id: string): Promise<void> {
  const current = await lockWebhook(tx, actor.orgId, id);
  await tx.deleteFrom('webhooks').where('org_id', '=', actor.orgId).where('id', '=', id).execute();
  await recordChange(tx, actor, 'webhook.deleted', { id, before: auditable(current) });
}

/** For the service itself, when the receiver keeps failing. Returns the number of pending deliveries that it cancels. */
export async function disableWebhook(tx: TenantTx, actor: Actor, id: string, reason: string): Promise<number> {
  await tx
    .updateTable('webhooks')
    .set((row) => ({ enabled: false, disabled_at: sql<Date>`now()`, disabled_reason: reason, version: row('version', '+', 1), updated_at: sql<Date>`now()` }))
    .where('org_id', '=', actor.orgId)
    .where('id', '=', id)
    .execute();
  const cancelled = await cancelPending(tx, actor.orgId, id);
  await recordChange(tx, actor, 'webhook.disabled', { id, before: { enabled: true }, after: { enabled: false, disabled_reason: reason } });
  return cancelled;
}

async function cancelPending(tx: TenantTx, orgId: string, id: string): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('webhook_deliveries')
    .set({ status: 'failed', next_attempt_at: null, error: sql<string>`concat_ws(' ', error, 'The webhook was disabled before the event was delivered.')` })
    .where('org_id', '=', orgId)
    .where('webhook_id', '=', id)
    .where('status', '=', 'pending')
    .where('next_attempt_at', 'is not', null)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

function enabledColumns(enabled: boolean, actor: Actor) {
  return enabled
    ? { enabled, disabled_at: null, disabled_reason: null }
    : { enabled, disabled_at: sql<Date>`now()`, disabled_reason: `Disabled by ${actor.name}.` };
}

/** A webhook that is enabled again skips the events it has missed, and starts without failures. */
const resetProgress = {
  seen_xact: sql<string>`pg_current_xact_id()::text::bigint`,
  seen_id: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  failures: 0,
  failing_since: null,
  paused_until: null,
};

/** Threat: a user name and password in the URL would be visible to everyone who may read webhooks, and be sent in a header in clear text. */
function normalizeUrl(address: string, { refusal }: AddressCheck): string {
  const refuse = (code: string, detail: string) => invalidField({ in: 'body', path: '/url', code, detail });
  const url = URL.canParse(address) ? new URL(address) : null;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw refuse('wrong_format', 'url must begin with https:// or http://');
  if (url.username !== '' || url.password !== '')
    throw refuse('not_allowed', 'url must not contain a user name or password. Authenticate deliveries by their signature');
  const unreachable = refusal(url);
  if (unreachable !== null) throw refuse('not_allowed', unreachable);
  url.hash = '';
  if (url.href.length > 2000) throw refuse('too_long', 'url must have at most 2000 characters after encoding');
  return url.href;
}

function hintOf(secret: string): string {
  return `…${secret.slice(-5)}`;
}

/** Threat: many receivers trust anyone who knows the full URL. Only its origin goes into the audit trail and into events. */
function auditable({ url, event_types, description, enabled }: WebhookRow) {
  return { origin: new URL(url).origin, event_types, description, enabled };
}

async function recordChange(tx: TenantTx, actor: Actor, action: EventType, { id, ...change }: WebhookChange): Promise<void> {
  await recordAudit(tx, actor, { action, objectType: 'webhook', objectId: id, ...change });
  await emit(tx, actor.orgId, { type: action, subject: id, data: change.after ?? change.before ?? {} });
}

interface WebhookChange {
  id: string;
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
}
