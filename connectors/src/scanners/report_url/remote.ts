import { randomUUID } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ReportError, type ReportInput } from '@rrs/scan-reports';
import { ConnectorError, type Http } from '../../core/contract.ts';
import { type RemoteFile, versionOf } from './files.ts';

/** A report is read several times: what fits in here is fetched once. */
const REMEMBERED_BYTES = 8 * 2 ** 20;
const LARGEST_BYTES = 2 ** 30;
const LARGEST_EXPANDED_BYTES = 16 * 2 ** 30;
/** In a row, without a single byte more. */
const ATTEMPTS = 4;

export interface Source {
  http: Http;
  file: RemoteFile;
}

interface RemoteReport extends ReportInput {
  /** Changes whenever the content may have. */
  version(): Promise<string>;
  close(): Promise<void>;
}

export function remoteReport(source: Source): RemoteReport {
  const state: Seen = { version: source.file.version, isFetched: false };
  const kept: Uint8Array[] = [];
  let keptBytes = 0;
  let isWhole = false;
  /** What follows after the part that is kept; the first reader who gets there takes it. */
  let rest: AsyncGenerator<Uint8Array> | null = uncompressed(bytesOf(source, state));

  const keepMore = async (): Promise<boolean> => {
    if (isWhole || rest === null || keptBytes >= REMEMBERED_BYTES) return false;
    const next = await rest.next();
    isWhole = next.done === true;
    if (next.done) return false;
    kept.push(next.value);
    keptBytes += next.value.length;
    return true;
  };

  return {
    filename: source.file.name.split('/').at(-1) || null,
    async *open() {
      for (let n = 0; n < kept.length || (await keepMore()); n++) yield kept[n] as Uint8Array;
      if (isWhole) return;
      const following = rest ?? without(keptBytes, uncompressed(bytesOf(source, state)));
      rest = null;
      yield* following;
    },
    async version() {
      if (kept.length === 0) await keepMore();
      // Without any sign of it, nobody can tell whether it is still the same.
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

/** Parts of two versions are no report: what is fetched in several goes must be seen to be one. */
function assertSame({ name }: RemoteFile, seen: Seen, mark: string | undefined, broken: ConnectorError | null): void {
  const version = mark === undefined ? null : versionOf(mark);
  if (seen.isFetched && version === null) {
    const advice = `The server gives ${name} neither an ETag nor a Last-Modified, so it cannot be fetched in several goes.`;
    throw broken ? new ConnectorError(broken.kind, `${broken.message} ${advice}`) : new ConnectorError('configuration', advice);
  }
  if (version !== null && version !== (seen.version ?? version))
    throw new ConnectorError('incomplete', `${name} was replaced while it was read. The next run reads the new one.`);
  seen.version ??= version;
  seen.isFetched = true;
}

/** The file as it is stored. A connection that breaks off, or an answer that is too short, is gone on with where it ended. */
async function* bytesOf({ http, file }: Source, seen: Seen): AsyncGenerator<Uint8Array> {
  let at = 0;
  let isEncoded = false;
  let broken: ConnectorError | null = null;
  for (let attempt = 1; ; attempt++) {
    const from = at;
    const range: Record<string, string> = from > 0 && !isEncoded ? { range: `bytes=${from}-` } : {};
    const answer = await http.stream({ path: file.path, headers: { accept: '*/*', 'accept-encoding': 'identity', ...range } });
    isEncoded = answer.headers['content-encoding'] !== undefined;
    assertSame(file, seen, answer.headers.etag ?? (file.version === null ? answer.headers['last-modified'] : undefined), broken);
    broken = null;
    try {
      for await (const chunk of answer.status === 206 ? answer.body : without(from, answer.body)) {
        at += chunk.length;
        if (at > LARGEST_BYTES) throw new ConnectorError('incomplete', `${file.name} has more than ${LARGEST_BYTES} bytes, the most that is read. Split it.`);
        yield chunk;
      }
    } catch (error) {
      if (!(error instanceof ConnectorError) || error.kind !== 'unavailable') throw error;
      broken = error;
    }
    const isShort = broken === null && file.size !== null && !isEncoded && at !== file.size;
    if (broken === null && !isShort) return;
    if (at > from) attempt = 0;
    else if (attempt >= ATTEMPTS) throw broken ?? new ConnectorError('invalid_answer', `${file.name} has ${file.size} bytes, but ${at} came, several times.`);
    await http.pause(attempt);
  }
}

async function* without(skipped: number, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let left = skipped;
  for await (const chunk of chunks) {
    if (left < chunk.length) yield left === 0 ? chunk : chunk.subarray(left);
    left = Math.max(0, left - chunk.length);
  }
}

async function* uncompressed(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* expanded(chunks);
  } finally {
    // Who stops before the second piece would leave it open.
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
  // What goes wrong arrives where it is read.
  pipeline(Readable.from(all()), gunzip, () => {});
  let size = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > LARGEST_EXPANDED_BYTES) throw new ReportError(`The compressed file grows beyond ${LARGEST_EXPANDED_BYTES} bytes.`);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))
      throw new ReportError('The compressed file is damaged or ends too early.', { cause: error });
    throw error;
  }
}
