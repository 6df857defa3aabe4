import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { finished, Readable, Transform } from 'node:stream';
import { AppError, errorCodeOf } from '../shared/errors.ts';
import { type BlobContent, type BlobRef, type ByteRange, incomplete, type PutOptions, tooLarge } from './blobs.ts';

const DISK_FULL = new Set(['ENOSPC', 'EDQUOT', 'EROFS']);

/** Writes the content to an empty file and computes its hash. Each chunk is written before the next is requested, so a source may reuse its buffer. */
export async function spool(content: BlobContent, file: FileHandle, { maxBytes = Number.POSITIVE_INFINITY, onNamed }: PutOptions = {}): Promise<BlobRef> {
  const hash = createHash('sha256');
  let size = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    const source: AsyncIterable<unknown> = content instanceof Readable ? content.iterator({ destroyOnReturn: false }) : content;
    for await (const chunk of source) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError('The content of a blob must be bytes.');
      size += chunk.byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
      hash.update(chunk);
      yield chunk;
    }
  }
  try {
    await file.writeFile(counted());
  } catch (error) {
    if (!DISK_FULL.has(errorCodeOf(error) ?? '')) throw error;
    throw new AppError('unavailable', 'The storage of the service is full or read-only. Retry later, or report this to the operator of the service.', {
      cause: error,
    });
  }
  const ref = { sha256: hash.digest('hex'), size };
  await onNamed?.(ref);
  return ref;
}

/** Passes the bytes through and fails at the end if their hash does not match. */
export function verified(source: Readable, sha256: string, explain?: (error: Error) => Error): Readable {
  const hash = createHash('sha256');
  return checked(source, { add: (chunk) => void hash.update(chunk), isValid: () => hash.digest('hex') === sha256, what: sha256 }, explain);
}

/** Passes the bytes through and fails at the end if their number does not match the range. */
export function counted(source: Readable, { start, end }: ByteRange, explain?: (error: Error) => Error): Readable {
  let received = 0;
  const add = (chunk: Uint8Array): void => {
    received += chunk.byteLength;
  };
  return checked(source, { add, isValid: () => received === end - start + 1, what: `between byte ${start} and ${end}` }, explain);
}

interface Check {
  add(chunk: Uint8Array): void;
  isValid(): boolean;
  what: string;
}

function checked(source: Readable, { add, isValid, what }: Check, explain: (error: Error) => Error = (error) => error): Readable {
  const out = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      add(chunk);
      done(null, chunk);
    },
    flush(done) {
      done(isValid() ? null : incomplete(what));
    },
  });
  finished(source, { writable: false }, (error) => {
    if (error) out.destroy(explain(error));
  });
  out.once('close', () => source.destroy());
  return source.pipe(out);
}
