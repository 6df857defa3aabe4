import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { TenantTx } from '../db/database.ts';
import type { App } from '../http/app.ts';
import { DownloadHeaders, downloadResponses, sendDownload } from '../http/downloads.ts';
import { readPage } from '../http/paging.ts';
import { tooMany } from '../http/requests/access.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { problems } from '../http/schemas.ts';
import { organizationOf } from '../organizations/api-keys/tokens.ts';
import type { Actor } from '../shared/actor.ts';
import { AppError } from '../shared/errors.ts';
import type { EvidenceDeps } from './deps.ts';
import { readPackage } from './packages/packages.ts';
import { toListedPackage } from './present.ts';
import { downloadIn, packageMediaTypes, receiptedDownload } from './routes-packages.ts';
import { DownloadQuery, PackageParams } from './schemas-packages.ts';
import { SharedPackage, SharedParams, ShareLinkBody, ShareLinkCreated, ShareLinkList, ShareLinkParams, ShareLinkQuery } from './schemas-shared.ts';
import { recordView } from './sharing/receipts.ts';
import { createShareLink, findShared, listShareLinks, recipientActor, revokeShareLink, type Shared, type ShareLink } from './sharing/share-links.ts';

const ROOT = '/api/v1/riskops-evidence';
const KEYS_HINT =
  'Compare the fingerprints of the keys with those that the organization gave you by another way: what comes from here vouches only for itself.';

export function shareLinkRoutes(app: App, deps: EvidenceDeps): void {
  const { db, secret, publicUrl } = deps;

  app.post(
    '/riskops-evidence/packages/:package_id/share-links',
    {
      config: { access: 'evidence:manage' },
      schema: {
        operationId: 'createShareLink',
        summary: 'Share an evidence package',
        description:
          'Makes a link for an auditor without an account. The answer holds it, this once. It serves until it expires or is revoked, also when the package is superseded, and every download with it is receipted.',
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
        downloadIn(row, 'zip');
        const { link, token } = await createShareLink(tx, actor, row.id, request.body);
        return { status: 201, body: { ...toShareLink(link), url: `${publicUrl()}${ROOT}/shared/${token}` } };
      }),
  );

  app.get(
    '/riskops-evidence/packages/:package_id/share-links',
    {
      config: { access: 'evidence:read' },
      schema: {
        operationId: 'listShareLinks',
        summary: 'List the share links of an evidence package',
        description: 'For whom they are and how often they were used; expired and revoked ones too. The links themselves are not stored.',
        tags: ['Evidence'],
        params: PackageParams,
        querystring: ShareLinkQuery,
        response: { 200: ShareLinkList, ...problems('not_found', 'invalid_cursor') },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      const { package_id } = request.params;
      const found = await readPage({ db, secret }, request, reply, async (tx, page) => {
        const { id } = await readPackage(tx, actor.orgId, package_id);
        return listShareLinks(tx, actor.orgId, id, page);
      });
      return reply.send({ data: found.data.map(toShareLink), page: found.page });
    },
  );

  app.delete(
    '/riskops-evidence/packages/:package_id/share-links/:id',
    {
      config: { access: 'evidence:manage' },
      schema: {
        operationId: 'revokeShareLink',
        summary: 'Revoke a share link',
        description: 'Counts from the next request on, on every replica. The link stays in the list as revoked; revoking it again changes nothing.',
        tags: ['Evidence'],
        params: ShareLinkParams,
        response: { 204: Type.Null({ description: 'Revoked' }), ...problems('not_found') },
      },
    },
    async (request, reply) => {
      const { package_id, id } = request.params;
      await db.withTenant(request.actor, (tx) => revokeShareLink(tx, request.actor, package_id, id));
      return reply.code(204).send(null);
    },
  );
}

/** For whoever holds a link: the token in the path is the credential. */
export function sharedRoutes(app: App, { db, blobs }: EvidenceDeps): void {
  const withShared = async <T>(
    request: FastifyRequest<{ Params: Static<typeof SharedParams> }>,
    work: (tx: TenantTx, actor: Actor, shared: Shared) => Promise<T>,
  ): Promise<T> => {
    const { allowed, seconds } = app.failures.look(request.ip);
    if (!allowed) throw tooMany('Too many links that lead nowhere from your address.', seconds);
    const { token } = request.params;
    const orgId = organizationOf('shr', token);
    const done =
      orgId === null
        ? null
        : await db.withTenant({ orgId }, async (tx) => {
            const shared = await findShared(tx, orgId, token);
            return shared && { result: await work(tx, recipientActor(orgId, shared.link.recipient, request), shared) };
          });
    if (done) return done.result;
    app.failures.take(request.ip);
    throw new AppError('not_found', 'This link leads nowhere: it is unknown, expired or revoked. Ask whoever sent it for a new one.');
  };

  app.get(
    '/riskops-evidence/shared/:token',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'getSharedEvidencePackage',
        summary: 'Get a shared evidence package',
        description: 'What the package of a share link says, its hashes, and where to download it. Needs nothing but the link. A superseded package says so.',
        tags: ['Evidence'],
        params: SharedParams,
        response: { 200: SharedPackage, ...problems('not_found', 'rate_limited') },
      },
    },
    async (request, reply) => {
      const shown = await withShared(request, async (tx, actor, shared) => {
        if (request.method === 'GET') await recordView(tx, actor, shared.row, shared.link.id);
        return toShared(shared, request.params.token);
      });
      return reply.send(shown);
    },
  );

  app.get(
    '/riskops-evidence/shared/:token/download',
    {
      config: { access: 'public', produces: packageMediaTypes },
      schema: {
        operationId: 'downloadSharedEvidencePackage',
        summary: 'Download a shared evidence package',
        description: 'The sealed bytes, whole or in part: the ZIP with everything, or one of its formats alone. Each download is receipted.',
        tags: ['Evidence'],
        params: SharedParams,
        querystring: DownloadQuery,
        headers: DownloadHeaders,
        response: {
          ...(downloadResponses(packageMediaTypes) as Record<number, never>),
          ...problems('not_found', 'rate_limited', 'range_not_satisfiable'),
        },
      },
    },
    async (request, reply) => {
      const { download, plan } = await withShared(request, (tx, actor, { link, row }) =>
        receiptedDownload(tx, actor, request, { row, format: request.query.format ?? 'zip', shareLinkId: link.id, blobs }),
      );
      return sendDownload(reply as never, blobs, download, plan) as never;
    },
  );
}

function toShareLink({ revoked_at, expires_at, ...link }: ShareLink): Static<typeof ShareLinkList>['data'][number] {
  return {
    id: link.id,
    package_id: link.package_id,
    recipient: link.recipient,
    status: revoked_at ? 'revoked' : expires_at.getTime() <= Date.now() ? 'expired' : 'active',
    created_by: link.created_by as Static<typeof ShareLinkCreated>['created_by'],
    created_at: link.created_at.toISOString(),
    expires_at: expires_at.toISOString(),
    revoked_at: revoked_at?.toISOString() ?? null,
    downloads: link.downloads,
    last_download_at: link.last_download_at?.toISOString() ?? null,
  };
}

function toShared({ link, organization, row }: Shared, token: string): Static<typeof SharedPackage> {
  const listed = toListedPackage(row);
  const expires_at = link.expires_at.toISOString();
  return {
    organization,
    recipient: link.recipient,
    expires_at,
    package_id: listed.package_id,
    work_item_id: listed.work_item_id,
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
