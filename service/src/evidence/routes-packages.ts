import type { FastifyRequest } from 'fastify';
import type { BlobStore } from '../blobs/blobs.ts';
import type { TenantTx } from '../db/database.ts';
import type { App } from '../http/app.ts';
import { DownloadHeaders, type DownloadPlan, downloadResponses, planDownload, sendDownload } from '../http/downloads.ts';
import { readPage } from '../http/paging.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { preferredWait, waitFor } from '../http/requests/prefer.ts';
import { problems } from '../http/schemas.ts';
import type { Actor } from '../shared/actor.ts';
import { AppError } from '../shared/errors.ts';
import { readItem } from '../work-items/items/read.ts';
import type { EvidenceDeps } from './deps.ts';
import { evidenceFormats } from './formats/formats.ts';
import { publishedKeys } from './keys/keys.ts';
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
  Verification,
} from './schemas-packages.ts';
import { recordReceipt, recordView } from './sharing/receipts.ts';
import { trustIn, verifySealed } from './verify/verify.ts';

const WAIT_SECONDS = 10;
export const packageMediaTypes = ['application/zip', ...new Set(evidenceFormats.map(({ mediaType }) => mediaType.replace(/;.*/, '')))];

export function packageRoutes(app: App, deps: EvidenceDeps): void {
  const { db, blobs } = deps;

  app.get(
    '/riskops-evidence/packages',
    {
      config: { access: 'evidence:read' },
      schema: {
        operationId: 'listEvidencePackages',
        summary: 'List evidence packages',
        description: 'Packages of your organization, the newest first. Those that are being generated stand at the time they were asked for.',
        tags: ['Evidence'],
        querystring: PackageListQuery,
        response: { 200: PackageList, ...problems('invalid_cursor') },
      },
    },
    async (request, reply) => {
      const { data, page } = await readPage(deps, request, reply, (tx, page) => listPackages(tx, request.actor.orgId, request.query, page));
      return reply.send({ data: data.map(toListedPackage), page });
    },
  );

  app.get(
    '/riskops-evidence/work-items/:work_item_id/packages',
    {
      config: { access: 'evidence:read' },
      schema: {
        operationId: 'listWorkItemEvidencePackages',
        summary: 'List the evidence packages of a work item',
        description: 'The newest first, superseded ones too.',
        tags: ['Evidence'],
        params: WorkItemParams,
        querystring: ItemPackageListQuery,
        response: { 200: PackageList, ...problems('not_found', 'invalid_cursor') },
      },
    },
    async (request, reply) => {
      const { work_item_id } = request.params;
      const { orgId } = request.actor;
      const { data, page } = await readPage(deps, request, reply, async (tx, page) => {
        await readItem(tx, orgId, work_item_id);
        return listPackages(tx, orgId, { ...request.query, work_item_id }, page);
      });
      return reply.send({ data: data.map(toListedPackage), page });
    },
  );

  app.get(
    '/riskops-evidence/packages/:package_id',
    {
      config: { access: 'evidence:read' },
      schema: {
        operationId: 'getEvidencePackage',
        summary: 'Get an evidence package',
        description: 'Its conclusion and gaps, its hashes, its place in the log, every file in it, and where to download it.',
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
          'Seals what is known of a work item at this instant, finished or not: the package says so itself. Answers 201 with the package when it is done within the time of `Prefer: wait=N` (10 seconds without it), else 202; ask again at `Location` then.',
        tags: ['Evidence'],
        headers: IdempotencyHeaders,
        body: NewPackageBody,
        response: {
          201: { ...Package, headers: { Location: { type: 'string', description: 'Address of the package' } } },
          202: {
            ...Package,
            headers: {
              Location: { type: 'string', description: 'Address of the package' },
              'Retry-After': { type: 'string', description: 'Seconds after which to ask again' },
            },
          },
          ...problems('not_found', 'idempotency_key_reused'),
        },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      const asked = (await answerOnce(deps, request, reply, async (tx) => {
        const row = await requestPackage(tx, actor, request.body);
        return { status: 202, headers: { location: `/api/v1/riskops-evidence/packages/${row.id}` }, body: toPackage(row) };
      })) as ReturnType<typeof toPackage>;
      const done = await waitFor(request, reply, preferredWait(request, WAIT_SECONDS), async () => {
        const row = await db.withTenant(actor, (tx) => readPackage(tx, actor.orgId, asked.package_id));
        return row.status === 'generating' ? undefined : row;
      });
      if (done) return reply.code(201).send(toPackage(done));
      return reply.code(202).header('retry-after', '2').send(asked);
    },
  );

  app.get(
    '/riskops-evidence/packages/:package_id/download',
    {
      config: { access: 'evidence:read', produces: packageMediaTypes },
      schema: {
        operationId: 'downloadEvidencePackage',
        summary: 'Download an evidence package',
        description: 'The sealed bytes, whole or in part: the ZIP with everything, or one of its formats alone. Each download is receipted.',
        tags: ['Evidence'],
        params: PackageParams,
        querystring: DownloadQuery,
        headers: DownloadHeaders,
        response: { ...(downloadResponses(packageMediaTypes) as Record<number, never>), ...problems('not_found', 'conflict', 'range_not_satisfiable') },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      const { download, plan } = await db.withTenant(actor, async (tx) => {
        const row = await readPackage(tx, actor.orgId, request.params.package_id);
        return receiptedDownload(tx, actor, request, { row, format: request.query.format ?? 'zip', blobs });
      });
      return sendDownload(reply as never, blobs, download, plan) as never;
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
          'Checks the stored bytes with the program that auditors use offline, against all keys that this service ever published. A superseded package verifies too, for its date.',
        tags: ['Evidence'],
        params: PackageParams,
        response: { 200: Verification, ...problems('not_found', 'conflict') },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      const row = await db.withTenant(actor, (tx) => readPackage(tx, actor.orgId, request.params.package_id));
      const { sha256, size } = downloadIn(row, 'zip');
      const report = await verifySealed(blobs, { sha256, size }, trustIn(await db.withSystem(publishedKeys), deps.timestampCertificates));
      await db.withTenant(actor, (tx) => recordReceipt(tx, actor, { packageId: row.id, kind: 'verification', outcome: report.verdict }));
      return reply.send(toVerification(report, row.superseded_reason));
    },
  );
}

/** What is asked for as a whole or in part is receipted in the transaction that finds it; a look at its headers is not. */
export async function receiptedDownload(
  tx: TenantTx,
  actor: Actor,
  request: FastifyRequest,
  { row, format, shareLinkId, blobs }: { row: PackageRow; format: PackageDownload['format']; shareLinkId?: string; blobs: BlobStore },
): Promise<{ download: PackageDownload; plan: DownloadPlan }> {
  const download = downloadIn(row, format);
  const plan = planDownload(request, download);
  if (plan.status !== 304 && request.method === 'GET' && (await blobs.stat(download.sha256)) !== null) {
    const outcome = plan.status === 206 ? 'part' : 'whole';
    await recordReceipt(tx, actor, { packageId: row.id, kind: 'download', format, outcome, ...(shareLinkId === undefined ? {} : { shareLinkId }) });
  }
  return { download, plan };
}

export function downloadIn(row: PackageRow, format: PackageDownload['format']): PackageDownload {
  const download = downloadsOf(row).find((one) => one.format === format);
  if (download) return download;
  if (row.status === 'generating') throw new AppError('conflict', `The package "${row.id}" is being generated. Ask again when its status is "ready".`);
  if (row.status === 'failed') throw new AppError('conflict', `The package "${row.id}" failed: ${row.error ?? ''} Generate a new one.`);
  throw new AppError(
    'not_found',
    `The package "${row.id}" was made without the format "${format}"; it has ${downloadsOf(row)
      .map((one) => one.format)
      .join(', ')}.`,
  );
}
