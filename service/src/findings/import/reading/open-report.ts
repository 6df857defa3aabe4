import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ReportError, type ReportFormat, type ReportInput, recognise } from '@rrs/scan-reports';
import type { BlobStore } from '../../../blobs/blobs.ts';
import { errorCodeOf } from '../../../shared/errors.ts';
import { timelessDigest } from './timeless-digest.ts';

/** Limits the damage of a decompression bomb. */
const MAX_EXPANDED_BYTES = 16 * 1024 ** 3;

/** The stored file, in the process that can open it. */
export interface FileHost {
  /** Opens the file at its beginning and returns a number for `next` and `close`. */
  open(): Promise<number>;
  /** The next bytes. Null at the end of the file. */
  next(reader: number): Promise<Uint8Array | null>;
  close(reader: number): Promise<void>;
}

export interface StoredReport extends ReportInput {
  /** How many bytes of the stored file the latest reader has read. */
  bytesRead(): number;
  /** SHA-256 of the file without the times in it. Null until it was read to its end, and if it has no times. */
  timelessDigest(): Buffer | null;
}

/** The stored file of an import, uncompressed. */
export function openReport(filename: string | null, host: FileHost): StoredReport {
  let bytesRead = 0;
  let timeless: Buffer | null | undefined;
  async function* stored(): AsyncGenerator<Uint8Array> {
    bytesRead = 0;
    const reader = await host.open();
    // The next bytes are on their way while these are read. If they cannot be read, that is noticed when it is their turn.
    const ahead = (): Promise<Uint8Array | null> => {
      const bytes = host.next(reader);
      bytes.catch(() => {});
      return bytes;
    };
    let next = ahead();
    try {
      for (let chunk = await next; chunk !== null; chunk = await next) {
        next = ahead();
        bytesRead += chunk.length;
        yield chunk;
      }
    } finally {
      await next.catch(() => {});
      await host.close(reader);
    }
  }
  return {
    filename,
    bytesRead: () => bytesRead,
    timelessDigest: () => timeless ?? null,
    async *open() {
      const digest = timeless === undefined ? timelessDigest() : null;
      const chunks = stored();
      try {
        for await (const chunk of uncompressed(chunks)) {
          digest?.update(chunk);
          yield chunk;
        }
        if (digest) timeless = digest.digest();
      } finally {
        await chunks.return(undefined);
      }
    },
  };
}

/** Reads the stored file of an import for `openReport`. */
export function storedFile(blobs: BlobStore, sha256: string): FileHost & { closeAll(): void } {
  const streams = new Map<number, { stream: Readable; chunks: AsyncIterator<Uint8Array> }>();
  let opened = 0;
  const close = (reader: number): void => {
    streams.get(reader)?.stream.destroy();
    streams.delete(reader);
  };
  return {
    async open() {
      const stream = await blobs.get(sha256);
      if (!stream) throw new ReportError('The stored report file is missing.');
      streams.set(++opened, { stream, chunks: stream[Symbol.asyncIterator]() });
      return opened;
    },
    async next(reader) {
      const open = streams.get(reader);
      // Null would say that the file ends here.
      if (!open) throw new Error('The report file was closed before it was read to its end.');
      const next = await open.chunks.next();
      return next.done ? null : next.value;
    },
    close: async (reader) => close(reader),
    closeAll: () => [...streams.keys()].forEach(close),
  };
}

/** Expands a file if it is compressed. */
export async function* uncompressed(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = content[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done) return;
  async function* all(): AsyncGenerator<Uint8Array> {
    yield first.value as Uint8Array;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  }
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) {
    yield* all();
    return;
  }
  let expanded = 0;
  const gunzip = createGunzip();
  // Errors are thrown where the stream is read.
  pipeline(Readable.from(all()), gunzip, () => {});
  try {
    for await (const chunk of gunzip as AsyncIterable<Uint8Array>) {
      expanded += chunk.length;
      if (expanded > MAX_EXPANDED_BYTES) throw new ReportError(`The compressed file expands to more than ${MAX_EXPANDED_BYTES} bytes.`);
      yield chunk;
    }
  } catch (error) {
    if (errorCodeOf(error)?.startsWith('Z_')) throw new ReportError('The compressed file is damaged or incomplete.', { cause: error });
    throw error;
  }
}

export async function chooseFormat(known: readonly ReportFormat[], given: string | null, input: ReportInput): Promise<ReportFormat> {
  const named = known.find(({ id }) => id === given);
  if (named) return named;
  const { format, looksLike, couldBe } = await recognise(known, input);
  if (format) return format;
  if (couldBe.length > 0)
    throw new ReportError(
      `The format is ambiguous: the file is ${looksLike}, which several formats use when nothing was found. Set \`format\` to one of: ${couldBe.join(', ')}. A file name with the name of the tool also helps, such as ${couldBe[0]}.json.`,
    );
  throw new ReportError(
    `The file is not a report in a known format. It looks like ${looksLike}. Set \`format\` if it is one of: ${known.map(({ id }) => id).join(', ')}. GET /api/v1/import-formats describes them.`,
  );
}
