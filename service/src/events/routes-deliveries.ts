import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { listRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import type { EventDeps } from './deps.ts';
import { toDelivery } from './present.ts';
import { Delivery, DeliveryList, DeliveryParams, DeliveryQuery, WebhookParams } from './schemas.ts';
import { addTest, listDeliveries, readDelivery, replayDelivery } from './webhooks/deliveries.ts';
import { deliverTest } from './webhooks/receiver.ts';
import type { SecretBox } from './webhooks/secrets.ts';

export function deliveryRoutes(app: App, deps: EventDeps & { box: SecretBox }): void {
  const { db, secret } = deps;

  listRoute(app, { db, secret }, '/webhooks/:id/deliveries', {
    access: 'webhooks:read',
    operationId: 'listWebhookDeliveries',
    summary: 'List the deliveries of a webhook',
    description:
      "Returns a webhook's deliveries with their status, attempts and last response, newest first. Deliveries are kept for `policy.retention.delivery_days` days.",
    tag: 'Webhooks and events',
    params: WebhookParams,
    query: DeliveryQuery,
    list: DeliveryList,
    problems: ['not_found'],
    read: async (tx, { actor, params, query, page }) =>
      presentPage(await listDeliveries(tx, actor.orgId, { webhookId: params.id, status: query.status }, page), toDelivery),
  });

  app.post(
    '/webhooks/:id/test',
    {
      config: { access: 'webhooks:manage' },
      schema: {
        operationId: 'testWebhook',
        summary: 'Test a webhook',
        description:
          'Sends an event of the type `webhook.test` to the receiver and returns its response. The event is sent once, even if the webhook is disabled or does not select the type. Other webhooks do not receive it.',
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
        description:
          'Queues the same event as a new delivery with the same `webhook-id`. It is sent shortly after the response. Returns 409 if the webhook is disabled.',
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
