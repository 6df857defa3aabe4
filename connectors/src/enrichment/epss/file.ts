import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { date, num, obj } from '@rrs/scan-reports/read.ts';
import { ConnectorError, type Http, type Json, type KnowledgeBatch, type KnowledgeResult } from '../../core/contract.ts';
import { readRecords } from '../../core/knowledge.ts';
import { scoreOf } from './score.ts';

const COLUMNS = 'cve,epss,percentile';
const HEAD_LINES = 2;
const BATCH_ROWS = 2_000;
const ATTEMPTS = 5;
const MAX_LINE = 1_000;
/** Twenty times the current size of the file. */
const MAX_CHARACTERS = 256 * 2 ** 20;
/** A file with fewer rows than this share of the last file is incomplete. */
const MIN_SHARE_OF_LAST = 0.9;

interface Release {
  model: string;
  /** When the scores were computed. */
  at: Date;
}

interface Batch {
  release: Release;
  rows: string[];
  /** The number of rows up to the end of this batch. */
  end: number;
}

/** A file, identified by the time of its scores, and the number of rows read. */
interface Position {
  at: Date | null;
  rows: number;
}

export async function checkFile(http: Http, url: string): Promise<void> {
  for await (const _ of batchesOf(await open(http, url))) return;
}

/** Retries an interrupted download and resumes after the last batch, unless there is a new file by then. */
export async function* scoresByFile(
  { http, checkpoint, cursor }: { http: Http; checkpoint: Json; cursor: Json },
  url: string,
): AsyncGenerator<KnowledgeBatch, KnowledgeResult> {
  const reached = positionOf(checkpoint);
  for (let attempt = 1; ; attempt++) {
    const body = await open(http, url);
    try {
      return yield* scoresIn(body, reached, positionOf(cursor));
    } catch (error) {
      const isTemporary = error instanceof ConnectorError && (error.kind === 'unavailable' || error.kind === 'invalid_answer');
      if (!isTemporary || attempt === ATTEMPTS) throw error;
    }
    await http.pause(attempt);
  }
}

async function* scoresIn(body: AsyncIterable<Uint8Array>, reached: Position, last: Position): AsyncGenerator<KnowledgeBatch, KnowledgeResult> {
  let file: Batch | null = null;
  for await (file of batchesOf(body)) {
    const { release, rows, end } = file;
    const at = release.at.toISOString();
    const day = at.slice(0, 10);
    if (last.at && release.at < last.at)
      throw new ConnectorError(
        'incomplete',
        `The EPSS file is from ${day}, which is older than the file from ${last.at.toISOString().slice(0, 10)} of the previous run.`,
      );
    if (release.at.getTime() === last.at?.getTime()) return { cursor: { at, rows: last.rows, model: release.model }, asOf: day };
    if (release.at.getTime() !== reached.at?.getTime()) Object.assign(reached, { at: release.at, rows: 0 });
    if (end <= reached.rows) continue;
    const place = (index: number): string => `line ${end - rows.length + HEAD_LINES + index + 1}`;
    yield { ...readRecords(rows, place, (row) => scoreOf(cellsOf(row), day)), checkpoint: { at, rows: end } };
    reached.rows = end;
  }
  if (!file) throw unreadable('contains no scores');
  const { release, end } = file;
  if (end < MIN_SHARE_OF_LAST * last.rows) throw new ConnectorError('incomplete', `The EPSS file has ${end} scores. In the previous run it had ${last.rows}.`);
  return { cursor: { at: release.at.toISOString(), rows: end, model: release.model }, asOf: release.at.toISOString().slice(0, 10) };
}

function positionOf(json: Json): Position {
  const { at, rows } = obj(json);
  return { at: date(at), rows: num(rows) ?? 0 };
}

function cellsOf(row: string): { cve: unknown; epss: unknown; percentile: unknown } {
  const [cve, epss, percentile] = row.split(',');
  return { cve, epss, percentile };
}

async function open(http: Http, url: string): Promise<AsyncIterable<Uint8Array>> {
  return (await http.stream({ path: url, headers: { accept: 'text/csv, application/gzip, */*' } })).body;
}

async function* batchesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Batch> {
  const lines: string[] = [];
  let release: Release | null = null;
  let end = 0;
  const portion = (release: Release, rows: string[]): Batch => {
    end += rows.length;
    return { release, rows, end };
  };
  for await (const more of linesOf(body)) {
    lines.push(...more);
    if (!release && lines.length >= HEAD_LINES) release = releaseOf(lines.splice(0, HEAD_LINES));
    while (release && lines.length >= BATCH_ROWS) yield portion(release, lines.splice(0, BATCH_ROWS));
  }
  if (!release) throw unreadable(`does not start with the model line and the header ${COLUMNS}`);
  if (lines.length > 0) yield portion(release, lines);
}

function releaseOf([first = '', columns]: readonly string[]): Release {
  const model = /^#.*model_version:([^,\s]+)/.exec(first)?.[1];
  const at = date(/^#.*score_date:([^,\s]+)/.exec(first)?.[1]);
  if (!model || !at || columns !== COLUMNS) throw unreadable(`does not start with the model line and the header ${COLUMNS}`);
  return { model, at };
}

/** Complete lines that are not empty. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const { isGzip, content } = await decompressed(body);
  const decoder = new TextDecoder();
  let rest = '';
  let characters = 0;
  for await (const chunk of content) {
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

/** Some servers send the gzip file, others let the HTTP client decompress it. */
async function decompressed(body: AsyncIterable<Uint8Array>): Promise<{ isGzip: boolean; content: AsyncIterable<Uint8Array> }> {
  const chunks = body[Symbol.asyncIterator]();
  const first = await chunks.next();
  const start = first.done ? new Uint8Array() : first.value;
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      yield start;
      for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
    } finally {
      await chunks.return?.();
    }
  }
  const isGzip = start[0] === 0x1f && start[1] === 0x8b;
  return { isGzip, content: isGzip ? gunzipped(all()) : all() };
}

async function* gunzipped(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* pipeline(Readable.from(bytes), createGunzip(), () => {});
  } catch (error) {
    const isGzipError = error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
    throw isGzipError ? unreadable('is not a complete gzip file') : error;
  }
}

function unreadable(what: string): ConnectorError {
  return new ConnectorError('invalid_answer', `The EPSS file ${what}.`);
}
