import type { Static } from 'typebox';
import type { Database } from '../db/database.ts';
import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { deleteRoute, getRoute, listRoute, patchRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import type { Outbound } from '../net/request.ts';
import { audienceOf } from './authenticate.ts';
import { PipelineTrust, PipelineTrustCreate, PipelineTrustList, PipelineTrustParams, PipelineTrustPatch, PipelineTrustQuery } from './schemas.ts';
import { createTrust, deleteTrust, listTrusts, readTrust, settingsOf, type TrustRow, updateTrust } from './trusts.ts';

interface Deps {
  db: Database;
  secret: Buffer;
  outbound: Outbound;
}

export function pipelineRoutes(deps: Deps) {
  const { outbound } = deps;
  return (app: App): void => {
    listRoute(app, deps, '/pipeline-trusts', {
      access: 'api_keys:read',
      operationId: 'listPipelineTrusts',
      summary: 'List trusted pipelines',
      description: 'Returns the pipelines that your organization trusts.',
      tag: 'Members and keys',
      query: PipelineTrustQuery,
      list: PipelineTrustList,
      read: async (tx, { actor, page }) => presentPage(await listTrusts(tx, actor.orgId, page), toTrust),
    });

    app.post(
      '/pipeline-trusts',
      {
        config: { access: 'api_keys:manage' },
        schema: {
          operationId: 'createPipelineTrust',
          summary: 'Trust a pipeline',
          description:
            'Trusts the OpenID Connect tokens that an issuer signs for a pipeline, if their claims meet the conditions. The pipeline then sends its own token as the bearer token and needs no API key. It must request the token for the `audience` in the response.',
          tags: ['Members and keys'],
          headers: IdempotencyHeaders,
          body: PipelineTrustCreate,
          response: { 201: PipelineTrust, ...problems('idempotency_key_reused', 'not_found', 'conflict') },
        },
      },
      (request, reply) =>
        answerOnce(deps, request, reply, async (tx) => {
          const trust = await createTrust(tx, request.actor, request.body, outbound);
          return { status: 201, headers: { location: `/api/v1/pipeline-trusts/${trust.id}`, etag: `"${trust.version}"` }, body: toTrust(trust) };
        }),
    );

    getRoute(app, deps, '/pipeline-trusts/:id', {
      access: 'api_keys:read',
      operationId: 'getPipelineTrust',
      summary: 'Get a trusted pipeline',
      description: 'Returns one trusted pipeline with its conditions.',
      tag: 'Members and keys',
      params: PipelineTrustParams,
      body: PipelineTrust,
      read: async (tx, { actor, params }) => toTrust(await readTrust(tx, actor.orgId, params.id)),
    });

    patchRoute(app, deps, '/pipeline-trusts/:id', {
      access: 'api_keys:manage',
      operationId: 'updatePipelineTrust',
      summary: 'Change a trusted pipeline',
      description:
        'Changes a trusted pipeline with a JSON merge patch. `conditions` are replaced as a whole. Takes effect on the next request, on every replica. Scans that the pipeline delivers after a change are compared with those before it in evidence packages.',
      tag: 'Members and keys',
      params: PipelineTrustParams,
      patch: PipelineTrustPatch,
      body: PipelineTrust,
      change: async (tx, { actor, params, patch, check }) => toTrust(await updateTrust(tx, actor, { id: params.id, patch, check, outbound })),
    });

    deleteRoute(app, deps, '/pipeline-trusts/:id', {
      access: 'api_keys:manage',
      operationId: 'deletePipelineTrust',
      summary: 'Stop trusting a pipeline',
      description: 'Deletes the trust. Tokens of the pipeline are refused from the next request on, on every replica. Its imports stay.',
      tag: 'Members and keys',
      params: PipelineTrustParams,
      remove: (tx, { actor, params }) => deleteTrust(tx, actor, params.id),
    });
  };
}

function toTrust(row: TrustRow): Static<typeof PipelineTrust> {
  const { role, conditions, ...settings } = settingsOf(row);
  return {
    id: row.id,
    ...settings,
    conditions: Object.fromEntries(Object.entries(conditions).map(([claim, values]) => [claim, [...values]])),
    role: role === 'viewer' ? 'viewer' : 'analyst',
    audience: audienceOf(row.org_id),
    created_by: row.created_by,
    version: row.version,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
