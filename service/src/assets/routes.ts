import type { Static } from 'typebox';
import type { Database } from '../db/database.ts';
import type { App } from '../http/app.ts';
import { readPage } from '../http/paging.ts';
import { assertVersion, expectedVersions, IfMatchHeaders, setETag } from '../http/requests/conditions.ts';
import { problems } from '../http/schemas.ts';
import { type AssetFilter, type AssetFollower, type AssetRow, listAssets, type AssetPatch as Patch, readAsset, updateAsset } from './assets.ts';
import { Asset, AssetList, AssetParams, AssetPatch, AssetQuery } from './schemas.ts';

export interface AssetDeps {
  db: Database;
  /** Signs cursors. */
  secret: Buffer;
  /** Findings know of assets and not the other way round, so what a change means for them is handed in. */
  follower: AssetFollower;
}

export function assetRoutes({ db, secret, follower }: AssetDeps) {
  return (app: App): void => {
    app.get(
      '/assets',
      {
        config: { access: 'assets:read' },
        schema: {
          operationId: 'listAssets',
          summary: 'List assets',
          description:
            'Everything that reports and people have named as vulnerable, newest first. Filters are combined; several values of one filter are alternatives.',
          tags: ['Assets'],
          querystring: AssetQuery,
          response: { 200: AssetList, ...problems('invalid_cursor') },
        },
      },
      async (request, reply) => {
        const { orgId } = request.actor;
        const assets = await readPage({ db, secret }, request, reply, (tx, page) => listAssets(tx, orgId, request.query as AssetFilter, page));
        return reply.send({ data: assets.data.map(toAsset), page: assets.page });
      },
    );

    app.get(
      '/assets/:id',
      {
        config: { access: 'assets:read' },
        schema: {
          operationId: 'getAsset',
          summary: 'Get an asset',
          description: 'What is known of one asset. Its findings are listed by `GET /findings?asset_id=`.',
          tags: ['Assets'],
          params: AssetParams,
          response: { 200: Asset, ...problems('not_found') },
        },
      },
      async (request, reply) => {
        const asset = await db.withTenant(request.actor, (tx) => readAsset(tx, request.actor.orgId, request.params.id));
        setETag(reply, asset);
        return reply.send(toAsset(asset));
      },
    );

    app.patch(
      '/assets/:id',
      {
        config: { access: 'assets:manage' },
        schema: {
          operationId: 'updateAsset',
          summary: 'Change an asset',
          description:
            'A JSON merge patch: what is absent stays. Another criticality or exposure scores the findings of the asset anew at once. Retiring it withdraws its active findings.',
          tags: ['Assets'],
          params: AssetParams,
          headers: IfMatchHeaders,
          body: AssetPatch,
          response: { 200: Asset, ...problems('not_found', 'stale_version') },
        },
      },
      async (request, reply) => {
        const expected = expectedVersions(request);
        const asset = await db.withTenant(request.actor, (tx) =>
          updateAsset(tx, request.actor, request.params.id, request.body as Patch, (current) => assertVersion(current, expected), follower),
        );
        setETag(reply, asset);
        return reply.send(toAsset(asset));
      },
    );
  };
}

function toAsset({ id, type, name, criticality, exposure, owner, tags, retired_at, version, created_at, updated_at }: AssetRow): Static<typeof Asset> {
  return {
    id,
    type,
    name,
    criticality,
    exposure,
    owner,
    tags,
    retired: retired_at !== null,
    retired_at: retired_at?.toISOString() ?? null,
    version,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
