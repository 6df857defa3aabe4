import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { AppError, errorCodeOf, type FieldError, messageOf } from '../../shared/errors.ts';

export interface UploadedForm<T> {
  fields: Record<string, unknown>;
  file: T | null;
}

/** A form with one file, which is stored while it arrives. Field order does not matter. */
export async function readForm<T>(request: FastifyRequest, store: (content: Readable, filename: string) => Promise<T>): Promise<UploadedForm<T>> {
  const fields: Record<string, unknown> = {};
  const errors: FieldError[] = [];
  const wrong = (name: string, code: string, detail: string): void => void errors.push({ in: 'body', path: `/${name}`, code, detail });
  const storing: { file: T | null; failure?: { error: unknown } } = { file: null };
  try {
    for await (const part of request.parts()) {
      const name = part.fieldname;
      if (part.type === 'file' && name === 'file') {
        storing.file = await store(part.file, part.filename ?? '').catch((error: unknown) => {
          // Unless the file itself broke off on its way here.
          if (!part.file.errored) storing.failure = { error };
          throw error;
        });
      } else if (part.type === 'file') {
        part.file.resume();
        wrong(name, 'unknown_field', 'is not known as a file; the file is called "file"');
      } else if (Object.hasOwn(fields, name)) wrong(name, 'repeated', 'must be given only once');
      else if (part.valueTruncated) wrong(name, 'too_long', 'is too long for a field of a form');
      else fields[name] = part.value;
    }
  } catch (error) {
    throw storing.failure ? storing.failure.error : unreadable(error);
  }
  if (errors.length > 0)
    throw new AppError('validation_failed', `The form has mistakes: ${errors.map(({ path, detail }) => `${path} ${detail}`).join('; ')}.`, { errors });
  return { fields, file: storing.file };
}

function unreadable(error: unknown): AppError {
  const code = errorCodeOf(error) ?? '';
  if (code === 'FST_FILES_LIMIT') {
    const mistake: FieldError = { in: 'body', path: '/file', code: 'repeated', detail: 'must be given only once' };
    return new AppError('validation_failed', 'The form has more than one file: send each in a request of its own.', { errors: [mistake] });
  }
  if (/^FST_(PARTS|FIELDS)_LIMIT$/.test(code)) return new AppError('payload_too_large', 'The form has more parts than are taken here.', { cause: error });
  return new AppError('malformed_request', `The form could not be read: ${messageOf(error)}.`, { cause: error });
}
