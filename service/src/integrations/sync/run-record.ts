import { createHash } from 'node:crypto';
import type { FindingBatch, RequestRecord, Unread } from '@rrs/connectors';
import type { Asset, Observation, Rejection, ReportEntry, ReportFormat, RunFacts } from '@rrs/scan-reports';
import type { TenantTx } from '../../db/database.ts';

/**
 * The record of a run, as lines of JSON: requests with the hashes of their responses, covered assets, what is known about their scans, observations and rejected records.
 * It is imported and stored like an uploaded report, compressed with gzip.
 */
type Line =
  | { request: RequestRecord }
  | { covers: Asset }
  | { partially_covers: Asset }
  | { unread: Unread }
  | { run: RunFacts }
  | { observation: Observation }
  | { rejection: Rejection };

export function formatLines(
  { items, covers = [], partiallyCovers = [], scans = [], unread = [] }: Omit<FindingBatch, 'checkpoint'>,
  requests: readonly RequestRecord[],
): string {
  const coverage: Line[] = [
    ...covers.map((asset) => ({ covers: asset })),
    ...[...partiallyCovers, ...unread.flatMap(({ asset }) => asset ?? [])].map((asset) => ({ partially_covers: asset })),
    ...unread.map((part) => ({ unread: part })),
    ...scans.map((run) => ({ run })),
  ];
  const lines: Line[] = [...requests.map((request) => ({ request })), ...coverage, ...items];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** Covers only what was observed, so that a repeated page has the same digest. */
export function digestOf({ items }: Pick<FindingBatch, 'items'>): string {
  const content = items.map((item) => ('observation' in item ? { ...item.observation, place: '' } : { ...item.rejection, place: '' }));
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url');
}

export async function storeBatch(tx: TenantTx, run: { orgId: string; runId: string; n: number }, content: Uint8Array): Promise<void> {
  await tx
    .insertInto('sync_run_batches')
    .values({ org_id: run.orgId, run_id: run.runId, n: run.n, content: Buffer.from(content.buffer, content.byteOffset, content.byteLength) })
    .execute();
}

/** Streams all stored batches in order, with one in memory at a time. They stay compressed: gzip files in a row are one gzip file (RFC 1952, 2.2). */
export async function* storedBatches(read: (after: number) => Promise<{ n: number; content: Buffer } | undefined>): AsyncGenerator<Uint8Array> {
  for (let batch = await read(-1); batch; batch = await read(batch.n)) yield batch.content;
}

async function* parseLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  for await (const line of linesOf(chunks)) yield parseLine(line);
}

const COVERAGE = ['{"covers":', '{"partially_covers":', '{"unread":'];

/** What the run covered. Most lines are observations, which are not parsed here. */
export async function* coverageOf(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Extract<Line, { covers: Asset } | { partially_covers: Asset } | { unread: Unread }>> {
  for await (const line of linesOf(chunks)) if (COVERAGE.some((start) => line.startsWith(start))) yield JSON.parse(line);
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

/** Restores dates without a JSON reviver, which would be called for every field of every line. */
function parseLine(text: string): Line {
  const line = JSON.parse(text) as Line;
  if ('run' in line) return { run: withDates(line.run) };
  if (!('observation' in line)) return line;
  const { first_seen, last_seen } = line.observation as { [Field in keyof Observation]: unknown };
  return { observation: { ...line.observation, first_seen: dateOf(first_seen), last_seen: dateOf(last_seen) } };
}

function withDates(run: RunFacts): RunFacts {
  const dates = (['started_at', 'finished_at', 'knowledge_at'] as const).flatMap((name) => (run[name] === undefined ? [] : [[name, new Date(run[name])]]));
  return { ...run, ...Object.fromEntries(dates) };
}

function dateOf(value: unknown): Date | null {
  return typeof value === 'string' ? new Date(value) : null;
}

export const RUN_RECORD_FORMAT = 'sync_run';

/** Lets the import engine read the record of a run like an uploaded report. */
export const runRecordFormat: ReportFormat = {
  id: RUN_RECORD_FORMAT,
  name: 'Run of a connection',
  description: 'The record of a run of a connection',
  documentation: '',
  expects: 'JSON lines recorded by a run',
  assetType: 'other',
  detect: () => false,
  async *read(input): AsyncGenerator<ReportEntry> {
    // Connections ask for all findings, also for those that the vendor was told to ignore.
    yield { run: { looked_for: ['suppressed'] } };
    for await (const line of parseLines(input.open())) if ('observation' in line || 'rejection' in line || 'run' in line) yield line;
  },
};

/** For the child processes that read reports. */
export const formats: readonly ReportFormat[] = [runRecordFormat];
