import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { BlobStore } from '../blobs/blobs.ts';
import type { TenantTx } from '../db/database.ts';
import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { DownloadHeaders, type DownloadPlan, downloadResponses, planDownload, sendDownload } from '../http/downloads.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { PreferHeaders, preferredWait, waitFor } from '../http/requests/prefer.ts';
import { listRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import type { Actor } from '../shared/actor.ts';
import { AppError } from '../shared/errors.ts';
import { readItem } from '../work-items/items/read.ts';
import type { EvidenceDeps } from './deps.ts';
import { evidenceFormats } from './formats/formats.ts';
import { openSigners, publishedKeys } from './keys/keys.ts';
import { signStatement } from './log/open-log.ts';
import { readStatus } from './packages/package-status.ts';
import { listPackages, type PackageRow, readPackage, requestPackage } from './packages/packages.ts';
import { downloadsOf, type PackageDownload, toListedPackage, toPackage, toVerification } from './present.ts';
import { WorkItemParams } from './schemas.ts';
import {
  DownloadQuery,
  ItemPackageListQuery,
  NewPackageBody,
  Package,
  PackageList,
  PackageListQuery,
  PackageParams,
  PackagePreview,
  StatusStatement,
  Verification,
} from './schemas-packages.ts';
import { countDownload } from './sharing/count-download.ts';
import { plainAddress, recordReceipt, recordView } from './sharing/receipts.ts';
import { trustedKeys, verifyStored } from './verify/verify-stored.ts';

const WAIT_SECONDS = 10;
export const packageMediaTypes = ['application/zip', ...new Set(evidenceFormats.map(({ mediaType }) => mediaType.replace(/;.*/, '')))];

export function packageRoutes(app: App, deps: EvidenceDeps): void {
  const { db, blobs } = deps;

  listRoute(app, deps, '/riskops-evidence/packages', {
    access: 'evidence:read',
    operationId: 'listEvidencePackages',
    summary: 'List evidence packages',
    description: "Returns your organization's evidence packages, newest first. Packages are ordered by the time of their request.",
    tag: 'Evidence',
    query: PackageListQuery,
    list: PackageList,
    read: async (tx, { actor, query, page }) => presentPage(await listPackages(tx, actor.orgId, query, page), toListedPackage),
  });

  listRoute(app, deps, '/riskops-evidence/work-items/:work_item_id/packages', {
    access: 'evidence:read',
    operationId: 'listWorkItemEvidencePackages',
    summary: 'List evidence packages of a work item',
    description: 'Returns the evidence packages of a work item, newest first, including superseded packages.',
    tag: 'Evidence',
    params: WorkItemParams,
    query: ItemPackageListQuery,
    list: PackageList,
    problems: ['not_found'],
    read: async (tx, { actor, params, query, page }) => {
      await readItem(tx, actor.orgId, params.work_item_id);
      return presentPage(await listPackages(tx, actor.orgId, { ...query, ...params }, page), toListedPackage);
    },
  });

  app.get(
    '/riskops-evidence/packages/:package_id',
    {
      config: { access: 'evidence:read' },
      schema: {
        operationId: 'getEvidencePackage',
        summary: 'Get an evidence package',
        description:
          'Returns one evidence package: its conclusion, gaps, hashes, entry in the transparency log, files and downloads. Viewing a sealed package is recorded in the audit trail.',
        tags: ['Evidence'],
        params: PackageParams,
        response: { 200: Package, ...problems('not_found') },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      const row = await db.withTenant(actor, async (tx) => {
        const found = await readPackage(tx, actor.orgId, request.params.package_id);
        if (request.method === 'GET') await recordView(tx, actor, found);
        return found;
      });
      return reply.send(toPackage(row));
    },
  );

  app.post(
    '/riskops-evidence/packages',
    {
      config: { access: 'evidence:manage' },
      schema: {
        operationId: 'createEvidencePackage',
        summary: 'Generate an evidence package',
        description:
          'Generates a signed package of the current evidence of a work item. The work item does not have to be finished: the package states what is still open. Returns 201 if generation ends within `Prefer: wait=N` seconds (default 10); check `status`, which can be `failed`. Otherwise returns 202; poll the URL in `Location`. With `dry_run` returns 200 with the conclusion, the grade and the gaps that the package would have, and generates nothing.',
        tags: ['Evidence'],
        headers: Type.Object({ ...IdempotencyHeaders.properties, ...PreferHeaders.properties }),
        body: NewPackageBody,
        response: {
          200: PackagePreview,
          201: { ...Package, headers: { Location: { type: 'string', description: 'URL of the package.' } } },
          202: {
            ...Package,
            headers: {
              Location: { type: 'string', description: 'URL of the package.' },
              'Retry-After': { type: 'string', description: 'Seconds to wait before polling.' },
            },
          },
          ...problems('not_found', 'idempotency_key_reused', 'unavailable'),
        },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      const { dry_run, work_item_id: workItemId } = request.body;
      if (dry_run) return deps.previews.preview({ actor, workItemId, publicUrl: deps.publicUrl(), timestamped: deps.timestamped });
      const requested = await answerOnce(deps, request, reply, async (tx) => {
        const row = await requestPackage(tx, actor, request.body);
        return { status: 202, headers: { location: `/api/v1/riskops-evidence/packages/${row.id}` }, body: toPackage(row) };
      });
      const done = await waitFor(request, reply, preferredWait(request, WAIT_SECONDS), async () => {
        const row = await db.withTenant(actor, (tx) => readPackage(tx, actor.orgId, requested.package_id));
        return row.status === 'generating' ? undefined : row;
      });
      if (done) return reply.code(201).send(toPackage(done));
      return reply.code(202).header('retry-after', '2').send(requested);
    },
  );

  app.get(
    '/riskops-evidence/packages/:package_id/download',
    {
      // Stored bytes are sent as they are: their hash is the ETag.
      compress: false,
      config: { access: 'evidence:read', produces: packageMediaTypes },
      schema: {
        operationId: 'downloadEvidencePackage',
        summary: 'Download an evidence package',
        description: 'Returns the sealed ZIP file, or one of its formats alone. Supports range requests. Every download is recorded with a receipt.',
        tags: ['Evidence'],
        params: PackageParams,
        querystring: DownloadQuery,
        headers: DownloadHeaders,
        response: { ...(downloadResponses(packageMediaTypes) as Record<number, never>), ...problems('not_found', 'conflict', 'range_not_satisfiable') },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      const row = await db.withTenant(actor, (tx) => readPackage(tx, actor.orgId, request.params.package_id));
      const planned = await planPackageDownload(request, blobs, row, request.query.format ?? 'zip');
      if (planned.needsReceipt) await db.withTenant(actor, (tx) => recordDownload(tx, actor, row, planned));
      return sendDownload(reply, blobs, planned.download, planned.plan);
    },
  );

  app.get(
    '/riskops-evidence/packages/:package_id/status-statement',
    {
      config: { access: 'evidence:read' },
      schema: {
        operationId: 'getEvidenceStatusStatement',
        summary: 'Get a signed status statement',
        description:
          'Returns a statement, signed now, that says whether the package is current or superseded. Give it to people who verify the package offline, with `rrs-verify --status`. That a package is superseded is also an entry of the transparency log. Returns 409 if the package is not sealed.',
        tags: ['Evidence'],
        params: PackageParams,
        response: { 200: StatusStatement, ...problems('not_found', 'conflict') },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      const statement = await db.withTenant(actor, async (tx) => readStatus(tx, await readPackage(tx, actor.orgId, request.params.package_id)));
      return reply.send(await signStatement(await openSigners(db, deps.keysDir), statement));
    },
  );

  app.post(
    '/riskops-evidence/packages/:package_id/verify',
    {
      config: { access: 'evidence:read' },
      schema: {
        operationId: 'verifyEvidencePackage',
        summary: 'Verify an evidence package',
        description:
          'Verifies the stored package with the same program that auditors use offline, against every key that this service ever published. A superseded package still verifies for its date. Every verification is recorded with a receipt.',
        tags: ['Evidence'],
        params: PackageParams,
        response: { 200: Verification, ...problems('not_found', 'conflict', 'unprocessable') },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      const row = await db.withTenant(actor, (tx) => readPackage(tx, actor.orgId, request.params.package_id));
      const { sha256, size } = findDownload(row, 'zip');
      const report = await verifyStored(blobs, { sha256, size }, trustedKeys(await db.withSystem(publishedKeys), deps.timestampCertificates));
      await db.withTenant(actor, (tx) => recordReceipt(tx, actor, { packageId: row.id, kind: 'verification', outcome: report.verdict }));
      return reply.send(toVerification(report, row.superseded_reason));
    },
  );
}

interface PlannedDownload {
  download: PackageDownload;
  plan: DownloadPlan;
  needsReceipt: boolean;
}

/** HEAD requests, 304 responses and files that are missing from the store get no receipt. */
export async function planPackageDownload(
  request: FastifyRequest,
  blobs: BlobStore,
  row: PackageRow,
  format: PackageDownload['format'],
): Promise<PlannedDownload> {
  const download = findDownload(row, format);
  const plan = planDownload(request, download);
  const needsReceipt = plan.status !== 304 && request.method === 'GET' && (await blobs.stat(download.sha256)) !== null;
  return { download, plan, needsReceipt };
}

/** Records the receipt, and counts the download against the limit of the share link, if there is one. */
export async function recordDownload(tx: TenantTx, actor: Actor, row: PackageRow, planned: PlannedDownload & { shareLinkId?: string }): Promise<void> {
  const { download, plan, shareLinkId } = planned;
  const { format } = download;
  const partial = plan.status === 206;
  const link = shareLinkId === undefined ? null : { orgId: actor.orgId, linkId: shareLinkId, format, address: plainAddress(actor.address), partial };
  const outcome = link ? await countDownload(tx, link) : partial ? 'part' : 'whole';
  await recordReceipt(tx, actor, { packageId: row.id, kind: 'download', format, outcome, ...(link && { shareLinkId: link.linkId }) });
}

export function findDownload(row: PackageRow, format: PackageDownload['format']): PackageDownload {
  const download = downloadsOf(row).find((one) => one.format === format);
  if (download) return download;
  if (row.status === 'generating') throw new AppError('conflict', `The package "${row.id}" is still being generated. Try again when its status is "ready".`);
  if (row.status === 'failed') throw new AppError('conflict', `Generation of the package "${row.id}" failed: ${row.error ?? ''} Generate a new package.`);
  const available = downloadsOf(row).map((one) => one.format);
  throw new AppError('not_found', `The package "${row.id}" does not include the format "${format}". Available formats: ${available.join(', ')}.`);
}
