import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { date, num, obj } from '@rrs/scan-reports/read.ts';
import { ConnectorError, type Http, type Json, type KnowledgeBatch, type KnowledgeResult } from '../../core/contract.ts';
import { readRecords } from '../../core/knowledge.ts';
import { scoreOf } from './score.ts';

const COLUMNS = 'cve,epss,percentile';
const HEAD_LINES = 2;
const PORTION_ROWS = 2_000;
const ATTEMPTS = 5;
const LONGEST_LINE = 1_000;
/** Twenty times what the file is now. */
const MOST_CHARACTERS = 256 * 2 ** 20;
/** Fewer rows than this share of the last file's mean that something is missing. */
const SHARE_OF_LAST = 0.9;

interface Release {
  model: string;
  /** When the scores were made. */
  at: Date;
}

interface Portion {
  release: Release;
  rows: string[];
  /** Rows of the file up to the end of this portion. */
  end: number;
}

/** A file by the moment of its scores, and how many of its rows. */
interface Position {
  at: Date | null;
  rows: number;
}

export async function checkFile(http: Http, url: string): Promise<void> {
  for await (const _ of portionsOf(await open(http, url))) return;
}

/** Asks again when the file breaks off, and goes on behind the last batch unless there is a new file by then. */
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
      const isPassing = error instanceof ConnectorError && (error.kind === 'unavailable' || error.kind === 'invalid_answer');
      if (!isPassing || attempt === ATTEMPTS) throw error;
    }
    await http.pause(attempt);
  }
}

async function* scoresIn(body: AsyncIterable<Uint8Array>, reached: Position, last: Position): AsyncGenerator<KnowledgeBatch, KnowledgeResult> {
  let file: Portion | null = null;
  for await (file of portionsOf(body)) {
    const { release, rows, end } = file;
    const at = release.at.toISOString();
    const day = at.slice(0, 10);
    if (last.at && release.at < last.at)
      throw new ConnectorError('incomplete', `The EPSS file is of ${day}, older than the one of ${last.at.toISOString().slice(0, 10)} that was read before.`);
    if (release.at.getTime() === last.at?.getTime()) return { cursor: { at, rows: last.rows, model: release.model }, asOf: day };
    if (release.at.getTime() !== reached.at?.getTime()) Object.assign(reached, { at: release.at, rows: 0 });
    if (end <= reached.rows) continue;
    const place = (index: number): string => `line ${end - rows.length + HEAD_LINES + index + 1}`;
    yield { ...readRecords(rows, place, (row) => scoreOf(cellsOf(row), day)), checkpoint: { at, rows: end } };
    reached.rows = end;
  }
  if (!file) throw unreadable('has no scores');
  const { release, end } = file;
  if (end < SHARE_OF_LAST * last.rows) throw new ConnectorError('incomplete', `The EPSS file has ${end} scores; the one before had ${last.rows}.`);
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

async function* portionsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Portion> {
  const lines: string[] = [];
  let release: Release | null = null;
  let end = 0;
  const portion = (release: Release, rows: string[]): Portion => {
    end += rows.length;
    return { release, rows, end };
  };
  for await (const more of linesOf(body)) {
    lines.push(...more);
    if (!release && lines.length >= HEAD_LINES) release = releaseOf(lines.splice(0, HEAD_LINES));
    while (release && lines.length >= PORTION_ROWS) yield portion(release, lines.splice(0, PORTION_ROWS));
  }
  if (!release) throw unreadable(`does not begin with the line of its model and ${COLUMNS}`);
  if (lines.length > 0) yield portion(release, lines);
}

function releaseOf([first = '', columns]: readonly string[]): Release {
  const model = /^#.*model_version:([^,\s]+)/.exec(first)?.[1];
  const at = date(/^#.*score_date:([^,\s]+)/.exec(first)?.[1]);
  if (!model || !at || columns !== COLUMNS) throw unreadable(`does not begin with the line of its model and ${COLUMNS}`);
  return { model, at };
}

/** Whole lines that are not empty. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const { isGzip, content } = await unpacked(body);
  const decoder = new TextDecoder();
  let rest = '';
  let characters = 0;
  for await (const chunk of content) {
    const text = decoder.decode(chunk, { stream: true });
    characters += text.length;
    const lines = (rest + text).split('\n').map((line) => line.trimEnd());
    rest = lines.pop() ?? '';
    if (rest.length > LONGEST_LINE || characters > MOST_CHARACTERS) throw unreadable('is longer than such a file can be');
    yield lines.filter((line) => line !== '');
  }
  // gzip has a checksum; of plain text only the end of the last line says that nothing is missing.
  if (rest !== '' && !isGzip) throw unreadable('ends in the middle of a line');
  if (rest !== '') yield [rest];
}

/** Some servers send the file as it is, others have it unpacked by the client. */
async function unpacked(body: AsyncIterable<Uint8Array>): Promise<{ isGzip: boolean; content: AsyncIterable<Uint8Array> }> {
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
    const isOfGzip = error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
    throw isOfGzip ? unreadable('is no complete gzip file') : error;
  }
}

function unreadable(what: string): ConnectorError {
  return new ConnectorError('invalid_answer', `The EPSS file ${what}.`);
}
