import type { Static } from 'typebox';
import type { Database } from '../db/database.ts';
import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { getRoute, listRoute, patchRoute } from '../http/resource.ts';
import { type AssetFollower, type AssetRow, listAssets, readAsset, updateAsset } from './assets.ts';
import { Asset, AssetList, AssetParams, AssetPatch, AssetQuery } from './schemas.ts';

export interface AssetDeps {
  db: Database;
  /** Signs cursors. */
  secret: Buffer;
  /** Passed in, because findings depend on assets and not the other way round. */
  follower: AssetFollower;
}

export function assetRoutes({ db, secret, follower }: AssetDeps) {
  return (app: App): void => {
    listRoute(app, { db, secret }, '/assets', {
      access: 'assets:read',
      operationId: 'listAssets',
      summary: 'List assets',
      description:
        'Returns the assets that scanner reports and people have named, newest first. An asset must match all filters. Several values of one filter are alternatives.',
      tag: 'Assets',
      query: AssetQuery,
      list: AssetList,
      read: async (tx, { actor, query, page }) => presentPage(await listAssets(tx, actor.orgId, query, page), toAsset),
    });

    getRoute(app, { db }, '/assets/:id', {
      access: 'assets:read',
      operationId: 'getAsset',
      summary: 'Get an asset',
      description: 'Returns one asset. To list its findings, use `GET /findings?asset_id=`.',
      tag: 'Assets',
      params: AssetParams,
      body: Asset,
      read: async (tx, { actor, params }) => toAsset(await readAsset(tx, actor.orgId, params.id)),
    });

    patchRoute(app, { db }, '/assets/:id', {
      access: 'assets:manage',
      operationId: 'updateAsset',
      summary: 'Change an asset',
      description:
        "Applies a JSON merge patch. Absent fields stay unchanged. Changing criticality or exposure rescores the asset's findings immediately. Retiring the asset withdraws its active findings.",
      tag: 'Assets',
      params: AssetParams,
      patch: AssetPatch,
      body: Asset,
      change: async (tx, { actor, params, patch, check }) => toAsset(await updateAsset(tx, actor, follower, { id: params.id, patch, check })),
    });
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
