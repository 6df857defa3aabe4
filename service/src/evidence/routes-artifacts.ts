import multipart from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { App } from '../http/app.ts';
import { DownloadHeaders, downloadResponses, planDownload, sendDownload } from '../http/downloads.ts';
import { readPage } from '../http/paging.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { readForm } from '../http/requests/uploads.ts';
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
import { eraseBytes } from './jobs.ts';
import { Artifact, ArtifactForm, ArtifactLink, ArtifactList, ArtifactListQuery, ArtifactParams, ArtifactRemovalQuery, WorkItemParams } from './schemas.ts';

const checkForm = bodyCheck(ArtifactForm);
const checkLink = bodyCheck(ArtifactLink);

export function artifactRoutes(app: App, deps: EvidenceDeps): void {
  const { db, secret, blobs } = deps;
  void app.register(async (uploads) => uploadRoute(uploads as unknown as App, deps));

  app.get(
    '/riskops-evidence/work-items/:work_item_id/artifacts',
    {
      config: { access: 'evidence:read' },
      schema: {
        operationId: 'listArtifacts',
        summary: 'List the artifacts of a work item',
        description: 'Remediation proof, newest first; superseded and removed ones too, unless they are filtered out.',
        tags: ['Evidence'],
        params: WorkItemParams,
        querystring: ArtifactListQuery,
        response: { 200: ArtifactList, ...problems('not_found', 'invalid_cursor') },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      const { work_item_id } = request.params;
      const found = await readPage({ db, secret }, request, reply, (tx, page) => listArtifacts(tx, actor.orgId, work_item_id, { filter: request.query, page }));
      return reply.send({ data: found.data.map(toArtifact), page: found.page });
    },
  );

  app.get(
    '/riskops-evidence/artifacts/:id',
    {
      config: { access: 'evidence:read' },
      schema: {
        operationId: 'getArtifact',
        summary: 'Get an artifact',
        description: 'What is known of it. Of a removed one that is its tombstone.',
        tags: ['Evidence'],
        params: ArtifactParams,
        response: { 200: Artifact, ...problems('not_found') },
      },
    },
    async (request, reply) => reply.send(toArtifact(await db.withTenant(request.actor, (tx) => readArtifact(tx, request.actor.orgId, request.params.id)))),
  );

  app.get(
    '/riskops-evidence/artifacts/:id/content',
    {
      config: { access: 'evidence:read', produces: artifactMediaTypes },
      schema: {
        operationId: 'getArtifactContent',
        summary: 'Download an artifact',
        description: 'The bytes as they were received, whole or in part. A link has none, nor has a removed artifact. Each download is an audit event.',
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
        const download = downloadOf(artifact);
        const plan = planDownload(request, download);
        if (plan.status !== 304 && request.method === 'GET') await recordDownload(tx, actor, artifact, plan.status === 206 ? plan.range : null);
        return { download, plan };
      });
      return sendDownload(reply as never, blobs, download, plan) as never;
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
          'Leaves a tombstone with the reason, which later packages show. The bytes are erased, unless a package was sealed with them. Removing it again changes nothing.',
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
          description: 'The file. What it is, is found out from its bytes',
          fields: ArtifactForm.properties,
          required: ['type', 'title'],
          example: { file: 'bytes', type: 'pull_request', title: 'Upgrade OpenSSL to 3.0.14' },
          json: ArtifactLink,
        },
      },
      schema: {
        operationId: 'addArtifact',
        summary: 'Add an artifact to a work item',
        description:
          'A file as the part `file` of a form with the fields beside it, or JSON with a `url`. What the link leads to is captured soon after if a ticketing connection of the organization can read it, as an artifact that supersedes the link. With `supersedes` it takes the place of an earlier one. A closed work item takes artifacts too; the next package has them.',
        tags: ['Evidence'],
        params: WorkItemParams,
        headers: IdempotencyHeaders,
        response: {
          201: { ...Artifact, headers: { Location: { type: 'string', description: 'Address of what was created' } } },
          ...problems('not_found', 'conflict', 'idempotency_key_reused'),
        },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      const { work_item_id } = request.params as Static<typeof WorkItemParams>;
      const received: { file?: ArtifactFile } = {};
      try {
        let input: NewArtifact;
        if (request.isMultipart()) {
          await db.withTenant(actor, (tx) => readItem(tx, actor.orgId, work_item_id));
          input = await fromForm(request, async (content, filename) => {
            received.file = await receiveFile(blobs, content, filename, artifactLimit);
            return received.file;
          });
          // What an Idempotency-Key stands for.
          request.body = input;
        } else input = fromLink(checkLink(request.body));
        let added: string | undefined;
        const body = await answerOnce(deps, request, reply, async (tx) => {
          const artifact = await addArtifact(tx, actor, work_item_id, input);
          added = artifact.id;
          return { status: 201, headers: { location: `/api/v1/riskops-evidence/artifacts/${artifact.id}` }, body: toArtifact(artifact) };
        });
        if (added !== undefined && received.file) await assertKept(deps, request, added, received.file.sha256);
        return reply.send(body as never);
      } catch (error) {
        const { file } = received;
        if (file) await db.withTenant(actor, (tx) => enqueue(tx, eraseBytes, { sha256: file.sha256 })).catch(() => {});
        throw error;
      }
    },
  );
}

/** Equal bytes may have been erased between their arrival here and the artifact's commit; from the commit on they are kept. */
async function assertKept({ db, blobs }: EvidenceDeps, request: FastifyRequest, id: string, sha256: string): Promise<void> {
  if (await blobs.stat(sha256)) return;
  await db.withTenant(request.actor, (tx) => removeArtifact(tx, request.actor, id, 'its bytes were erased together with equal ones while it was added'));
  throw new AppError('unavailable', 'Equal bytes were being erased at this moment. Nothing was added; send the file again.', {
    headers: { 'retry-after': '1' },
  });
}

async function fromForm(request: FastifyRequest, store: Parameters<typeof readForm<ArtifactFile>>[1]): Promise<NewArtifact> {
  const { fields, file } = await readForm(request, store);
  const said = checkForm(fields);
  if (!file)
    throw invalidField({ in: 'body', path: '/file', code: 'required', detail: 'The form has no file: send it as the part "file", or send JSON with a "url".' });
  return { ...commonOf(said), content: file };
}

function fromLink(said: Static<typeof ArtifactLink>): NewArtifact {
  const link = redactUrl(said.url);
  if (!link) throw invalidField({ in: 'body', path: '/url', code: 'wrong_format', detail: 'The url must be an address that begins with http:// or https://.' });
  return { ...commonOf(said), content: link };
}

/** Clocks and zones differ. */
const A_DAY = 24 * 60 * 60 * 1000;

function commonOf({
  type,
  title,
  description,
  occurred_at,
  supersedes,
}: Static<typeof ArtifactForm> | Static<typeof ArtifactLink>): Omit<NewArtifact, 'content'> {
  if (occurred_at && Date.parse(occurred_at) > Date.now() + A_DAY)
    throw invalidField({ in: 'body', path: '/occurred_at', code: 'out_of_range', detail: 'lies in the future: it says when the thing happened' });
  return { type, title, description: description || null, occurred_at: occurred_at ?? null, supersedes: supersedes ?? null };
}

function downloadOf({ id, sha256, size, media_type, filename, removal }: ArtifactRow) {
  if (removal) throw new AppError('not_found', `The artifact "${id}" was removed: ${removal.reason}`);
  if (sha256 === null || media_type === null)
    throw new AppError('not_found', `The artifact "${id}" is a link; its content was not captured. Read it for the address.`);
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
