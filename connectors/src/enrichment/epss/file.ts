import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Rejection } from '@rrs/scan-reports';
import { date, num, obj } from '@rrs/scan-reports/read.ts';
import { ConnectorError } from '../../core/connector-error.ts';
import type { Http, Json, Knowledge, KnowledgeBatch, KnowledgeResult } from '../../core/contract.ts';
import { readRecords } from '../../core/knowledge.ts';
import { isWebPage, webPageError } from '../../core/responses.ts';
import { scoreOf } from './score.ts';

const COLUMNS = 'cve,epss,percentile';
const HEAD_LINES = 2;
const ATTEMPTS = 5;
const MAX_LINE = 1_000;
/** Twenty times the current size of the compressed file. */
const MAX_BYTES = 64 * 2 ** 20;
const SLICE_BYTES = 64 * 2 ** 10;
/** Twenty times the current size of the file. */
const MAX_CHARACTERS = 256 * 2 ** 20;
/** A file with fewer rows than this share of the last file is incomplete. */
const MIN_SHARE_OF_LAST = 0.9;

interface Release {
  model: string;
  /** When the scores were computed. */
  at: Date;
}

interface ScoreFile extends KnowledgeBatch {
  release: Release;
  rows: number;
}

/** A file, identified by the time of its scores, and its number of rows. */
interface Position {
  at: Date | null;
  rows: number;
}

export async function checkFile(http: Http, url: string): Promise<void> {
  await read(await download(http, url), { rows: 1 });
}

/** Downloads the whole file before anything is written, so that a slow database cannot break the download. Then all scores form one batch. */
export async function* scoresByFile(
  { http, checkpoint, cursor }: { http: Http; checkpoint: Json; cursor: Json },
  url: string,
): AsyncGenerator<KnowledgeBatch, KnowledgeResult> {
  const { release, rows, ...batch } = await readWithRetries(http, url);
  const at = release.at.toISOString();
  const day = at.slice(0, 10);
  const last = positionOf(cursor);
  const isFile = (position: Position): boolean => position.at?.getTime() === release.at.getTime();
  if (last.at && release.at < last.at)
    throw new ConnectorError(
      'incomplete',
      `The EPSS file is from ${day}, which is older than the file from ${last.at.toISOString().slice(0, 10)} of the previous run.`,
    );
  if (rows < MIN_SHARE_OF_LAST * last.rows)
    throw new ConnectorError('incomplete', `The EPSS file has ${rows} scores. In the previous run it had ${last.rows}.`);
  if (!isFile(last) && !isFile(positionOf(checkpoint))) yield batch;
  return { cursor: { at, rows: isFile(last) ? last.rows : rows, model: release.model }, asOf: day };
}

async function readWithRetries(http: Http, url: string): Promise<ScoreFile> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read(await download(http, url));
    } catch (error) {
      const isTemporary = error instanceof ConnectorError && (error.kind === 'unavailable' || error.kind === 'invalid_answer');
      if (!isTemporary || attempt === ATTEMPTS) throw error;
    }
    await http.pause(attempt);
  }
}

async function download(http: Http, url: string): Promise<Buffer> {
  const { body } = await http.stream({ path: url, headers: { accept: 'text/csv, application/gzip, */*' } });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BYTES) throw unreadable('exceeds the size limit');
  }
  const bytes = Buffer.concat(chunks);
  if (isWebPage(bytes.subarray(0, 100).toString())) throw webPageError(new URL(url).pathname);
  return bytes;
}

/** Reads at most this many rows. */
async function read(file: Buffer, limit = { rows: Number.POSITIVE_INFINITY }): Promise<ScoreFile> {
  const items: Knowledge[] = [];
  const rejected: Rejection[] = [];
  const head: string[] = [];
  let release: Release | null = null;
  let rows = 0;
  for await (const lines of linesOf(file)) {
    if (!release) head.push(...lines.splice(0, HEAD_LINES - head.length));
    if (!release && head.length === HEAD_LINES) release = releaseOf(head);
    if (!release) continue;
    const day = release.at.toISOString().slice(0, 10);
    const found = readRecords(
      lines,
      (index) => `line ${HEAD_LINES + rows + index + 1}`,
      (row) => scoreOf(cellsOf(row), day),
    );
    for (const item of found.items) items.push(item);
    rejected.push(...found.rejected);
    rows += lines.length;
    if (rows >= limit.rows) break;
  }
  if (!release) throw unreadable(`does not start with the model line and the header ${COLUMNS}`);
  if (rows === 0) throw unreadable('contains no scores');
  return { release, rows, items, rejected, checkpoint: { at: release.at.toISOString(), rows } };
}

function positionOf(json: Json): Position {
  const { at, rows } = obj(json);
  return { at: date(at), rows: num(rows) ?? 0 };
}

function cellsOf(row: string): { cve: unknown; epss: unknown; percentile: unknown } {
  const [cve, epss, percentile] = row.split(',');
  return { cve, epss, percentile };
}

function releaseOf([first = '', columns]: readonly string[]): Release {
  const model = /^#.*model_version:([^,\s]+)/.exec(first)?.[1];
  const at = date(/^#.*score_date:([^,\s]+)/.exec(first)?.[1]);
  if (!model || !at || columns !== COLUMNS) throw unreadable(`does not start with the model line and the header ${COLUMNS}`);
  return { model, at };
}

/** Complete lines that are not empty. Some servers send the gzip file, others let the HTTP client decompress it. */
async function* linesOf(file: Buffer): AsyncGenerator<string[]> {
  const isGzip = file[0] === 0x1f && file[1] === 0x8b;
  const decoder = new TextDecoder();
  let rest = '';
  let characters = 0;
  for await (const chunk of isGzip ? gunzipped(file) : Readable.from(slices(file))) {
    const text = decoder.decode(chunk, { stream: true });
    characters += text.length;
    const lines = (rest + text).split('\n').map((line) => line.trimEnd());
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE || characters > MAX_CHARACTERS) throw unreadable('exceeds the size limit');
    yield lines.filter((line) => line !== '');
  }
  // gzip has a checksum. In plain text, only the line break at the end shows that the file is complete.
  if (rest !== '' && !isGzip) throw unreadable('ends in the middle of a line');
  if (rest !== '') yield [rest];
}

/** A few thousand lines at a time, so that reading them does not block the process. */
function* slices(file: Buffer): Generator<Buffer> {
  for (let at = 0; at < file.length; at += SLICE_BYTES) yield file.subarray(at, at + SLICE_BYTES);
}

async function* gunzipped(file: Buffer): AsyncGenerator<Uint8Array> {
  try {
    yield* pipeline(Readable.from(slices(file)), createGunzip(), () => {});
  } catch (error) {
    const isGzipError = error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
    throw isGzipError ? unreadable('is not a complete gzip file') : error;
  }
}

function unreadable(what: string): ConnectorError {
  return new ConnectorError('invalid_answer', `The EPSS file ${what}.`);
}
