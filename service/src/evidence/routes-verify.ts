import type { Readable } from 'node:stream';
import multipart from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import type { App } from '../http/app.ts';
import { readForm } from '../http/requests/uploads.ts';
import { AppError, type FieldError } from '../shared/errors.ts';
import type { EvidenceDeps } from './deps.ts';
import { publishedKeys } from './keys/keys.ts';
import { toVerification } from './present.ts';
import { Verification } from './schemas-packages.ts';
import { trustIn } from './verify/verify.ts';
import { recordVerifiedUpload, type VerifiedUpload, verifyUpload } from './verify/verify-upload.ts';

const CURRENT = 'These are the bytes of a package of your organization, and no later one took its place.';

export function verifyRoutes(app: App, deps: EvidenceDeps): void {
  void app.register(async (uploads) => uploadRoute(uploads as unknown as App, deps));
}

async function uploadRoute(app: App, { db, reportLimit, timestampCertificates }: EvidenceDeps): Promise<void> {
  app.removeAllContentTypeParsers();
  await app.register(multipart, { limits: { files: 1, fields: 1, fileSize: reportLimit + 1, parts: 2 } });
  app.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload));
  const trust = async () => trustIn(await db.withSystem(publishedKeys), timestampCertificates);

  app.post(
    '/riskops-evidence/verify',
    {
      config: {
        access: 'evidence:read',
        upload: { description: 'The package', fields: {}, example: { file: 'the bytes of a ZIP' }, mediaType: 'application/zip' },
      },
      schema: {
        operationId: 'verifyUploadedPackage',
        summary: 'Verify any evidence package',
        description:
          'Takes a package as the raw body or as the part `file` of a form and checks it with the program that auditors use offline, against all keys that this service ever published. Whatever was sent, the answer is 200 with the verdict; one that others signed is at best `consistent`. The file is not kept. Only of packages of your organization it is known whether they are superseded.',
        tags: ['Evidence'],
        response: { 200: Verification },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      const verified = await receive(request, (content) => verifyUpload(content, reportLimit, trust));
      const own = await db.withTenant(actor, (tx) => recordVerifiedUpload(tx, actor, verified));
      const answer = toVerification(verified.report, own?.superseded_reason ?? null);
      return reply.send(own?.status === 'ready' ? { ...answer, notes: [...answer.notes, CURRENT] } : answer);
    },
  );
}

async function receive(request: FastifyRequest, verify: (content: Readable) => Promise<VerifiedUpload>): Promise<VerifiedUpload> {
  if (!request.isMultipart()) {
    if (request.body === undefined) throw refused('/file', 'required', 'is required');
    return verify(request.body as Readable);
  }
  const { fields, file } = await readForm(request, verify);
  const [extra] = Object.keys(fields);
  if (extra !== undefined) throw refused(`/${extra}`, 'unknown_field', 'is not known; the form has nothing but the file');
  if (!file) throw refused('/file', 'required', 'is required');
  return file;
}

function refused(path: string, code: FieldError['code'], detail: string): AppError {
  return new AppError('validation_failed', 'Send the package, and nothing else, as the body or as the part "file" of a form.', {
    errors: [{ in: 'body', path, code, detail }],
  });
}
