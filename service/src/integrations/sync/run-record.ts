import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { FindingBatch, RequestRecord } from '@rrs/connectors';
import type { Asset, Observation, Rejection, ReportFormat, ReportItem } from '@rrs/scan-reports';
import type { TenantTx } from '../../db/database.ts';

/** What a run saw, as lines of JSON: requests with the hashes of their answers, what was covered, what was observed. It is imported like a report, and kept like one. */
type Line = { request: RequestRecord } | { covers: Asset } | { partly: Asset } | { observation: Observation } | { rejection: Rejection };

const compress = promisify(gzip);
const expand = promisify(gunzip);

export function linesOf({ items, covers = [], partiallyCovers = [] }: Omit<FindingBatch, 'checkpoint'>, requests: readonly RequestRecord[]): string {
  const looked: Line[] = [...covers.map((asset) => ({ covers: asset })), ...partiallyCovers.map((asset) => ({ partly: asset }))];
  const lines: Line[] = [...requests.map((request) => ({ request })), ...looked, ...items];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** Of what was observed alone: the same page again has the same one. */
export function digestOf({ items }: Pick<FindingBatch, 'items'>): string {
  const said = items.map((item) => ('observation' in item ? { ...item.observation, place: '' } : { ...item.rejection, place: '' }));
  return createHash('sha256').update(JSON.stringify(said)).digest('base64url');
}

export async function keepBatch(tx: TenantTx, run: { orgId: string; runId: string; n: number }, text: string): Promise<void> {
  await tx
    .insertInto('sync_run_batches')
    .values({ org_id: run.orgId, run_id: run.runId, n: run.n, content: await compress(text) })
    .execute();
}

/** All batches after each other, one in memory at a time. */
export async function* keptLines(read: (after: number) => Promise<{ n: number; content: Buffer } | undefined>): AsyncGenerator<Uint8Array> {
  for (let batch = await read(-1); batch; batch = await read(batch.n)) yield await expand(batch.content);
}

export async function* linesIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield lineOf(line);
  }
  if (rest !== '') yield lineOf(rest);
}

/** Without a reviver, which would be asked about every field of every line. */
function lineOf(text: string): Line {
  const line = JSON.parse(text) as Line;
  if (!('observation' in line)) return line;
  const { first_seen, last_seen } = line.observation as { [Field in keyof Observation]: unknown };
  return { observation: { ...line.observation, first_seen: timeOf(first_seen), last_seen: timeOf(last_seen) } };
}

function timeOf(value: unknown): Date | null {
  return typeof value === 'string' ? new Date(value) : null;
}

export const RECORDED = 'sync_run';

/** The record read as a report, by the engine that imports files. */
export const recordedRun: ReportFormat = {
  id: RECORDED,
  name: 'Run of a connection',
  description: 'What a run of a connection recorded',
  documentation: '',
  expects: 'lines of JSON that a run recorded',
  assetType: 'other',
  detect: () => false,
  async *read(input): AsyncGenerator<ReportItem> {
    for await (const line of linesIn(input.open())) if ('observation' in line || 'rejection' in line) yield line;
  },
};
