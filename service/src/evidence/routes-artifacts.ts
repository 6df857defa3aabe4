import multipart from '@fastify/multipart';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { eraseBytes } from '../blobs/erase.ts';
import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { DownloadHeaders, downloadResponses, planDownload, sendDownload } from '../http/downloads.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { readForm } from '../http/requests/uploads.ts';
import { getRoute, listRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import { enqueue } from '../jobs/jobs.ts';
import { AppError, invalidField } from '../shared/errors.ts';
import { bodyCheck } from '../validation/check.ts';
import { readItem } from '../work-items/items/read.ts';
import {
  type ArtifactFile,
  type ArtifactRow,
  addArtifact,
  listArtifacts,
  type NewArtifact,
  readArtifact,
  recordDownload,
  removeArtifact,
} from './artifacts/artifacts.ts';
import { artifactMediaTypes } from './artifacts/media-type.ts';
import { receiveFile } from './artifacts/receive.ts';
import { redactUrl } from './artifacts/redact-url.ts';
import type { EvidenceDeps } from './deps.ts';
import { Artifact, ArtifactForm, ArtifactLink, ArtifactList, ArtifactListQuery, ArtifactParams, ArtifactRemovalQuery, WorkItemParams } from './schemas.ts';

const checkForm = bodyCheck(ArtifactForm);
const checkLink = bodyCheck(ArtifactLink);

export function artifactRoutes(app: App, deps: EvidenceDeps): void {
  const { db, blobs } = deps;
  void app.register(async (uploads) => uploadRoute(uploads.withTypeProvider<TypeBoxTypeProvider>(), deps));

  listRoute(app, deps, '/riskops-evidence/work-items/:work_item_id/artifacts', {
    access: 'evidence:read',
    operationId: 'listArtifacts',
    summary: 'List artifacts of a work item',
    description: 'Returns the artifacts of a work item, newest first. Includes superseded and removed artifacts unless you filter them out.',
    tag: 'Evidence',
    params: WorkItemParams,
    query: ArtifactListQuery,
    list: ArtifactList,
    problems: ['not_found'],
    read: async (tx, { actor, params, query, page }) =>
      presentPage(await listArtifacts(tx, actor.orgId, params.work_item_id, { filter: query, page }), toArtifact),
  });

  getRoute(app, deps, '/riskops-evidence/artifacts/:id', {
    access: 'evidence:read',
    operationId: 'getArtifact',
    summary: 'Get an artifact',
    description: 'Returns one artifact without its content. For a removed artifact, `removed` says who removed it, when and why.',
    tag: 'Evidence',
    params: ArtifactParams,
    body: Artifact,
    read: async (tx, { actor, params }) => toArtifact(await readArtifact(tx, actor.orgId, params.id)),
  });

  app.get(
    '/riskops-evidence/artifacts/:id/content',
    {
      // Stored bytes are sent as they are: their hash is the ETag.
      compress: false,
      config: { access: 'evidence:read', produces: artifactMediaTypes },
      schema: {
        operationId: 'getArtifactContent',
        summary: 'Download an artifact',
        description:
          'Returns the content of an artifact as it was received. Supports range requests. Returns 404 for links and removed artifacts. Every download is recorded in the audit trail.',
        tags: ['Evidence'],
        params: ArtifactParams,
        headers: DownloadHeaders,
        response: { ...(downloadResponses(artifactMediaTypes) as Record<number, never>), ...problems('not_found', 'range_not_satisfiable') },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      const { download, plan } = await db.withTenant(actor, async (tx) => {
        const artifact = await readArtifact(tx, actor.orgId, request.params.id);
        const download = toDownload(artifact);
        const plan = planDownload(request, download);
        if (plan.status !== 304 && request.method === 'GET') await recordDownload(tx, actor, artifact, plan.status === 206 ? plan.range : null);
        return { download, plan };
      });
      return sendDownload(reply, blobs, download, plan);
    },
  );

  app.delete(
    '/riskops-evidence/artifacts/:id',
    {
      config: { access: 'evidence:manage' },
      schema: {
        operationId: 'removeArtifact',
        summary: 'Remove an artifact',
        description:
          'Removes an artifact. Its metadata and the reason are kept and shown in later packages. The content is erased, unless a package was sealed with it or the same content is used elsewhere. Removing it again changes nothing.',
        tags: ['Evidence'],
        params: ArtifactParams,
        querystring: ArtifactRemovalQuery,
        response: { 200: Artifact, ...problems('not_found') },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      return reply.send(toArtifact(await db.withTenant(actor, (tx) => removeArtifact(tx, actor, request.params.id, request.query.reason))));
    },
  );
}

async function uploadRoute(app: App, deps: EvidenceDeps): Promise<void> {
  const { db, blobs, artifactLimit } = deps;
  await app.register(multipart, { limits: { files: 1, fields: 10, fieldSize: 100_000, fileSize: artifactLimit + 1, parts: 12 } });

  app.post(
    '/riskops-evidence/work-items/:work_item_id/artifacts',
    {
      config: {
        access: 'evidence:manage',
        upload: {
          description: 'The file. Its media type is detected from its content.',
          fields: ArtifactForm.properties,
          required: ['type', 'title'],
          example: { file: '<file>', type: 'pull_request', title: 'Upgrade OpenSSL to 3.0.14' },
          json: ArtifactLink,
        },
      },
      schema: {
        operationId: 'addArtifact',
        summary: 'Add an artifact',
        description:
          'Adds an artifact to a work item. Send a file as the part `file` of a multipart form together with the other fields, or send JSON with a `url`. If a ticketing connection of your organization can read the link, the service captures its content shortly after and adds it as an artifact that supersedes the link. With `supersedes`, the new artifact replaces an earlier one. Closed work items accept artifacts too; the next package includes them.',
        tags: ['Evidence'],
        params: WorkItemParams,
        headers: IdempotencyHeaders,
        response: {
          201: { ...Artifact, headers: { Location: { type: 'string', description: 'URL of the artifact.' } } },
          ...problems('not_found', 'conflict', 'idempotency_key_reused'),
        },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      const { work_item_id } = request.params;
      const received: { file?: ArtifactFile } = {};
      try {
        let input: NewArtifact;
        if (request.isMultipart()) {
          await db.withTenant(actor, (tx) => readItem(tx, actor.orgId, work_item_id));
          input = await fromForm(request, async (content, filename) => {
            received.file = await receiveFile(blobs, content, filename, artifactLimit);
            return received.file;
          });
          // The Idempotency-Key is bound to the body, and a form has none until it is read.
          request.body = input;
        } else input = fromLink(checkLink(request.body));
        let added: string | undefined;
        const body = await answerOnce(deps, request, reply, async (tx) => {
          const artifact = await addArtifact(tx, actor, work_item_id, input);
          added = artifact.id;
          return { status: 201, headers: { location: `/api/v1/riskops-evidence/artifacts/${artifact.id}` }, body: toArtifact(artifact) };
        });
        if (added !== undefined && received.file) await assertStored(deps, request, added, received.file.sha256);
        return reply.send(body);
      } catch (error) {
        const { file } = received;
        if (file) await db.withTenant(actor, (tx) => enqueue(tx, eraseBytes, { sha256: file.sha256 })).catch(() => {});
        throw error;
      }
    },
  );
}

/** A concurrent job may have erased equal bytes between the upload and the commit. After the commit they are safe. */
async function assertStored({ db, blobs }: EvidenceDeps, request: FastifyRequest, id: string, sha256: string): Promise<void> {
  if (await blobs.stat(sha256)) return;
  await db.withTenant(request.actor, (tx) =>
    removeArtifact(tx, request.actor, id, 'its content was erased together with identical content while it was being added'),
  );
  throw new AppError('unavailable', 'Identical content was being erased at the same time, so the new artifact was removed again. Send the file again.', {
    headers: { 'retry-after': '1' },
  });
}

async function fromForm(request: FastifyRequest, store: Parameters<typeof readForm<ArtifactFile>>[1]): Promise<NewArtifact> {
  const { fields, file } = await readForm(request, store);
  const form = checkForm(fields);
  if (!file)
    throw invalidField({ in: 'body', path: '/file', code: 'required', detail: 'The form has no file. Send it as the part "file", or send JSON with a "url".' });
  return { ...commonFields(form), content: file };
}

function fromLink(body: Static<typeof ArtifactLink>): NewArtifact {
  const link = redactUrl(body.url);
  if (!link) throw invalidField({ in: 'body', path: '/url', code: 'wrong_format', detail: '"url" must begin with http:// or https://.' });
  return { ...commonFields(body), content: link };
}

/** Clocks and time zones differ. */
const TOLERANCE_MS = 24 * 60 * 60 * 1000;

function commonFields({
  type,
  title,
  description,
  occurred_at,
  supersedes,
}: Static<typeof ArtifactForm> | Static<typeof ArtifactLink>): Omit<NewArtifact, 'content'> {
  if (occurred_at && Date.parse(occurred_at) > Date.now() + TOLERANCE_MS)
    throw invalidField({ in: 'body', path: '/occurred_at', code: 'out_of_range', detail: '"occurred_at" must not be more than one day in the future.' });
  return { type, title, description: description || null, occurred_at: occurred_at ?? null, supersedes: supersedes ?? null };
}

function toDownload({ id, sha256, size, media_type, filename, removal }: ArtifactRow) {
  if (removal) throw new AppError('not_found', `The artifact "${id}" was removed. Reason: ${removal.reason}`);
  if (sha256 === null || media_type === null)
    throw new AppError('not_found', `The artifact "${id}" is a link whose content was not captured. Get the artifact to see its URL.`);
  return { sha256, size: Number(size), mediaType: media_type, filename: filename ?? `artifact-${id}` };
}

function toArtifact(row: ArtifactRow): Static<typeof Artifact> {
  const { removal } = row;
  return {
    id: row.id,
    work_item_id: row.work_item_id,
    type: row.type,
    title: row.title,
    description: row.description,
    occurred_at: row.occurred_at?.toISOString() ?? null,
    captured: row.sha256 !== null,
    url: row.url,
    redactions: row.redactions as Static<typeof Artifact>['redactions'],
    capture: row.capture,
    filename: row.filename,
    media_type: row.media_type as Static<typeof Artifact>['media_type'],
    size: row.size === null ? null : Number(row.size),
    sha256: row.sha256,
    supersedes: row.supersedes,
    superseded_by: row.superseded_by,
    removed: removal && { at: removal.removed_at, by: removal.removed_by, reason: removal.reason },
    added_at: row.added_at.toISOString(),
    added_by: row.added_by as Static<typeof Artifact>['added_by'],
  };
}
