import { type Static, Type } from 'typebox';
import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { listRoute, patchRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import type { AssetDeps } from './deps.ts';
import { mergeTrack } from './merging/merge-track.ts';
import { unmergeTrack } from './merging/unmerge-track.ts';
import { AssetParams } from './schemas.ts';
import {
  AssetVersionList,
  AssetVersionQuery,
  Track,
  TrackEndQuery,
  TrackList,
  TrackMergeBody,
  TrackParams,
  TrackPatch,
  TrackQuery,
  TrackUnmergeBody,
} from './schemas-tracks.ts';
import { trackName } from './track-name.ts';
import { endTrack, listTracks, listVersions, renameTrack, type TrackRow } from './tracks.ts';

export function trackRoutes(app: App, { db, secret, follower }: AssetDeps): void {
  listRoute(app, { db, secret }, '/assets/:id/versions', {
    access: 'assets:read',
    operationId: 'listAssetVersions',
    summary: 'List the builds of an asset',
    description: 'Returns the builds of the asset that were scanned: tags, releases, digests and commits. The one that was scanned last comes first.',
    tag: 'Assets',
    params: AssetParams,
    query: AssetVersionQuery,
    list: AssetVersionList,
    problems: ['not_found'],
    read: async (tx, { actor, params, page }) =>
      presentPage(await listVersions(tx, actor.orgId, params.id, page), ({ id: _, track_name, first_scan, last_scan, same_digest, ...version }) => ({
        ...version,
        track: trackName(track_name),
        first_scan: first_scan.toISOString(),
        last_scan: last_scan.toISOString(),
        same_digest: same_digest.map((same) => ({
          asset: { id: same.asset_id, name: same.asset_name },
          name: same.name,
          track: trackName(same.track_name),
        })),
      })),
  });

  listRoute(app, { db, secret }, '/assets/:id/tracks', {
    access: 'assets:read',
    operationId: 'listAssetTracks',
    summary: 'List the tracks of an asset',
    description:
      'Returns what exists of the asset side by side: branches, environments, release lines and pull requests. A scan of one track closes nothing on another.',
    tag: 'Assets',
    params: AssetParams,
    query: TrackQuery,
    list: TrackList,
    problems: ['not_found'],
    read: async (tx, { actor, params, page }) => presentPage(await listTracks(tx, actor.orgId, params.id, page), toTrack),
  });

  patchRoute(app, { db }, '/assets/:id/tracks/:name', {
    access: 'assets:manage',
    operationId: 'renameAssetTrack',
    summary: 'Rename a track of an asset',
    description:
      'Changes the name of a track. Later scans must state the new name in `scan_scope.track`: a scan that names the old one begins a new track. Returns 409 if the asset has another track with the name, and 422 if the new name stands for something else: a pull request, a branch in development, or a branch, environment or release line whose findings count.',
    tag: 'Assets',
    params: TrackParams,
    patch: TrackPatch,
    body: Track,
    problems: ['conflict', 'unprocessable'],
    change: async (tx, { actor, params, patch }) => toTrack(await renameTrack(tx, actor, follower, { assetId: params.id, name: params.name, to: patch.name })),
  });

  app.post(
    '/assets/:id/tracks/:name/merge',
    {
      config: { access: 'assets:manage' },
      schema: {
        operationId: 'mergeAssetTrack',
        summary: 'Merge two tracks of an asset',
        description:
          'Merges two names of one branch or environment. The track `into` stays and is returned. It gets the builds and findings of the other one, and later scans that name the other one belong to it. Nothing is closed before its next complete scan. Returns 422 if the findings of only one of them count.',
        tags: ['Assets'],
        params: TrackParams,
        headers: IdempotencyHeaders,
        body: TrackMergeBody,
        response: { 200: Track, ...problems('not_found', 'unprocessable', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce({ db: db.planning('for_any'), secret }, request, reply, async (tx) => {
        const { actor, params, body } = request;
        const merged = await mergeTrack(tx, actor, follower, { assetId: params.id, name: params.name, into: body.into, reason: body.reason ?? null });
        return { status: 200, body: toTrack(merged) };
      }),
  );

  app.post(
    '/assets/:id/tracks/:name/unmerge',
    {
      config: { access: 'assets:manage' },
      schema: {
        operationId: 'unmergeAssetTrack',
        summary: 'Undo the merge of two tracks',
        description:
          'Undoes the latest merge that the track took part in, and returns the track that is separate again. `name` is the name of either track. Both get back their builds and findings. What scans have reported since the merge belongs to the track that they named. A finding that was closed because a scan of the other track did not show it gets back the status it had. Returns 409 if the track is not merged, if a later merge of the same tracks or of the asset has to be undone first, or if another track has the name by now.',
        tags: ['Assets'],
        params: TrackParams,
        headers: IdempotencyHeaders,
        body: TrackUnmergeBody,
        response: { 200: Track, ...problems('not_found', 'conflict', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce({ db: db.planning('for_any'), secret }, request, reply, async (tx) => {
        const { actor, params, body } = request;
        const separated = await unmergeTrack(tx, actor, follower, { assetId: params.id, name: params.name, reason: body.reason ?? null });
        return { status: 200, body: toTrack(separated) };
      }),
  );

  app.delete(
    '/assets/:id/tracks/:name',
    {
      config: { access: 'assets:manage' },
      schema: {
        operationId: 'endAssetTrack',
        summary: 'End a track of an asset',
        description:
          'Ends a branch, environment or release line that no longer exists. Findings that only this track has are withdrawn, because the end proves nothing about them. A later scan of the track brings it back.',
        tags: ['Assets'],
        params: TrackParams,
        querystring: TrackEndQuery,
        response: { 204: Type.Null({ description: 'No content' }), ...problems('not_found') },
      },
    },
    async ({ actor, params, query }, reply) => {
      await db.withTenant(actor, (tx) => endTrack(tx, actor, follower, { assetId: params.id, name: params.name, reason: query.reason ?? null }));
      return reply.code(204).send(null);
    },
  );
}

function toTrack({ n, name, kind, counts, ended_at, ended_by, ended_reason }: TrackRow): Static<typeof Track> {
  return { name, kind, default: n === 0, counts, ended_at: ended_at?.toISOString() ?? null, ended_by, ended_reason };
}
