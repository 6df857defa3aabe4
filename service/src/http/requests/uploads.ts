import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { AppError, errorCodeOf, type FieldError, messageOf } from '../../shared/errors.ts';

export interface UploadedForm<T> {
  fields: Record<string, unknown>;
  file: T | null;
}

/**
 * Stores the file of a form while it arrives. `isWanted` settles when all fields have been read and checked, which may be after the file: a store
 * that waits for it before it keeps the file does not keep one that belongs to an invalid form.
 */
export type StoreFile<T> = (content: Readable, filename: string, isWanted: Promise<void>) => Promise<T>;

type CheckFields = (fields: Readonly<Record<string, unknown>>, filename: string | null) => void;

/** Reads a form with one file. The order of the fields does not matter. */
export async function readForm<T>(request: FastifyRequest, store: StoreFile<T>, check: CheckFields = () => {}): Promise<UploadedForm<T>> {
  const wanted = Promise.withResolvers<void>();
  wanted.promise.catch(() => {});
  const storing = Promise.withResolvers<T | null>();
  storing.promise.catch(() => {});
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  let filename: string | null = null;
  const begin = (content: Readable, name: string): void => {
    filename = name;
    store(content, name, wanted.promise).then(storing.resolve, (error: unknown) => {
      storing.reject(error);
      // An interrupted upload is reported as a malformed request by the parts.
      if (!content.errored) failed.reject(error);
    });
  };
  try {
    const fields = await Promise.race([readParts(request, begin), failed.promise]);
    check(fields, filename);
    if (filename === null) storing.resolve(null);
    wanted.resolve();
    return { fields, file: await storing.promise };
  } catch (error) {
    wanted.reject(error);
    if (filename === null) throw error;
    // A file that is too large also ends the form. The store says why.
    const failure = await storing.promise.then(
      () => null,
      (reason: unknown) => reason,
    );
    throw failure instanceof AppError ? failure : error;
  }
}

async function readParts(request: FastifyRequest, begin: (content: Readable, filename: string) => void): Promise<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  const errors: FieldError[] = [];
  const addError = (name: string, code: string, detail: string): void => void errors.push({ in: 'body', path: `/${name}`, code, detail });
  try {
    for await (const part of request.parts()) {
      const name = part.fieldname;
      if (part.type === 'file' && name === 'file') {
        begin(part.file, part.filename ?? '');
      } else if (part.type === 'file') {
        part.file.resume();
        addError(name, 'unknown_field', 'is an unknown file part; name the part "file"');
      } else if (Object.hasOwn(fields, name)) addError(name, 'repeated', 'must not be repeated');
      else if (part.valueTruncated) addError(name, 'too_long', 'exceeds the size limit of a form field');
      else fields[name] = part.value;
    }
  } catch (error) {
    throw unreadable(error);
  }
  if (errors.length > 0)
    throw new AppError('validation_failed', `The form has errors: ${errors.map(({ path, detail }) => `${path}: ${detail}`).join('; ')}.`, { errors });
  return fields;
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
