import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { finished, Readable, Transform } from 'node:stream';
import { AppError, errorCodeOf } from '../shared/errors.ts';
import { type BlobContent, type BlobRef, type ByteRange, incomplete, type PutOptions, tooLarge } from './blobs.ts';

const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EROFS']);

/** Writes the content into an empty file and names it on the way. Each chunk is on file before the next is asked for, so a source may reuse its buffer. */
export async function spool(content: BlobContent, file: FileHandle, { maxBytes = Number.POSITIVE_INFINITY, onNamed }: PutOptions = {}): Promise<BlobRef> {
  const hash = createHash('sha256');
  let size = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    const source: AsyncIterable<unknown> = content instanceof Readable ? content.iterator({ destroyOnReturn: false }) : content;
    for await (const chunk of source) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError('The content of a blob is bytes.');
      size += chunk.byteLength;
      if (size > maxBytes) throw tooLarge(maxBytes);
      hash.update(chunk);
      yield chunk;
    }
  }
  try {
    await file.writeFile(counted());
  } catch (error) {
    if (!NO_ROOM.has(errorCodeOf(error) ?? '')) throw error;
    throw new AppError('unavailable', 'There is no room to store the content at the moment. Try again later.', { cause: error });
  }
  const ref = { sha256: hash.digest('hex'), size };
  await onNamed?.(ref);
  return ref;
}

/** Passes the bytes on and ends with an error unless they were the bytes of that name. */
export function verified(source: Readable, sha256: string, explain?: (error: Error) => Error): Readable {
  const hash = createHash('sha256');
  return checked(source, { see: (chunk) => void hash.update(chunk), holds: () => hash.digest('hex') === sha256, what: sha256 }, explain);
}

/** Passes the bytes on and ends with an error unless they were as many as the range has. */
export function counted(source: Readable, { start, end }: ByteRange, explain?: (error: Error) => Error): Readable {
  let seen = 0;
  const see = (chunk: Uint8Array): void => {
    seen += chunk.byteLength;
  };
  return checked(source, { see, holds: () => seen === end - start + 1, what: `between ${start} and ${end}` }, explain);
}

interface Check {
  see(chunk: Uint8Array): void;
  holds(): boolean;
  what: string;
}

function checked(source: Readable, { see, holds, what }: Check, explain: (error: Error) => Error = (error) => error): Readable {
  const out = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      see(chunk);
      done(null, chunk);
    },
    flush(done) {
      done(holds() ? null : incomplete(what));
    },
  });
  finished(source, { writable: false }, (error) => {
    if (error) out.destroy(explain(error));
  });
  out.once('close', () => source.destroy());
  return source.pipe(out);
}
