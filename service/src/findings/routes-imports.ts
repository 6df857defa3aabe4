import { Readable } from 'node:stream';
import multipart from '@fastify/multipart';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { formats } from '@rrs/scan-reports';
import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { BlobRef } from '../blobs/blobs.ts';
import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { DownloadHeaders, downloadResponses, planDownload, sendDownload } from '../http/downloads.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { PreferHeaders, preferredWait, waitFor } from '../http/requests/prefer.ts';
import { readForm, type StoreFile } from '../http/requests/uploads.ts';
import { deleteRoute, getRoute, listRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import { assertQueueHasRoom } from '../jobs/jobs.ts';
import { AppError } from '../shared/errors.ts';
import type { FindingDeps } from './deps.ts';
import { endTracksOf } from './endings/end-by-name.ts';
import { listImportChanges, toImportChange } from './import/import-changes.ts';
import { confirmImport, createImport, discardImport, type ImportRow, listImports, readImport } from './import/manage-imports.ts';
import { limitToTrust, readOwnImport } from './import/pipeline-imports.ts';
import { deleteReportFile, recordReportDownload, reportDownload } from './import/report-files.ts';
import { type ImportFields, readFields } from './import/upload-fields.ts';
import { toImport, toListedImport } from './present.ts';
import { FindingParams, Import, ImportFormats, ImportList, ImportListQuery, ImportQuery } from './schemas.ts';
import { EndedTracks, EndedTracksResult, ImportChangeList, ImportChangeQuery } from './schemas-imports.ts';

/** Reports have many formats, and come from others: nothing that a browser would show. */
const FILE_TYPES = ['application/octet-stream'] as const;

const done = (row: ImportRow): boolean => row.status !== 'queued' && row.status !== 'running';

export function importRoutes(app: App, deps: FindingDeps): void {
  const { db, follower } = deps;
  app.get(
    '/import-formats',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'listImportFormats',
        summary: 'List report formats',
        description: 'Returns the report formats that can be imported. The format of a file is detected from its content unless you name it.',
        tags: ['Imports'],
        response: { 200: ImportFormats },
      },
    },
    async (_request, reply) => reply.send({ data: formats.map(({ id, name, description, documentation }) => ({ id, name, description, documentation })) }),
  );

  void app.register(async (uploads) => uploadRoute(uploads.withTypeProvider<TypeBoxTypeProvider>(), deps));

  listRoute(app, deps, '/imports', {
    access: 'imports:read',
    operationId: 'listImports',
    summary: 'List imports',
    description:
      'Returns the imports of uploaded reports, newest first, without their rejected records. An import must match all filters. Several values of one filter are alternatives.',
    tag: 'Imports',
    query: ImportListQuery,
    list: ImportList,
    read: async (tx, { actor, query, page }) => presentPage(await listImports(tx, actor.orgId, query, page), toListedImport),
  });

  getRoute(app, deps, '/imports/:id', {
    access: 'imports:read',
    operationId: 'getImport',
    summary: 'Get an import',
    description: 'Returns one import: its progress, what it changed, and which records were rejected and why.',
    tag: 'Imports',
    params: FindingParams,
    body: Import,
    read: async (tx, { actor, params }) => toImport(await readOwnImport(tx, actor, params.id)),
  });

  app.get(
    '/imports/:id/file',
    {
      // Stored bytes are sent as they are: their hash is the ETag.
      compress: false,
      config: { access: 'imports:read', produces: FILE_TYPES },
      schema: {
        operationId: 'getImportFile',
        summary: 'Download the file of an import',
        description:
          'Returns the report as it was uploaded, or what a connection collected. Supports range requests. Returns 404 if the file was deleted. Every download is recorded in the audit trail.',
        tags: ['Imports'],
        params: FindingParams,
        headers: DownloadHeaders,
        response: { ...(downloadResponses(FILE_TYPES) as Record<number, never>), ...problems('not_found', 'range_not_satisfiable') },
      },
    },
    async (request, reply) => {
      const { actor, params } = request;
      const { download, plan } = await db.withTenant(actor, async (tx) => {
        const download = reportDownload(await readOwnImport(tx, actor, params.id));
        const plan = planDownload(request, download);
        if (plan.status !== 304 && request.method === 'GET') await recordReportDownload(tx, actor, params.id, download);
        return { download, plan };
      });
      return sendDownload(reply, deps.blobs, download, plan);
    },
  );

  deleteRoute(app, deps, '/imports/:id/file', {
    access: 'imports:manage',
    operationId: 'deleteImportFile',
    summary: 'Delete the file of an import',
    description:
      'Deletes the stored report file. The import and its results stay, and `file_deleted_at` says that the file is gone. Evidence packages that are generated later cannot contain it. Does nothing if the file was deleted before. Returns 409 if an evidence package contains the file, or if the import has not finished reading it.',
    tag: 'Imports',
    params: FindingParams,
    problems: ['conflict'],
    remove: (tx, { actor, params }) => deleteReportFile(tx, actor, params.id),
  });

  listRoute(app, deps, '/imports/:id/changes', {
    access: 'findings:read',
    operationId: 'listImportChanges',
    summary: 'List the changes of an import',
    description:
      'Returns the findings that the import created, reopened, closed or updated, each once, most severe first. With `kind=unchanged`, also those that it saw and did not change, as long as it is the newest scan of its track by its source. Includes findings that only a pull request has. A dry run has no changes: see its counts.',
    tag: 'Imports',
    params: FindingParams,
    query: ImportChangeQuery,
    list: ImportChangeList,
    problems: ['not_found'],
    read: async (tx, { actor, params, query, page }) => {
      await readOwnImport(tx, actor, params.id);
      return presentPage(await listImportChanges(tx, actor.orgId, params.id, query, page), toImportChange);
    },
  });

  app.post(
    '/ended-tracks',
    {
      config: { access: 'imports:manage' },
      schema: {
        operationId: 'endTracks',
        summary: 'End pull requests and branches',
        description:
          'Ends the tracks of pull requests and branches that have been merged or closed. Call it from the pipeline that runs when a pull request closes. What only they have is not listed any more. This proves nothing about the findings. Tracks whose findings count do not end: `DELETE /assets/{id}/tracks/{name}` ends those.',
        tags: ['Imports'],
        headers: IdempotencyHeaders,
        body: EndedTracks,
        response: { 200: EndedTracksResult, ...problems('idempotency_key_reused') },
      },
    },
    (request, reply) => answerOnce(deps, request, reply, async (tx) => ({ status: 200, body: await endTracksOf(tx, request.actor, follower, request.body) })),
  );

  const decisions = [
    {
      verb: 'confirm',
      decide: confirmImport,
      description: 'Closes the findings that the report no longer shows. Returns 409 unless the status of the import is `needs_confirmation`.',
    },
    {
      verb: 'discard',
      decide: discardImport,
      description:
        'Leaves the findings open that the report no longer shows. Findings that the import created or updated stay. Returns 409 unless the status of the import is `needs_confirmation`.',
    },
  ] as const;
  for (const { verb, decide, description } of decisions) {
    app.post(
      `/imports/:id/${verb}`,
      {
        config: { access: 'imports:manage' },
        schema: {
          operationId: `${verb}Import`,
          summary: verb === 'confirm' ? 'Confirm an import' : 'Discard the closures of an import',
          description,
          tags: ['Imports'],
          params: FindingParams,
          response: { 200: Import, ...problems('not_found', 'conflict') },
        },
      },
      async (request, reply) => {
        const { actor, params } = request;
        return reply.send(toImport(await db.withTenant(actor, (tx) => decide(tx, actor, params.id, follower))));
      },
    );
  }
}

/** Streams the report to the blob store, whatever content type the client declares. A job imports it. */
async function uploadRoute(app: App, { db, secret, blobs, reportLimit }: FindingDeps): Promise<void> {
  app.removeAllContentTypeParsers();
  await app.register(multipart, { limits: { files: 1, fields: 10, fieldSize: 100_000, fileSize: reportLimit + 1, parts: 20 } });
  app.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload));

  app.post(
    '/imports',
    {
      config: {
        access: 'imports:manage',
        upload: {
          description: 'The report as the tool wrote it, optionally compressed with gzip',
          fields: Object.fromEntries(
            ['format', 'filename', 'scan_scope', 'dry_run'].map((name) => [
              name,
              { type: 'string', description: 'Same as the query parameter, and takes precedence over it' },
            ]),
          ),
          example: { file: '{"SchemaVersion": 2, "Results": []}' },
        },
      },
      schema: {
        operationId: 'createImport',
        summary: 'Import a report',
        description:
          'Uploads a report and queues its import. Send the file as the request body or as the part `file` of a form. Returns 202 with the import. With `Prefer: wait=N`, the response waits up to N seconds for the import to finish, and is 422 `import_failed` if it failed. With an `Idempotency-Key`, sending the same file again returns the same import. Importing the same report again changes nothing. Findings are closed only if `scan_scope` declares the report complete. Returns 429 if too many jobs of your organization are waiting.',
        tags: ['Imports'],
        querystring: ImportQuery,
        headers: Type.Object({ ...IdempotencyHeaders.properties, ...PreferHeaders.properties }),
        response: {
          202: {
            ...Import,
            headers: {
              Location: { type: 'string', description: 'URL of the import' },
              'Retry-After': { type: 'string', description: 'Seconds to wait before polling again. Present until the import has finished' },
            },
          },
          ...problems('import_failed', 'idempotency_key_reused'),
        },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      await db.withTenant(actor, assertQueueHasRoom);
      const store: StoreFile<BlobRef> = (content, _filename, isWanted) => blobs.put(content, { maxBytes: reportLimit, onNamed: () => isWanted });
      const { blob, fields: given } = await receive(request, request.query, store);
      const fields = await db.withTenant(actor, (tx) => limitToTrust(tx, actor, given));
      const { id } = await answerOnce({ db, secret, content: [fields, blob.sha256] }, request, reply, async (tx) => ({
        status: 202,
        body: { id: (await createImport(tx, actor, { ...fields, sha256: blob.sha256, bytes: blob.size })).id },
      }));
      const read = (): Promise<ImportRow> => db.withTenant(actor, (tx) => readImport(tx, actor.orgId, id));
      const seconds = preferredWait(request, 0);
      const finished = await waitFor(request, reply, seconds, async () => {
        const row = await read();
        return done(row) ? row : undefined;
      });
      const row = finished ?? (await read());
      const location = `/api/v1/imports/${id}`;
      if (seconds > 0 && row.status === 'failed')
        throw new AppError('import_failed', `The import failed: ${row.error} See ${location} for details.`, { headers: { location } });
      if (!done(row)) reply.header('retry-after', '1');
      return reply.header('location', location).send(toImport(row));
    },
  );
}

async function receive(
  request: FastifyRequest,
  query: Static<typeof ImportQuery>,
  store: StoreFile<BlobRef>,
): Promise<{ blob: BlobRef; fields: ImportFields }> {
  if (!request.isMultipart()) {
    if (!(request.body instanceof Readable)) throw noFile();
    return { fields: readFields({ query, form: {} }, null), blob: await store(request.body, '', Promise.resolve()) };
  }
  let fields: ImportFields | undefined;
  const { file } = await readForm(request, store, (form, filename) => {
    fields = readFields({ query, form }, filename || null);
  });
  if (!file || !fields) throw noFile();
  return { blob: file, fields };
}

function noFile(): AppError {
  return new AppError('validation_failed', 'The request contains no report. Send it as the request body or as the part `file` of a form.', {
    errors: [{ in: 'body', path: '/file', code: 'required', detail: 'is required' }],
  });
}
