import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type PageRequest } from '../../db/pages.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, notFound } from '../../shared/errors.ts';
import { firstIdAt, newId } from '../../shared/ids.ts';
import type { StoredEvent } from '../cloud-event.ts';
import type { DeliveryStatus } from '../schemas.ts';
import { readWebhook } from './webhooks.ts';

/** Not a stored event: it is created for a single delivery, to test whether the receiver can be reached. */
const TEST_TYPE = 'webhook.test';

/** There are no attempts while the webhook is paused. */
const nextAttempt = sql<Date | null>`case when webhook_deliveries.next_attempt_at is not null then greatest(webhook_deliveries.next_attempt_at,
  (select w.paused_until from webhooks w where w.org_id = webhook_deliveries.org_id and w.id = webhook_deliveries.webhook_id)) end`;

const columns = [
  'id',
  'webhook_id',
  'event_id',
  'event_type',
  'status',
  'attempts',
  'last_attempt_at',
  'duration_ms',
  'response_status',
  'response_excerpt',
  'error',
  'replay_of',
  'created_at',
  nextAttempt.as('next_attempt_at'),
] as const;

function oneDelivery(tx: TenantTx, orgId: string, id: string) {
  return tx.selectFrom('webhook_deliveries').select(columns).where('org_id', '=', orgId).where('id', '=', id);
}

export type DeliveryRow = Awaited<ReturnType<ReturnType<typeof oneDelivery>['executeTakeFirstOrThrow']>>;

interface DeliveryFilter {
  webhookId: string;
  status: DeliveryStatus[] | undefined;
}

export async function listDeliveries(tx: TenantTx, orgId: string, { webhookId, status }: DeliveryFilter, page: PageRequest) {
  await readWebhook(tx, orgId, webhookId);
  let query = tx.selectFrom('webhook_deliveries').select(columns).where('org_id', '=', orgId).where('webhook_id', '=', webhookId);
  if (status !== undefined) query = query.where('status', 'in', status);
  return fetchPage(tx, query, { created_at: { column: 'created_at', type: 'timestamptz' } }, page);
}

export async function readDelivery(tx: TenantTx, orgId: string, webhookId: string, id: string): Promise<DeliveryRow> {
  const delivery = await oneDelivery(tx, orgId, id).where('webhook_id', '=', webhookId).executeTakeFirst();
  if (!delivery) throw notFound('delivery', id);
  return delivery;
}

/** Adds a delivery of the same event. The receiver can recognize the event by its id. */
export async function replayDelivery(tx: TenantTx, actor: Actor, webhookId: string, id: string): Promise<DeliveryRow> {
  const { enabled } = await readWebhook(tx, actor.orgId, webhookId);
  const delivery = await readDelivery(tx, actor.orgId, webhookId, id);
  if (!enabled) throw new AppError('conflict', `The webhook "${webhookId}" is disabled. Enable it, then replay the delivery.`);
  const { event_id, event_type } = delivery;
  if (event_type !== TEST_TYPE && !(await eventIsStored(tx, actor.orgId, event_id)))
    throw new AppError(
      'conflict',
      `The event "${event_id}" of this delivery is no longer stored, so it cannot be sent again. See \`policy.retention\` of your organization.`,
    );
  const replayed = await add(tx, actor.orgId, { webhook_id: webhookId, event_id, event_type, replay_of: id, next_attempt_at: sql<Date>`now()` });
  await recordAudit(tx, actor, { action: 'webhook.replayed', objectType: 'webhook', objectId: webhookId, after: { delivery_id: id, event_id, event_type } });
  return replayed;
}

async function eventIsStored(tx: TenantTx, orgId: string, id: string): Promise<boolean> {
  const found = await tx.selectFrom('events').select('id').where('org_id', '=', orgId).where('id', '=', id).executeTakeFirst();
  return found !== undefined;
}

/** The delivery has no next attempt, so the delivery worker ignores it. The request that adds it also sends it. */
export async function addTest(tx: TenantTx, actor: Actor, webhookId: string): Promise<DeliveryRow> {
  await readWebhook(tx, actor.orgId, webhookId);
  const added = await add(tx, actor.orgId, { webhook_id: webhookId, event_id: newId(), event_type: TEST_TYPE });
  await recordAudit(tx, actor, { action: 'webhook.tested', objectType: 'webhook', objectId: webhookId, after: { delivery_id: added.id } });
  return added;
}

interface NewDelivery {
  webhook_id: string;
  event_id: string;
  event_type: string;
  replay_of?: string;
  next_attempt_at?: ReturnType<typeof sql<Date>>;
}

function add(tx: TenantTx, orgId: string, delivery: NewDelivery): Promise<DeliveryRow> {
  return tx
    .insertInto('webhook_deliveries')
    .values({ org_id: orgId, id: newId(), ...delivery })
    .returning(columns)
    .executeTakeFirstOrThrow();
}

export interface DueDelivery {
  id: string;
  event: StoredEvent;
}

/** Pending deliveries whose next attempt is due, oldest first. */
export async function dueDeliveries(tx: TenantTx, orgId: string, webhookId: string, limit: number): Promise<DueDelivery[]> {
  const rows = await withEvents(tx, orgId, webhookId)
    .where('d.status', '=', 'pending')
    .where('d.next_attempt_at', '<=', sql<Date>`now()`)
    .orderBy('d.next_attempt_at')
    .orderBy('d.event_id')
    .limit(limit)
    .execute();
  return rows.map((row) => toDue(webhookId, row));
}

export async function readDue(tx: TenantTx, orgId: string, webhookId: string, id: string): Promise<DueDelivery> {
  return toDue(webhookId, await withEvents(tx, orgId, webhookId).where('d.id', '=', id).executeTakeFirstOrThrow());
}

function withEvents(tx: TenantTx, orgId: string, webhookId: string) {
  return tx
    .selectFrom('webhook_deliveries as d')
    .leftJoin('events as e', (join) => join.onRef('e.org_id', '=', 'd.org_id').onRef('e.id', '=', 'd.event_id'))
    .select(['d.id', 'd.event_id', 'd.event_type', 'd.created_at', 'e.subject', 'e.occurred_at', 'e.data'])
    .where('d.org_id', '=', orgId)
    .where('d.webhook_id', '=', webhookId);
}

type RowWithEvent = Awaited<ReturnType<ReturnType<typeof withEvents>['executeTakeFirstOrThrow']>>;

function toDue(webhookId: string, { id, event_id, event_type, created_at, subject, occurred_at, data }: RowWithEvent): DueDelivery {
  const known = { subject: subject ?? webhookId, occurred_at: occurred_at ?? created_at, data: data ?? { webhook_id: webhookId } };
  return { id, event: { id: event_id, type: event_type, ...known } };
}

/** Deletes a batch of deliveries that were created before a time, and returns how many there were. */
export async function deleteOldDeliveries(tx: TenantTx, orgId: string, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from webhook_deliveries where org_id = ${orgId} and id in (
      select id from webhook_deliveries where org_id = ${orgId} and id < ${firstIdAt(before)} order by id limit ${limit}
    )`.execute(tx);
  return Number(numAffectedRows ?? 0);
}

/** Pending deliveries of all organizations, for metrics. */
export const DELIVERIES_WAITING = `
  select count(*) filter (where at <= now())::int as ready, count(*) filter (where at > now())::int as later
  from webhook_deliveries d join webhooks w on w.org_id = d.org_id and w.id = d.webhook_id, greatest(d.next_attempt_at, w.paused_until) at
  where d.status = 'pending' and d.next_attempt_at is not null`;
