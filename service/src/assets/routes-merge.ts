import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { problems } from '../http/schemas.ts';
import type { AssetDeps } from './deps.ts';
import { mergeAssets } from './merging/merge-assets.ts';
import { unmergeAssets } from './merging/unmerge-assets.ts';
import { withIdentifiers } from './present.ts';
import { AssetDetails, AssetMergeBody, AssetParams, AssetUnmergeBody } from './schemas.ts';

export function mergeRoutes(app: App, { db, secret, follower }: AssetDeps): void {
  app.post(
    '/assets/:id/merge',
    {
      config: { access: 'assets:manage' },
      schema: {
        operationId: 'mergeAsset',
        summary: 'Merge two assets',
        description:
          'Merges two assets of one type that are the same. The older one stays and is returned. It gets the identifiers, tracks, builds and findings of the other one. Findings that both have become one, with the least closed status. Returns 409 if one of the assets is already merged, or if only one of them has merged a track that both have.',
        tags: ['Assets'],
        params: AssetParams,
        headers: IdempotencyHeaders,
        body: AssetMergeBody,
        response: { 200: AssetDetails, ...problems('not_found', 'conflict', 'unprocessable', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce({ db: db.planning('for_any'), secret }, request, reply, async (tx) => {
        const { actor, params, body } = request;
        const asset = await mergeAssets(tx, actor, follower, { id: params.id.toLowerCase(), into: body.into.toLowerCase(), reason: body.reason ?? null });
        return { status: 200, headers: { etag: `"${asset.version}"` }, body: await withIdentifiers(tx, asset) };
      }),
  );

  app.post(
    '/assets/:id/unmerge',
    {
      config: { access: 'assets:manage' },
      schema: {
        operationId: 'unmergeAsset',
        summary: 'Undo the merge of two assets',
        description:
          'Undoes the latest merge that the asset took part in, and returns the asset that is separate again. Both get back their identifiers, tracks, builds and findings. What scans have reported since the merge belongs to the asset that they named. A finding that was closed because a scan of the other asset did not show it gets back the status it had. What a report named for both stays with the asset that stayed. Returns 409 if the asset is not merged, or if a later merge of the same assets or of their tracks has to be undone first.',
        tags: ['Assets'],
        params: AssetParams,
        headers: IdempotencyHeaders,
        body: AssetUnmergeBody,
        response: { 200: AssetDetails, ...problems('not_found', 'conflict', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce({ db: db.planning('for_any'), secret }, request, reply, async (tx) => {
        const { actor, params, body } = request;
        const asset = await unmergeAssets(tx, actor, follower, { id: params.id, reason: body.reason ?? null });
        return { status: 200, headers: { etag: `"${asset.version}"` }, body: await withIdentifiers(tx, asset) };
      }),
  );
}
