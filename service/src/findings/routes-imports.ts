import type { Readable } from 'node:stream';
import multipart from '@fastify/multipart';
import { formats } from '@rrs/scan-reports';
import type { FastifyRequest } from 'fastify';
import type { BlobRef } from '../blobs/blobs.ts';
import type { App } from '../http/app.ts';
import { readPage } from '../http/paging.ts';
import { PreferHeaders, preferredWait, waitFor } from '../http/requests/prefer.ts';
import { readForm } from '../http/requests/uploads.ts';
import { problems } from '../http/schemas.ts';
import { AppError } from '../shared/errors.ts';
import type { FindingDeps } from './deps.ts';
import { confirmImport, createImport, discardImport, type ImportRow, listImports, readImport } from './import/manage-imports.ts';
import { type ImportFields, readFields } from './import/upload-fields.ts';
import { toImport } from './present.ts';
import { FindingParams, Import, ImportFormats, ImportList, ImportListQuery, ImportQuery } from './schemas.ts';

const done = (row: ImportRow): boolean => row.status !== 'queued' && row.status !== 'running';

export function importRoutes(app: App, deps: FindingDeps): void {
  const { db, secret, follower } = deps;
  app.get(
    '/import-formats',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'listImportFormats',
        summary: 'List report formats',
        description: 'The report formats that can be imported. The format of a file is found out from its content.',
        tags: ['Imports'],
        response: { 200: ImportFormats },
      },
    },
    async (_request, reply) => reply.send({ data: formats.map(({ id, name, description, documentation }) => ({ id, name, description, documentation })) }),
  );

  void app.register(async (uploads) => uploadRoute(uploads as unknown as App, deps));

  app.get(
    '/imports',
    {
      config: { access: 'imports:read' },
      schema: {
        operationId: 'listImports',
        summary: 'List imports',
        description: 'Imports of your organization, newest first. Filters are combined; several values of one filter are alternatives.',
        tags: ['Imports'],
        querystring: ImportListQuery,
        response: { 200: ImportList, ...problems('invalid_cursor') },
      },
    },
    async (request, reply) => {
      const imports = await readPage({ db, secret }, request, reply, (tx, page) => listImports(tx, request.actor.orgId, request.query, page));
      return reply.send({ data: imports.data.map(toImport), page: imports.page });
    },
  );

  app.get(
    '/imports/:id',
    {
      config: { access: 'imports:read' },
      schema: {
        operationId: 'getImport',
        summary: 'Get an import',
        description: 'How far it is, what it changed, and which records could not be read and why.',
        tags: ['Imports'],
        params: FindingParams,
        response: { 200: Import, ...problems('not_found') },
      },
    },
    async (request, reply) => reply.send(toImport(await db.withTenant(request.actor, (tx) => readImport(tx, request.actor.orgId, request.params.id)))),
  );

  const decisions = [
    { verb: 'confirm', decide: confirmImport, description: 'Closes what a held import no longer saw. Only for imports that need confirmation.' },
    { verb: 'discard', decide: discardImport, description: 'Closes nothing of a held import; what it did see stays. Only for imports that need confirmation.' },
  ] as const;
  for (const { verb, decide, description } of decisions) {
    app.post(
      `/imports/:id/${verb}`,
      {
        config: { access: 'imports:manage' },
        schema: {
          operationId: `${verb}Import`,
          summary: verb === 'confirm' ? 'Confirm a held import' : 'Discard a held import',
          description,
          tags: ['Imports'],
          params: FindingParams,
          response: { 200: Import, ...problems('not_found', 'conflict') },
        },
      },
      async (request, reply) => {
        const { id } = request.params as { id: string };
        return reply.send(toImport(await db.withTenant(request.actor, (tx) => decide(tx, request.actor, id, follower))));
      },
    );
  }
}

/** The report is streamed to the blob store, whatever its type is said to be; the work is done by a job. */
async function uploadRoute(app: App, { db, blobs, reportLimit }: FindingDeps): Promise<void> {
  app.removeAllContentTypeParsers();
  await app.register(multipart, { limits: { files: 1, fields: 10, fieldSize: 100_000, fileSize: reportLimit + 1, parts: 20 } });
  app.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload));

  app.post(
    '/imports',
    {
      config: {
        access: 'imports:manage',
        upload: {
          description: 'The report as the tool wrote it, also compressed with gzip',
          fields: Object.fromEntries(['format', 'filename', 'scan_scope', 'dry_run'].map((name) => [name, { type: 'string', description: 'As in the query' }])),
          example: { file: '{"SchemaVersion": 2, "Results": []}' },
        },
      },
      schema: {
        operationId: 'createImport',
        summary: 'Import a report',
        description:
          'Takes a report file as the raw body or as the part `file` of a form, and answers 202 with the import, which a job then carries out; with `Prefer: wait=N` it waits up to N seconds for it. Importing the same report again changes nothing. Nothing is closed unless `scan_scope` says that the report is complete.',
        tags: ['Imports'],
        querystring: ImportQuery,
        headers: PreferHeaders,
        response: {
          202: {
            ...Import,
            headers: {
              Location: { type: 'string', description: 'Address of the import' },
              'Retry-After': { type: 'string', description: 'Seconds after which to ask again, while it is not done' },
            },
          },
        },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      const { blob, fields } = await receive(request, (content) => blobs.put(content, { maxBytes: reportLimit }));
      const created = await db.withTenant(actor, (tx) => createImport(tx, actor, { ...fields, sha256: blob.sha256, bytes: blob.size }));
      const finished = await waitFor(request, reply, preferredWait(request, 0), async () => {
        const row = await db.withTenant(actor, (tx) => readImport(tx, actor.orgId, created.id));
        return done(row) ? row : undefined;
      });
      const row = finished ?? created;
      if (!done(row)) reply.header('retry-after', '1');
      return reply.code(202).header('location', `/api/v1/imports/${row.id}`).send(toImport(row));
    },
  );
}

async function receive(request: FastifyRequest, store: (content: Readable) => Promise<BlobRef>): Promise<{ blob: BlobRef; fields: ImportFields }> {
  const query = request.query as Record<string, unknown>;
  if (!request.isMultipart()) {
    if (request.body === undefined) throw noFile();
    return { fields: readFields({ query, form: {} }, null), blob: await store(request.body as Readable) };
  }
  const { fields: form, file } = await readForm(request, async (content, filename) => ({ blob: await store(content), filename }));
  if (!file) throw noFile();
  return { blob: file.blob, fields: readFields({ query, form }, file.filename || null) };
}

function noFile(): AppError {
  return new AppError('validation_failed', 'The request carries no report: send it as the body, or as the part "file" of a form.', {
    errors: [{ in: 'body', path: '/file', code: 'required', detail: 'is required' }],
  });
}
