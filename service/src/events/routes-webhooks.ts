import { Type } from 'typebox';
import type { App } from '../http/app.ts';
import { readPage } from '../http/paging.ts';
import { assertVersion, expectedVersions, IfMatchHeaders, setETag } from '../http/requests/conditions.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { problems } from '../http/schemas.ts';
import type { EventDeps } from './deps.ts';
import { toWebhook } from './present.ts';
import { Webhook, WebhookChange, WebhookCreate, WebhookList, WebhookParams, WebhookQuery, WebhookWithSecret } from './schemas.ts';
import type { SecretBox } from './webhooks/secrets.ts';
import { createWebhook, deleteWebhook, listWebhooks, readWebhook, rotateSecret, updateWebhook, type WebhookPatch } from './webhooks/webhooks.ts';

export function webhookRoutes(app: App, deps: EventDeps & { box: SecretBox }): void {
  const { db, secret, box, outbound } = deps;

  app.get(
    '/webhooks',
    {
      config: { access: 'webhooks:read' },
      schema: {
        operationId: 'listWebhooks',
        summary: 'List webhooks',
        description: 'Where events of your organization are delivered. The signing secrets are not shown.',
        tags: ['Webhooks and events'],
        querystring: WebhookQuery,
        response: { 200: WebhookList, ...problems('invalid_cursor') },
      },
    },
    async (request, reply) => {
      const webhooks = await readPage({ db, secret }, request, reply, (tx, page) => listWebhooks(tx, request.actor.orgId, page));
      return reply.send({ data: webhooks.data.map(toWebhook), page: webhooks.page });
    },
  );

  app.post(
    '/webhooks',
    {
      config: { access: 'webhooks:manage' },
      schema: {
        operationId: 'createWebhook',
        summary: 'Create a webhook',
        description:
          'Events of changes that begin from now on are delivered as CloudEvents 1.0 (structured JSON), signed as Standard Webhooks lays down: at least once, in order as far as possible. What is not taken (any answer but 200 to 299, or none within 15 seconds) is tried again for a day. The answer holds the signing secret, this once. An organization has 50 webhooks at the most.',
        tags: ['Webhooks and events'],
        headers: IdempotencyHeaders,
        body: WebhookCreate,
        response: { 201: WebhookWithSecret, ...problems('conflict', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce(deps, request, reply, async (tx) => {
        const { webhook, secret: shown } = await createWebhook(tx, request.actor, deps, request.body);
        const headers = { location: `/api/v1/webhooks/${webhook.id}`, etag: `"${webhook.version}"` };
        return { status: 201, headers, body: { ...toWebhook(webhook), secret: shown } };
      }),
  );

  app.get(
    '/webhooks/:id',
    {
      config: { access: 'webhooks:read' },
      schema: {
        operationId: 'getWebhook',
        summary: 'Get a webhook',
        description: 'Its settings and how it does; of the signing secret only how it ends.',
        tags: ['Webhooks and events'],
        params: WebhookParams,
        response: { 200: Webhook, ...problems('not_found') },
      },
    },
    async (request, reply) => {
      const webhook = await db.withTenant(request.actor, (tx) => readWebhook(tx, request.actor.orgId, request.params.id));
      setETag(reply, webhook);
      return reply.send(toWebhook(webhook));
    },
  );

  app.patch(
    '/webhooks/:id',
    {
      config: { access: 'webhooks:manage' },
      schema: {
        operationId: 'updateWebhook',
        summary: 'Change a webhook',
        description:
          'A JSON merge patch. Disabling it gives up what is still to be delivered; enabling it delivers what happens from then on. What it missed can be replayed delivery by delivery.',
        tags: ['Webhooks and events'],
        params: WebhookParams,
        headers: IfMatchHeaders,
        body: WebhookChange,
        response: { 200: Webhook, ...problems('not_found', 'stale_version') },
      },
    },
    async (request, reply) => {
      const expected = expectedVersions(request);
      const change = { id: request.params.id, patch: request.body as WebhookPatch, check: (current: { version: number }) => assertVersion(current, expected) };
      const webhook = await db.withTenant(request.actor, (tx) => updateWebhook(tx, request.actor, outbound, change));
      setETag(reply, webhook);
      return reply.send(toWebhook(webhook));
    },
  );

  app.delete(
    '/webhooks/:id',
    {
      config: { access: 'webhooks:manage' },
      schema: {
        operationId: 'deleteWebhook',
        summary: 'Delete a webhook',
        description: 'With its secret and its deliveries, the pending ones too.',
        tags: ['Webhooks and events'],
        params: WebhookParams,
        response: { 204: Type.Null({ description: 'Deleted' }), ...problems('not_found') },
      },
    },
    async (request, reply) => {
      await db.withTenant(request.actor, (tx) => deleteWebhook(tx, request.actor, request.params.id));
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/webhooks/:id/rotate-secret',
    {
      config: { access: 'webhooks:manage' },
      schema: {
        operationId: 'rotateWebhookSecret',
        summary: 'Give a webhook a new signing secret',
        description:
          'The answer holds the new secret, this once. For 24 hours deliveries are signed with both, so that the receiver can change over; rotate twice to be rid of a secret that others know.',
        tags: ['Webhooks and events'],
        params: WebhookParams,
        headers: IdempotencyHeaders,
        response: { 200: WebhookWithSecret, ...problems('not_found', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce(deps, request, reply, async (tx) => {
        const { webhook, secret: shown } = await rotateSecret(tx, request.actor, box, request.params.id);
        return { status: 200, headers: { etag: `"${webhook.version}"` }, body: { ...toWebhook(webhook), secret: shown } };
      }),
  );
}
