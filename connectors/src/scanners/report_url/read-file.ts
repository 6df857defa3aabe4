import {
  type Asset,
  detectFormat,
  formats,
  headOf,
  leavesOutSuppressed,
  type ReportEntry,
  ReportError,
  type ReportFormat,
  type ReportInput,
  type ReportItem,
  type RunFacts,
} from '@rrs/scan-reports';
import { obj } from '@rrs/scan-reports/read.ts';
import { ConnectorError } from '../../core/connector-error.ts';
import type { FindingBatch, Json, ScanOfAsset } from '../../core/contract.ts';
import type { RemoteFile } from './files.ts';
import { remoteReport, type Source } from './remote.ts';

const BATCH_SIZE = 1_000;

/** The progress of a run. Part of the checkpoint. */
interface Progress {
  file: string;
  version: string;
  /** Items read from this file. */
  items: number;
  isDone: boolean;
  /** A report is unfinished, names no tool or has unread parts, so the run is not complete. */
  hasDoubts: boolean;
}

export function progressOf(checkpoint: Json): Progress {
  const { file, version, items, isDone, hasDoubts } = obj(checkpoint);
  return { file: String(file ?? ''), version: String(version ?? ''), items: Number(items ?? 0), isDone: isDone === true, hasDoubts: hasDoubts === true };
}

interface ReadOptions {
  format?: string;
  /** The asset of reports that do not name one. */
  asset?: string;
}

/** Skips the items that were read before, if the file has not changed. */
export async function* readFile(source: Source, options: ReadOptions, before: Progress): AsyncGenerator<FindingBatch, Progress> {
  const { file } = source;
  const report = remoteReport(source);
  try {
    const version = await report.version();
    const format = await formatOf(report, file, options.format);
    const about = (await namingFile(file, async () => format.about?.(report))) ?? null;
    const asset: Asset | null = options.asset === undefined ? null : { type: format.assetType, name: options.asset };
    const known = before.file === file.name && before.version === version ? before.items : 0;
    const isDoubtful = about !== null && (!about.finished || about.tools?.length === 0 || about.unread.length > 0);
    const at: Progress = { file: file.name, version, items: 0, isDone: false, hasDoubts: before.hasDoubts || isDoubtful };
    let batch: ReportItem[] = [];
    const facts = collectFacts(asset);
    for await (const item of namingFileAll(file, format.read(report))) {
      facts.add(item);
      if ('run' in item || ++at.items <= known) continue;
      batch.push(withFile(item, file, asset));
      if (batch.length < BATCH_SIZE) continue;
      yield { items: batch, checkpoint: { ...at } };
      batch = [];
    }
    at.isDone = true;
    yield { items: batch, ...(asset ? { covers: [asset] } : {}), scans: facts.scans(), checkpoint: { ...at } };
    return at;
  } finally {
    await report.close();
  }
}

const REMEMBERED = 10_000;

/** Collects what a file states about its run. It holds for the assets of this file, and not for those of others. */
function collectFacts(fallback: Asset | null) {
  let whole: RunFacts = {};
  let hasSuppressed = false;
  const scans = new Map<string, ScanOfAsset>();
  const note = (asset: Asset | null | undefined, facts: RunFacts = {}): void => {
    const key = asset && `${asset.type} ${asset.name}`;
    if (asset && key && (scans.has(key) || scans.size < REMEMBERED)) scans.set(key, { ...scans.get(key), ...facts, asset });
  };
  note(fallback);
  return {
    add(item: ReportEntry): void {
      if ('observation' in item) {
        hasSuppressed ||= item.observation.present && item.observation.suppressed;
        note(item.observation.asset ?? fallback);
      } else if ('run' in item && item.run.asset) note(item.run.asset, item.run);
      else if ('run' in item) whole = { ...whole, ...item.run };
    },
    /** Lists of checks and files belong to one run and are too long to repeat for each asset. */
    scans: (): ScanOfAsset[] => {
      const { checks: _checks, files: _files, ...common } = whole;
      const left_out = leavesOutSuppressed([whole, ...scans.values()], hasSuppressed) ? [...(whole.left_out ?? []), 'suppressed' as const] : whole.left_out;
      return [...scans.values()].map((scan) => ({ ...common, ...(left_out ? { left_out } : {}), ...scan })).filter((scan) => Object.keys(scan).length > 1);
    },
  };
}

export async function formatOf(report: ReportInput, file: RemoteFile, named: string | undefined): Promise<ReportFormat> {
  const found = formats.find(({ id }) => id === named) ?? detectFormat(formats, await namingFile(file, () => headOf(report)));
  if (found) return found;
  throw new ConnectorError('invalid_answer', `${file.name} is not a report in a supported format. Set its format, or exclude the file with prefix and suffix.`);
}

function withFile(item: ReportItem, { name }: RemoteFile, fallback: Asset | null): ReportItem {
  if ('rejection' in item) return { rejection: { ...item.rejection, place: `${name} ${item.rejection.place}` } };
  const place = `${name} ${item.observation.place}`;
  const asset = item.observation.asset ?? fallback;
  if (asset) return { observation: { ...item.observation, place, asset } };
  return { rejection: { place, reason: 'the report does not name its asset. Set the asset in the configuration of the connection' } };
}

async function namingFile<T>(file: RemoteFile, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw withFileName(file, error);
  }
}

async function* namingFileAll<T>(file: RemoteFile, items: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    throw withFileName(file, error);
  }
}

function withFileName({ name }: RemoteFile, error: unknown): unknown {
  return error instanceof ReportError ? new ConnectorError('invalid_answer', `${name}: ${error.message}`, { cause: error }) : error;
}
