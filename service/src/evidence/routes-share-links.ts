import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { TenantTx } from '../db/database.ts';
import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { type SendPage, wantsPage } from '../http/console/console.ts';
import { DownloadHeaders, downloadResponses, sendDownload } from '../http/downloads.ts';
import { tooMany } from '../http/requests/access.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { deleteRoute, listRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import { organizationOf } from '../organizations/api-keys/tokens.ts';
import type { Actor } from '../shared/actor.ts';
import { AppError } from '../shared/errors.ts';
import type { EvidenceDeps } from './deps.ts';
import { readPackage } from './packages/packages.ts';
import { toListedPackage } from './present.ts';
import { findDownload, packageMediaTypes, planPackageDownload, recordDownload } from './routes-packages.ts';
import { DownloadQuery, PackageParams } from './schemas-packages.ts';
import { SharedPackage, SharedParams, ShareLinkBody, ShareLinkCreated, ShareLinkList, ShareLinkParams, ShareLinkQuery } from './schemas-share-links.ts';
import { recordView } from './sharing/receipts.ts';
import {
  createShareLink,
  findSharedPackage,
  listShareLinks,
  recipientActor,
  remainingDownloads,
  revokeShareLink,
  type SharedPackage as SharedRow,
  type ShareLink,
} from './sharing/share-links.ts';

const ROOT = '/api/v1/riskops-evidence';
const KEYS_HINT = 'Compare the key fingerprints with those that the organization gave you through another channel. Keys from this server alone prove nothing.';

export function shareLinkRoutes(app: App, deps: EvidenceDeps): void {
  const { publicUrl } = deps;

  app.post(
    '/riskops-evidence/packages/:package_id/share-links',
    {
      config: { access: 'evidence:manage' },
      schema: {
        operationId: 'createShareLink',
        summary: 'Share an evidence package',
        description:
          'Creates a link with which an auditor can download the package without an account. The response contains the link. It cannot be retrieved again. The link works until it expires, is revoked or has no downloads left, even if the package is superseded. Every download is recorded with a receipt.',
        tags: ['Evidence'],
        params: PackageParams,
        headers: IdempotencyHeaders,
        body: ShareLinkBody,
        response: { 201: ShareLinkCreated, ...problems('not_found', 'conflict', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce(deps, request, reply, async (tx) => {
        const { actor } = request;
        const row = await readPackage(tx, actor.orgId, request.params.package_id);
        findDownload(row, 'zip');
        const { link, token } = await createShareLink(tx, actor, row.id, request.body);
        const [url, api_url] = [`${publicUrl()}/shared/${token}`, `${publicUrl()}${ROOT}/shared/${token}`];
        return { status: 201, body: { ...toShareLink(link), url, api_url } };
      }),
  );

  listRoute(app, deps, '/riskops-evidence/packages/:package_id/share-links', {
    access: 'evidence:read',
    operationId: 'listShareLinks',
    summary: 'List share links',
    description:
      'Returns the share links of an evidence package with their recipients and usage, including expired and revoked links. The URLs are not stored.',
    tag: 'Evidence',
    params: PackageParams,
    query: ShareLinkQuery,
    list: ShareLinkList,
    problems: ['not_found'],
    read: async (tx, { actor, params, page }) => {
      const { id } = await readPackage(tx, actor.orgId, params.package_id);
      return presentPage(await listShareLinks(tx, actor.orgId, id, page), toShareLink);
    },
  });

  deleteRoute(app, deps, '/riskops-evidence/packages/:package_id/share-links/:id', {
    access: 'evidence:manage',
    operationId: 'revokeShareLink',
    summary: 'Revoke a share link',
    description:
      'Revokes a share link. Takes effect on the next request, on every replica. The link stays in the list as revoked. Revoking it again changes nothing.',
    tag: 'Evidence',
    params: ShareLinkParams,
    remove: (tx, { actor, params }) => revokeShareLink(tx, actor, params.package_id, params.id),
  });
}

/** Routes for recipients of share links. The token in the path is the credential. */
const Shared = Type.Object({ token: Type.String({ maxLength: 200 }) });

/** The link that recipients get. People see a page of the console, programs are led to the API. `page` is null without the console. */
export function sharedPackageLink(app: App, page: SendPage | null): void {
  app.get('/shared/:token', { config: { access: 'public' }, schema: { hide: true, params: Shared } }, (request, reply) => {
    if (page !== null && wantsPage(request)) return page(request, reply);
    return reply.redirect(`${ROOT}/shared/${encodeURIComponent(request.params.token)}`, 302);
  });
}

export function sharedPackageRoutes(app: App, { db, blobs }: EvidenceDeps): void {
  const withShared = async <T>(
    request: FastifyRequest<{ Params: Static<typeof SharedParams> }>,
    work: (tx: TenantTx, actor: Actor, shared: SharedRow) => Promise<T>,
  ): Promise<T> => {
    const { allowed, seconds } = app.failures.look(request.ip);
    if (!allowed) throw tooMany('Too many requests with invalid share links from your address.', seconds);
    const { token } = request.params;
    const orgId = organizationOf('shr', token);
    const done =
      orgId === null
        ? null
        : await db.withTenant({ orgId }, async (tx) => {
            const shared = await findSharedPackage(tx, orgId, token);
            return shared && { result: await work(tx, recipientActor(orgId, shared.link.recipient, request), shared) };
          });
    if (done) return done.result;
    app.failures.take(request.ip);
    throw new AppError('not_found', 'This share link is unknown, expired or revoked. Ask the sender for a new link.');
  };

  app.get(
    '/riskops-evidence/shared/:token',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'getSharedEvidencePackage',
        summary: 'Get a shared evidence package',
        description: 'Returns the shared package: its conclusion, gaps, hashes and downloads, and whether it was superseded. The link is the only credential.',
        tags: ['Evidence'],
        params: SharedParams,
        response: { 200: SharedPackage, ...problems('not_found', 'rate_limited') },
      },
    },
    async (request, reply) => {
      const body = await withShared(request, async (tx, actor, shared) => {
        if (request.method === 'GET') await recordView(tx, actor, shared.row, shared.link.id);
        return toSharedPackage(shared, request.params.token);
      });
      return reply.send(body);
    },
  );

  app.get(
    '/riskops-evidence/shared/:token/download',
    {
      // Stored bytes are sent as they are: their hash is the ETag.
      compress: false,
      config: { access: 'public', produces: packageMediaTypes },
      schema: {
        operationId: 'downloadSharedEvidencePackage',
        summary: 'Download a shared evidence package',
        description:
          'Returns the sealed ZIP file, or one of its formats alone. Supports range requests. Every download is recorded with a receipt. Returns 410 if the link has no downloads left.',
        tags: ['Evidence'],
        params: SharedParams,
        querystring: DownloadQuery,
        headers: DownloadHeaders,
        response: {
          ...(downloadResponses(packageMediaTypes) as Record<number, never>),
          ...problems('not_found', 'gone', 'rate_limited', 'range_not_satisfiable'),
        },
      },
    },
    async (request, reply) => {
      const { row } = await withShared(request, async (_tx, _actor, shared) => shared);
      const planned = await planPackageDownload(request, blobs, row, request.query.format ?? 'zip');
      if (planned.needsReceipt)
        await withShared(request, (tx, actor, shared) => recordDownload(tx, actor, shared.row, { ...planned, shareLinkId: shared.link.id }));
      return sendDownload(reply, blobs, planned.download, planned.plan);
    },
  );
}

function toShareLink({ revoked_at, expires_at, ...link }: ShareLink): Static<typeof ShareLinkList>['data'][number] {
  const remaining = remainingDownloads(link);
  return {
    id: link.id,
    package_id: link.package_id,
    recipient: link.recipient,
    status: revoked_at ? 'revoked' : expires_at.getTime() <= Date.now() ? 'expired' : remaining === 0 ? 'used_up' : 'active',
    created_by: link.created_by as Static<typeof ShareLinkCreated>['created_by'],
    created_at: link.created_at.toISOString(),
    expires_at: expires_at.toISOString(),
    revoked_at: revoked_at?.toISOString() ?? null,
    downloads: link.downloads,
    max_downloads: link.max_downloads,
    remaining_downloads: remaining,
    last_download_at: link.last_download_at?.toISOString() ?? null,
  };
}

function toSharedPackage({ link, organization, row }: SharedRow, token: string): Static<typeof SharedPackage> {
  const listed = toListedPackage(row);
  const expires_at = link.expires_at.toISOString();
  return {
    organization,
    recipient: link.recipient,
    expires_at,
    remaining_downloads: remainingDownloads(link),
    package_id: listed.package_id,
    work_item_id: listed.work_item_id,
    work_item_title: listed.work_item_title,
    sequence: listed.sequence,
    conclusion: listed.conclusion,
    completeness: listed.completeness,
    counts: listed.counts,
    hashes: listed.hashes,
    signature: listed.signature,
    log: listed.log,
    timestamps: listed.timestamps,
    downloads: listed.downloads.map((download) => ({ ...download, url: `${ROOT}/shared/${token}/download?format=${download.format}`, expires_at })),
    as_of: listed.as_of,
    generated_at: listed.generated_at,
    superseded: listed.superseded,
    keys: { url: `${ROOT}/keys`, hint: KEYS_HINT },
  };
}
