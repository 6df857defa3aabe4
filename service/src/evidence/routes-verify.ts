import type { Readable } from 'node:stream';
import multipart from '@fastify/multipart';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import type { App } from '../http/app.ts';
import { readForm } from '../http/requests/uploads.ts';
import { problems } from '../http/schemas.ts';
import { AppError, type FieldError } from '../shared/errors.ts';
import type { EvidenceDeps } from './deps.ts';
import { publishedKeys } from './keys/keys.ts';
import { toVerification } from './present.ts';
import { Verification } from './schemas-packages.ts';
import { trustedKeys } from './verify/verify-stored.ts';
import { recordVerifiedUpload, type VerifiedUpload, verifyUpload } from './verify/verify-upload.ts';

const CURRENT = 'This is a package of your organization, and it is current: it was not superseded.';

export function verifyRoutes(app: App, deps: EvidenceDeps): void {
  void app.register(async (uploads) => uploadRoute(uploads.withTypeProvider<TypeBoxTypeProvider>(), deps));
}

async function uploadRoute(app: App, { db, reportLimit, timestampCertificates }: EvidenceDeps): Promise<void> {
  app.removeAllContentTypeParsers();
  await app.register(multipart, { limits: { files: 1, fields: 1, fileSize: reportLimit + 1, parts: 2 } });
  app.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload));
  const trust = async () => trustedKeys(await db.withSystem(publishedKeys), timestampCertificates);

  app.post(
    '/riskops-evidence/verify',
    {
      config: {
        access: 'evidence:read',
        upload: { description: 'The package as a ZIP file.', fields: {}, example: { file: '<ZIP file>' }, mediaType: 'application/zip' },
      },
      schema: {
        operationId: 'verifyUploadedPackage',
        summary: 'Verify an uploaded package',
        description:
          'Verifies a package that you send as the raw body or as the part `file` of a multipart form. Uses the same program that auditors use offline, and every key that this service ever published. Returns 200 with a verdict, even if the file is not a package. Returns 422 if the verification needs more memory or time than the service allows. A package that another installation signed is never `verified`. The file is not stored. `superseded` is set only for packages of your organization.',
        tags: ['Evidence'],
        response: { 200: Verification, ...problems('unprocessable') },
      },
    },
    async (request, reply) => {
      const { actor } = request;
      const verified = await receive(request, (content) => verifyUpload(content, reportLimit, trust));
      const own = await db.withTenant(actor, (tx) => recordVerifiedUpload(tx, actor, verified));
      const verification = toVerification(verified.report, own?.superseded_reason ?? null);
      return reply.send(own?.status === 'ready' ? { ...verification, notes: [...verification.notes, CURRENT] } : verification);
    },
  );
}

async function receive(request: FastifyRequest, verify: (content: Readable) => Promise<VerifiedUpload>): Promise<VerifiedUpload> {
  if (!request.isMultipart()) {
    if (request.body === undefined) throw invalidUpload('/file', 'required', 'is required');
    return verify(request.body as Readable);
  }
  const { fields, file } = await readForm(request, verify);
  const [extra] = Object.keys(fields);
  if (extra !== undefined) throw invalidUpload(`/${extra}`, 'unknown_field', 'is not allowed. The form contains only the part "file".');
  if (!file) throw invalidUpload('/file', 'required', 'is required');
  return file;
}

function invalidUpload(path: string, code: FieldError['code'], detail: string): AppError {
  return new AppError('validation_failed', 'Send the package as the body, or as the only part, named "file", of a multipart form.', {
    errors: [{ in: 'body', path, code, detail }],
  });
}
