import { randomUUID } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ReportError, type ReportInput } from '@rrs/scan-reports';
import { ConnectorError } from '../../core/connector-error.ts';
import type { Http } from '../../core/contract.ts';
import { type RemoteFile, versionOf } from './files.ts';

/** Some formats read a report several times. A report that fits into the buffer is fetched only once. */
const BUFFER_BYTES = 8 * 2 ** 20;
const MAX_BYTES = 2 ** 30;
const MAX_EXPANDED_BYTES = 16 * 2 ** 30;
/** Attempts in a row without any progress. */
const ATTEMPTS = 4;

export interface Source {
  http: Http;
  file: RemoteFile;
}

interface RemoteReport extends ReportInput {
  /** Changes whenever the content may have changed. */
  version(): Promise<string>;
  close(): Promise<void>;
}

export function remoteReport(source: Source): RemoteReport {
  const state: Seen = { version: source.file.version, isFetched: false };
  const buffer: Uint8Array[] = [];
  let bufferedBytes = 0;
  let isComplete = false;
  /** The rest of the file after the buffer. The first reader that gets there consumes it. */
  let rest: AsyncGenerator<Uint8Array> | null = decompressed(bytesOf(source, state));

  const bufferMore = async (): Promise<boolean> => {
    if (isComplete || rest === null || bufferedBytes >= BUFFER_BYTES) return false;
    const next = await rest.next();
    isComplete = next.done === true;
    if (next.done) return false;
    buffer.push(next.value);
    bufferedBytes += next.value.length;
    return true;
  };

  return {
    filename: source.file.name.split('/').at(-1) || null,
    async *open() {
      for (let n = 0; n < buffer.length || (await bufferMore()); n++) yield buffer[n] as Uint8Array;
      if (isComplete) return;
      const following = rest ?? skipBytes(bufferedBytes, decompressed(bytesOf(source, state)));
      rest = null;
      yield* following;
    },
    async version() {
      if (buffer.length === 0) await bufferMore();
      // Without an ETag or Last-Modified, the file counts as changed in the next run.
      state.version ??= randomUUID();
      return state.version;
    },
    async close() {
      await rest?.return(undefined);
    },
  };
}

interface Seen {
  version: string | null;
  isFetched: boolean;
}

/** Parts of two versions do not make a report, so a file that is fetched in parts needs a version. */
function assertSame({ name }: RemoteFile, seen: Seen, validator: string | undefined, broken: ConnectorError | null): void {
  const version = validator === undefined ? null : versionOf(validator);
  if (seen.isFetched && version === null) {
    const advice = `The server sends neither an ETag nor a Last-Modified header for ${name}, so the file cannot be fetched in more than one request.`;
    throw broken ? new ConnectorError(broken.kind, `${broken.message} ${advice}`) : new ConnectorError('configuration', advice);
  }
  if (version !== null && version !== (seen.version ?? version))
    throw new ConnectorError('incomplete', `${name} was replaced while it was read. The next run reads the new version.`);
  seen.version ??= version;
  seen.isFetched = true;
}

/** The bytes of the file as stored. Resumes after a broken connection or a short response. */
async function* bytesOf({ http, file }: Source, seen: Seen): AsyncGenerator<Uint8Array> {
  let at = 0;
  let isEncoded = false;
  let broken: ConnectorError | null = null;
  for (let attempt = 1; ; attempt++) {
    const from = at;
    const range: Record<string, string> = from > 0 && !isEncoded ? { range: `bytes=${from}-` } : {};
    const response = await http.stream({ path: file.path, headers: { accept: '*/*', 'accept-encoding': 'identity', ...range } });
    isEncoded = response.headers['content-encoding'] !== undefined;
    assertSame(file, seen, response.headers.etag ?? (file.version === null ? response.headers['last-modified'] : undefined), broken);
    broken = null;
    try {
      for await (const chunk of response.status === 206 ? response.body : skipBytes(from, response.body)) {
        at += chunk.length;
        if (at > MAX_BYTES) throw new ConnectorError('incomplete', `${file.name} is larger than the limit of ${MAX_BYTES} bytes. Split it.`);
        yield chunk;
      }
    } catch (error) {
      if (!(error instanceof ConnectorError) || error.kind !== 'unavailable') throw error;
      broken = error;
    }
    const isShort = broken === null && file.size !== null && !isEncoded && at !== file.size;
    if (broken === null && !isShort) return;
    if (at > from) attempt = 0;
    else if (attempt >= ATTEMPTS)
      throw broken ?? new ConnectorError('invalid_answer', `${file.name} has ${file.size} bytes, but the server repeatedly sent only ${at}.`);
    await http.pause(attempt);
  }
}

async function* skipBytes(skipped: number, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let left = skipped;
  for await (const chunk of chunks) {
    if (left < chunk.length) yield left === 0 ? chunk : chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
  }
}

async function* decompressed(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* expanded(chunks);
  } finally {
    // A reader that stops after the first chunk would leave the source open.
    await chunks.return(undefined);
  }
}

async function* expanded(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const first = await chunks.next();
  if (first.done) return;
  async function* all(): AsyncGenerator<Uint8Array> {
    yield first.value as Uint8Array;
    yield* chunks;
  }
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) return yield* all();
  const gunzip = createGunzip();
  // Errors are thrown where the stream is read.
  pipeline(Readable.from(all()), gunzip, () => {});
  let size = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > MAX_EXPANDED_BYTES) throw new ReportError(`The decompressed file is larger than ${MAX_EXPANDED_BYTES} bytes.`);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))
      throw new ReportError('The compressed file is damaged or truncated.', { cause: error });
    throw error;
  }
}
