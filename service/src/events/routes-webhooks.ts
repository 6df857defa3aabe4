import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { deleteRoute, getRoute, listRoute, patchRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import type { EventDeps } from './deps.ts';
import { toWebhook } from './present.ts';
import { Webhook, WebhookCreate, WebhookList, WebhookParams, WebhookPatch, WebhookQuery, WebhookWithSecret } from './schemas.ts';
import type { SecretBox } from './webhooks/secrets.ts';
import { createWebhook, deleteWebhook, listWebhooks, readWebhook, rotateSecret, updateWebhook } from './webhooks/webhooks.ts';

export function webhookRoutes(app: App, deps: EventDeps & { box: SecretBox }): void {
  const { db, secret, box, outbound } = deps;

  listRoute(app, { db, secret }, '/webhooks', {
    access: 'webhooks:read',
    operationId: 'listWebhooks',
    summary: 'List webhooks',
    description: 'Returns the webhooks of your organization, without their signing secrets.',
    tag: 'Webhooks and events',
    query: WebhookQuery,
    list: WebhookList,
    read: async (tx, { actor, page }) => presentPage(await listWebhooks(tx, actor.orgId, page), toWebhook),
  });

  app.post(
    '/webhooks',
    {
      config: { access: 'webhooks:manage' },
      schema: {
        operationId: 'createWebhook',
        summary: 'Create a webhook',
        description:
          'Creates a webhook that delivers the events of changes that begin after its creation. Events are CloudEvents 1.0 (structured JSON), signed according to Standard Webhooks. Each event is delivered at least once, in order as far as possible. A delivery that is not answered with a status from 200 to 299 within 15 seconds is retried for a day. The response contains the signing secret. It cannot be retrieved again. An organization can have at most 50 webhooks.',
        tags: ['Webhooks and events'],
        headers: IdempotencyHeaders,
        body: WebhookCreate,
        response: { 201: WebhookWithSecret, ...problems('conflict', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce(deps, request, reply, async (tx) => {
        const { webhook, secret: signingSecret } = await createWebhook(tx, request.actor, deps, request.body);
        const headers = { location: `/api/v1/webhooks/${webhook.id}`, etag: `"${webhook.version}"` };
        return { status: 201, headers, body: { ...toWebhook(webhook), secret: signingSecret } };
      }),
  );

  getRoute(app, { db }, '/webhooks/:id', {
    access: 'webhooks:read',
    operationId: 'getWebhook',
    summary: 'Get a webhook',
    description: "Returns the webhook's settings, status and the last characters of its signing secret.",
    tag: 'Webhooks and events',
    params: WebhookParams,
    body: Webhook,
    read: async (tx, { actor, params }) => toWebhook(await readWebhook(tx, actor.orgId, params.id)),
  });

  patchRoute(app, { db }, '/webhooks/:id', {
    access: 'webhooks:manage',
    operationId: 'updateWebhook',
    summary: 'Change a webhook',
    description:
      'Applies a JSON merge patch. Disabling a webhook cancels its pending deliveries. After it is enabled again, it receives only new events. Cancelled deliveries can be replayed one by one.',
    tag: 'Webhooks and events',
    params: WebhookParams,
    patch: WebhookPatch,
    body: Webhook,
    change: async (tx, { actor, params, patch, check }) => toWebhook(await updateWebhook(tx, actor, outbound, { id: params.id, patch, check })),
  });

  deleteRoute(app, { db }, '/webhooks/:id', {
    access: 'webhooks:manage',
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook',
    description: 'Deletes a webhook with its secret and all its deliveries, including pending ones.',
    tag: 'Webhooks and events',
    params: WebhookParams,
    remove: (tx, { actor, params }) => deleteWebhook(tx, actor, params.id),
  });

  app.post(
    '/webhooks/:id/rotate-secret',
    {
      config: { access: 'webhooks:manage' },
      schema: {
        operationId: 'rotateWebhookSecret',
        summary: 'Rotate the signing secret',
        description:
          'Creates a new signing secret and returns it. It cannot be retrieved again. For 24 hours deliveries are signed with both secrets, so that the receiver can switch over. If a secret has leaked, rotate twice. The leaked secret is then no longer used.',
        tags: ['Webhooks and events'],
        params: WebhookParams,
        headers: IdempotencyHeaders,
        response: { 200: WebhookWithSecret, ...problems('not_found', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce(deps, request, reply, async (tx) => {
        const { webhook, secret: signingSecret } = await rotateSecret(tx, request.actor, box, request.params.id);
        return { status: 200, headers: { etag: `"${webhook.version}"` }, body: { ...toWebhook(webhook), secret: signingSecret } };
      }),
  );
}
