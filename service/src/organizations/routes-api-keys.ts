import type { Static } from 'typebox';
import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { deleteRoute, getRoute, listRoute, patchRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import { type ApiKeyRow, createApiKey, listApiKeys, readApiKey, revokeApiKey, updateApiKey } from './api-keys/api-keys.ts';
import type { OrganizationDeps } from './deps.ts';
import { ApiKey, ApiKeyCreate, ApiKeyCreated, ApiKeyList, ApiKeyPatch, ApiKeyQuery, IdParams } from './schemas.ts';

export function apiKeyRoutes(app: App, { db, secret }: OrganizationDeps): void {
  listRoute(app, { db, secret }, '/api-keys', {
    access: 'api_keys:read',
    operationId: 'listApiKeys',
    summary: 'List API keys',
    description: 'Returns the API keys of your organization, including revoked and expired ones. The keys themselves are not stored and cannot be returned.',
    tag: 'Members and keys',
    query: ApiKeyQuery,
    list: ApiKeyList,
    read: async (tx, { actor, page }) => presentPage(await listApiKeys(tx, actor.orgId, page), toApiKey),
  });

  app.post(
    '/api-keys',
    {
      config: { access: 'api_keys:manage' },
      schema: {
        operationId: 'createApiKey',
        summary: 'Create an API key',
        description:
          'Creates an API key. The response contains the key. It cannot be retrieved again. You cannot assign a role higher than your own. When the member who created the key is removed, the key is revoked.',
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

  getRoute(app, { db }, '/api-keys/:id', {
    access: 'api_keys:read',
    operationId: 'getApiKey',
    summary: 'Get an API key',
    description: "Returns an API key's name, role, status and first characters. The key itself cannot be retrieved.",
    tag: 'Members and keys',
    params: IdParams,
    body: ApiKey,
    read: async (tx, { actor, params }) => toApiKey(await readApiKey(tx, actor.orgId, params.id)),
  });

  patchRoute(app, { db }, '/api-keys/:id', {
    access: 'api_keys:manage',
    operationId: 'updateApiKey',
    summary: 'Change an API key',
    description:
      'Changes the name or the expiry of an API key with a JSON merge patch. The role cannot be changed. To get another role, create a new key. Returns 409 if the key is revoked.',
    tag: 'Members and keys',
    params: IdParams,
    problems: ['conflict', 'last_owner'],
    patch: ApiKeyPatch,
    body: ApiKey,
    change: async (tx, { actor, params, patch, check }) => toApiKey(await updateApiKey(tx, actor, { id: params.id, patch, check })),
  });

  deleteRoute(app, { db }, '/api-keys/:id', {
    access: 'api_keys:manage',
    operationId: 'revokeApiKey',
    summary: 'Revoke an API key',
    description:
      'Revokes an API key. Takes effect on the next request, on every replica. The key stays in the list with the status `revoked`. Revoking it again has no effect.',
    tag: 'Members and keys',
    params: IdParams,
    problems: ['last_owner'],
    remove: (tx, { actor, params }) => revokeApiKey(tx, actor, params.id),
  });
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
