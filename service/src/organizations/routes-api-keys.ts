import { type Static, Type } from 'typebox';
import type { App } from '../http/app.ts';
import { readPage } from '../http/paging.ts';
import { assertVersion, expectedVersions, IfMatchHeaders, setETag } from '../http/requests/conditions.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { problems } from '../http/schemas.ts';
import { type ApiKeyRow, createApiKey, listApiKeys, readApiKey, revokeApiKey, updateApiKey } from './api-keys/api-keys.ts';
import type { OrganizationDeps } from './deps.ts';
import { ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeyList, ApiKeyPatch, ApiKeyQuery, IdParams } from './schemas.ts';

export function apiKeyRoutes(app: App, { db, secret }: OrganizationDeps): void {
  app.get(
    '/api-keys',
    {
      config: { access: 'api_keys:read' },
      schema: {
        operationId: 'listApiKeys',
        summary: 'List API keys',
        description: 'All keys of your organization, revoked and expired ones too. The keys themselves are not stored.',
        tags: ['Members and keys'],
        querystring: ApiKeyQuery,
        response: { 200: ApiKeyList, ...problems('invalid_cursor') },
      },
    },
    async (request, reply) => {
      const keys = await readPage({ db, secret }, request, reply, (tx, page) => listApiKeys(tx, request.actor.orgId, page));
      return reply.send({ data: keys.data.map(toApiKey), page: keys.page });
    },
  );

  app.post(
    '/api-keys',
    {
      config: { access: 'api_keys:manage' },
      schema: {
        operationId: 'createApiKey',
        summary: 'Create an API key',
        description: 'The answer holds the key itself, this once. A key never has a role above that of its creator, and goes when the member who made it goes.',
        tags: ['Members and keys'],
        headers: IdempotencyHeaders,
        body: ApiKeyCreate,
        response: { 201: ApiKeyCreated, ...problems('idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce({ db, secret }, request, reply, async (tx) => {
        const { key, token } = await createApiKey(tx, request.actor, request.body);
        return { status: 201, headers: { location: `/api/v1/api-keys/${key.id}`, etag: `"${key.version}"` }, body: { ...toApiKey(key), key: token } };
      }),
  );

  app.get(
    '/api-keys/:id',
    {
      config: { access: 'api_keys:read' },
      schema: {
        operationId: 'getApiKey',
        summary: 'Get an API key',
        description: 'What is known of one key; not the key itself.',
        tags: ['Members and keys'],
        params: IdParams,
        response: { 200: ApiKey, ...problems('not_found') },
      },
    },
    async (request, reply) => {
      const key = await db.withTenant(request.actor, (tx) => readApiKey(tx, request.actor.orgId, request.params.id));
      setETag(reply, key);
      return reply.send(toApiKey(key));
    },
  );

  app.patch(
    '/api-keys/:id',
    {
      config: { access: 'api_keys:manage' },
      schema: {
        operationId: 'updateApiKey',
        summary: 'Change an API key',
        description: 'A JSON merge patch of the name and the expiry. The role of a key does not change: create another key.',
        tags: ['Members and keys'],
        params: IdParams,
        headers: IfMatchHeaders,
        body: ApiKeyPatch,
        response: { 200: ApiKey, ...problems('not_found', 'conflict', 'last_owner', 'stale_version') },
      },
    },
    async (request, reply) => {
      const expected = expectedVersions(request);
      const key = await db.withTenant(request.actor, (tx) =>
        updateApiKey(tx, request.actor, request.params.id, request.body, (current) => assertVersion(current, expected)),
      );
      setETag(reply, key);
      return reply.send(toApiKey(key));
    },
  );

  app.delete(
    '/api-keys/:id',
    {
      config: { access: 'api_keys:manage' },
      schema: {
        operationId: 'revokeApiKey',
        summary: 'Revoke an API key',
        description: 'Counts from the next request on, on every replica. The key stays in the list as revoked; revoking it again changes nothing.',
        tags: ['Members and keys'],
        params: IdParams,
        response: { 204: Type.Null({ description: 'Revoked' }), ...problems('not_found', 'last_owner') },
      },
    },
    async (request, reply) => {
      await db.withTenant(request.actor, (tx) => revokeApiKey(tx, request.actor, request.params.id));
      return reply.code(204).send(null);
    },
  );
}

function toApiKey(row: ApiKeyRow): Static<typeof ApiKey> {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    prefix: row.prefix,
    status: statusOf(row),
    created_by: row.created_by,
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
    version: row.version,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

function statusOf({ revoked_at, expires_at }: ApiKeyRow): 'active' | 'expired' | 'revoked' {
  if (revoked_at) return 'revoked';
  return expires_at && expires_at.getTime() <= Date.now() ? 'expired' : 'active';
}
