import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { getRoute, listRoute, patchRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import { readAsset, updateAsset } from './assets.ts';
import { createAsset } from './create-asset.ts';
import type { AssetDeps } from './deps.ts';
import { listAssets } from './list-assets.ts';
import { toAsset, withIdentifiers } from './present.ts';
import { mergeRoutes } from './routes-merge.ts';
import { trackRoutes } from './routes-tracks.ts';
import { AssetCreate, AssetDetails, AssetList, AssetParams, AssetPatch, AssetQuery } from './schemas.ts';

export function assetRoutes({ db, secret, follower }: AssetDeps) {
  return (app: App): void => {
    listRoute(app, { db, secret }, '/assets', {
      access: 'assets:read',
      operationId: 'listAssets',
      summary: 'List assets',
      description:
        'Returns the assets that scanner reports and people have named, newest first, with the numbers of their active findings. An asset must match all filters. Several values of one filter are alternatives.',
      tag: 'Assets',
      query: AssetQuery,
      list: AssetList,
      read: async (tx, { actor, query, page }) => presentPage(await listAssets(tx, actor.orgId, query, page), toAsset),
    });

    app.post(
      '/assets',
      {
        config: { access: 'assets:manage' },
        schema: {
          operationId: 'createAsset',
          summary: 'Create an asset',
          description:
            'Creates an asset before a report names it, for example to set its criticality and owner. Returns 409 with the id of the existing asset if the name is known.',
          tags: ['Assets'],
          headers: IdempotencyHeaders,
          body: AssetCreate,
          response: { 201: AssetDetails, ...problems('conflict', 'idempotency_key_reused') },
        },
      },
      (request, reply) =>
        answerOnce({ db, secret }, request, reply, async (tx) => {
          const asset = await createAsset(tx, request.actor, follower, request.body);
          return { status: 201, headers: { location: `/api/v1/assets/${asset.id}`, etag: `"${asset.version}"` }, body: await withIdentifiers(tx, asset) };
        }),
    );

    getRoute(app, { db }, '/assets/:id', {
      access: 'assets:read',
      operationId: 'getAsset',
      summary: 'Get an asset',
      description: 'Returns one asset with the names by which it is recognized. To list its findings, use `GET /findings?asset_id=`.',
      tag: 'Assets',
      params: AssetParams,
      body: AssetDetails,
      read: async (tx, { actor, params }) => withIdentifiers(tx, await readAsset(tx, actor.orgId, params.id)),
    });

    patchRoute(app, { db }, '/assets/:id', {
      access: 'assets:manage',
      operationId: 'updateAsset',
      summary: 'Change an asset',
      description:
        "Applies a JSON merge patch. Absent fields stay unchanged. Changing criticality or exposure rescores the asset's findings immediately. A new name must not belong to another asset. Retiring the asset withdraws its active findings.",
      tag: 'Assets',
      params: AssetParams,
      patch: AssetPatch,
      body: AssetDetails,
      problems: ['conflict'],
      change: async (tx, { actor, params, patch, check }) => withIdentifiers(tx, await updateAsset(tx, actor, follower, { id: params.id, patch, check })),
    });

    trackRoutes(app, { db, secret, follower });
    mergeRoutes(app, { db, secret, follower });
  };
}
