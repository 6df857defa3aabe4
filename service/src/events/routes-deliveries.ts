import type { App } from '../http/app.ts';
import { readPage } from '../http/paging.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { problems } from '../http/schemas.ts';
import type { EventDeps } from './deps.ts';
import { toDelivery } from './present.ts';
import { Delivery, DeliveryList, DeliveryParams, DeliveryQuery, WebhookParams } from './schemas.ts';
import { addTest, type DeliveryStatus, listDeliveries, readDelivery, replayDelivery } from './webhooks/deliveries.ts';
import { deliverTest } from './webhooks/receiver.ts';
import type { SecretBox } from './webhooks/secrets.ts';

export function deliveryRoutes(app: App, deps: EventDeps & { box: SecretBox }): void {
  const { db, secret } = deps;

  app.get(
    '/webhooks/:id/deliveries',
    {
      config: { access: 'webhooks:read' },
      schema: {
        operationId: 'listWebhookDeliveries',
        summary: 'List the deliveries of a webhook',
        description: 'What was sent, what came back and what is still to be tried, the newest first. Deliveries are kept for 30 days.',
        tags: ['Webhooks and events'],
        params: WebhookParams,
        querystring: DeliveryQuery,
        response: { 200: DeliveryList, ...problems('not_found', 'invalid_cursor') },
      },
    },
    async (request, reply) => {
      const { orgId } = request.actor;
      const { id } = request.params;
      const { status } = request.query;
      const which = { webhookId: id, ...(status === undefined ? {} : { status: status as DeliveryStatus[] }) };
      const deliveries = await readPage({ db, secret }, request, reply, (tx, page) => listDeliveries(tx, orgId, which, page));
      return reply.send({ data: deliveries.data.map(toDelivery), page: deliveries.page });
    },
  );

  app.post(
    '/webhooks/:id/test',
    {
      config: { access: 'webhooks:manage' },
      schema: {
        operationId: 'testWebhook',
        summary: 'Test a webhook',
        description:
          'Sends the receiver an event `webhook.test`, whatever its event types are and also while it is disabled, and answers what came back. It is tried once, and no other webhook hears of it.',
        tags: ['Webhooks and events'],
        params: WebhookParams,
        headers: IdempotencyHeaders,
        response: { 200: Delivery, ...problems('not_found', 'idempotency_key_reused') },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      const added = (await answerOnce(deps, request, reply, async (tx) => {
        const delivery = await addTest(tx, actor, request.params.id);
        return { status: 200, body: { id: delivery.id } };
      })) as { id: string };
      const delivery = await db.withTenant(actor, (tx) => readDelivery(tx, actor.orgId, request.params.id, added.id));
      const isRepetition = reply.getHeader('idempotency-replayed') !== undefined;
      return reply.send(toDelivery(isRepetition ? delivery : await deliverTest(deps, actor, delivery)));
    },
  );

  app.post(
    '/webhooks/:id/deliveries/:delivery_id/replay',
    {
      config: { access: 'webhooks:manage' },
      schema: {
        operationId: 'replayWebhookDelivery',
        summary: 'Replay a delivery',
        description: 'Delivers the same event once more, as a delivery of its own with the same `webhook-id`. It is sent soon after the answer.',
        tags: ['Webhooks and events'],
        params: DeliveryParams,
        headers: IdempotencyHeaders,
        response: { 202: Delivery, ...problems('not_found', 'conflict', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce(deps, request, reply, async (tx) => {
        const { id, delivery_id } = request.params;
        return { status: 202, body: toDelivery(await replayDelivery(tx, request.actor, id, delivery_id)) };
      }),
  );
}
