import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { AppError, errorCodeOf, type FieldError, messageOf } from '../../shared/errors.ts';

export interface UploadedForm<T> {
  fields: Record<string, unknown>;
  file: T | null;
}

/** Reads a form with one file, which is stored while it arrives. The order of the fields does not matter. */
export async function readForm<T>(request: FastifyRequest, store: (content: Readable, filename: string) => Promise<T>): Promise<UploadedForm<T>> {
  const fields: Record<string, unknown> = {};
  const errors: FieldError[] = [];
  const addError = (name: string, code: string, detail: string): void => void errors.push({ in: 'body', path: `/${name}`, code, detail });
  const storing: { file: T | null; failure?: { error: unknown } } = { file: null };
  try {
    for await (const part of request.parts()) {
      const name = part.fieldname;
      if (part.type === 'file' && name === 'file') {
        storing.file = await store(part.file, part.filename ?? '').catch((error: unknown) => {
          // An upload that was interrupted is reported as a malformed request below.
          if (!part.file.errored) storing.failure = { error };
          throw error;
        });
      } else if (part.type === 'file') {
        part.file.resume();
        addError(name, 'unknown_field', 'is an unknown file part; name the part "file"');
      } else if (Object.hasOwn(fields, name)) addError(name, 'repeated', 'must not be repeated');
      else if (part.valueTruncated) addError(name, 'too_long', 'exceeds the size limit of a form field');
      else fields[name] = part.value;
    }
  } catch (error) {
    throw storing.failure ? storing.failure.error : unreadable(error);
  }
  if (errors.length > 0)
    throw new AppError('validation_failed', `The form has errors: ${errors.map(({ path, detail }) => `${path}: ${detail}`).join('; ')}.`, { errors });
  return { fields, file: storing.file };
}

function unreadable(error: unknown): AppError {
  const code = errorCodeOf(error) ?? '';
  if (code === 'FST_FILES_LIMIT') {
    const error: FieldError = { in: 'body', path: '/file', code: 'repeated', detail: 'must not be repeated' };
    return new AppError('validation_failed', 'The form contains more than one file. Send each file in a separate request.', { errors: [error] });
  }
  if (/^FST_(PARTS|FIELDS)_LIMIT$/.test(code)) return new AppError('payload_too_large', 'The form has too many parts.', { cause: error });
  return new AppError('malformed_request', `The form cannot be read: ${messageOf(error)}.`, { cause: error });
}
