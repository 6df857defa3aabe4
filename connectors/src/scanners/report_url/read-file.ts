import { type Asset, detectFormat, formats, headOf, ReportError, type ReportFormat, type ReportInput, type ReportItem } from '@rrs/scan-reports';
import { obj } from '@rrs/scan-reports/read.ts';
import { ConnectorError, type FindingBatch, type Json } from '../../core/contract.ts';
import type { RemoteFile } from './files.ts';
import { remoteReport, type Source } from './remote.ts';

const MOST_AT_ONCE = 1_000;

/** How far a run has come. */
interface Progress {
  file: string;
  version: string;
  /** Of this file. */
  items: number;
  isDone: boolean;
  /** A report said of itself that it is not all, or not whose. */
  hasDoubts: boolean;
}

export function progressOf(checkpoint: Json): Progress {
  const { file, version, items, isDone, hasDoubts } = obj(checkpoint);
  return { file: String(file ?? ''), version: String(version ?? ''), items: Number(items ?? 0), isDone: isDone === true, hasDoubts: hasDoubts === true };
}

interface Wanted {
  format?: string;
  /** What a report is about that does not say so. */
  asset?: string;
}

/** What was read before is passed over, if the file is still the same. */
export async function* readFile(source: Source, wanted: Wanted, before: Progress): AsyncGenerator<FindingBatch, Progress> {
  const { file } = source;
  const report = remoteReport(source);
  try {
    const version = await report.version();
    const format = await formatOf(report, file, wanted.format);
    const about = (await blaming(file, async () => format.about?.(report))) ?? null;
    const asset: Asset | null = wanted.asset === undefined ? null : { type: format.assetType, name: wanted.asset };
    const known = before.file === file.name && before.version === version ? before.items : 0;
    const isDoubtful = about !== null && (!about.finished || about.tools?.length === 0 || about.unread.length > 0);
    const at: Progress = { file: file.name, version, items: 0, isDone: false, hasDoubts: before.hasDoubts || isDoubtful };
    let batch: ReportItem[] = [];
    for await (const item of blamingAll(file, format.read(report))) {
      if (++at.items <= known) continue;
      batch.push(placed(item, file, asset));
      if (batch.length < MOST_AT_ONCE) continue;
      yield { items: batch, checkpoint: { ...at } };
      batch = [];
    }
    at.isDone = true;
    yield { items: batch, ...(asset ? { covers: [asset] } : {}), checkpoint: { ...at } };
    return at;
  } finally {
    await report.close();
  }
}

export async function formatOf(report: ReportInput, file: RemoteFile, named: string | undefined): Promise<ReportFormat> {
  const found = formats.find(({ id }) => id === named) ?? detectFormat(formats, await blaming(file, () => headOf(report)));
  if (found) return found;
  throw new ConnectorError('invalid_answer', `${file.name} is no report of a known format. Name its format, or leave the file out by prefix and suffix.`);
}

function placed(item: ReportItem, { name }: RemoteFile, fallback: Asset | null): ReportItem {
  if ('rejection' in item) return { rejection: { ...item.rejection, place: `${name} ${item.rejection.place}` } };
  const place = `${name} ${item.observation.place}`;
  const asset = item.observation.asset ?? fallback;
  if (asset) return { observation: { ...item.observation, place, asset } };
  return { rejection: { place, reason: 'the report does not say what it is about: name the asset in the configuration of the connection' } };
}

async function blaming<T>(file: RemoteFile, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw blame(file, error);
  }
}

async function* blamingAll<T>(file: RemoteFile, items: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    throw blame(file, error);
  }
}

function blame({ name }: RemoteFile, error: unknown): unknown {
  return error instanceof ReportError ? new ConnectorError('invalid_answer', `${name}: ${error.message}`, { cause: error }) : error;
}
