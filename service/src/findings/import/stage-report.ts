import { setImmediate as nextTick } from 'node:timers/promises';
import type { Asset, ReportFormat, ReportInput } from '@rrs/scan-reports';
import { type CopyClient, copyLines, type Hex } from '../../db/copy.ts';
import {
  assetKeyOf,
  contentOf,
  importAssets,
  importRows,
  importSeen,
  importTexts,
  type ReportRecord,
  type StagingContext,
  type StagingTable,
  stagedAsset,
  stagedRecord,
  stagedText,
  stagingLine,
} from './staging.ts';

interface Rejected {
  place: string;
  reason: string;
}

export interface Staged {
  received: number;
  rejected: number;
  /** How many of the received records say what is already known. */
  seen: number;
  /** The first of them. All are counted. */
  rejections: Rejected[];
}

/** Each batch needs a few round trips to the database while the next one is parsed. Larger batches need fewer. */
const BATCH = 1_000;
const BATCH_CHARACTERS = 512 * 1024;
const KEPT_REJECTIONS = 1_000;
const REMEMBERED = 50_000;
const PROGRESS_MS = 500;

interface Staging extends StagingContext {
  client: CopyClient;
  /** Assets that the scan covered, whether or not the report names them. */
  scopeAssets: readonly Asset[];
  /** Finds the findings about which the source already says exactly this, by content. Null: every record is staged in full. */
  findKnown: ((contents: string[]) => Promise<Map<string, string>>) | null;
  onProgress: (records: number) => Promise<void>;
  signal: AbortSignal;
}

/** Streams a report into the staging tables. Memory holds two batches: one is parsed while the other is written. */
export async function stageReport(format: ReportFormat, input: ReportInput, staging: Staging): Promise<Staged> {
  const writer = createWriter(staging);
  const assetKey = createAssetKeys(staging, writer.asset);
  const rejections: Rejected[] = [];
  let batch: ReportRecord[] = [];
  let characters = 0;
  let writing: Promise<void> = Promise.resolve();
  let received = 0;
  let rejected = 0;

  const flush = async (): Promise<void> => {
    await writing;
    staging.signal.throwIfAborted();
    const full = batch;
    batch = [];
    characters = 0;
    writing = writer.write(full, received);
    // The rejection is handled where the promise is awaited.
    writing.catch(() => {});
  };

  for (const asset of staging.scopeAssets) assetKey(asset);
  for await (const item of format.read(input)) {
    if ('run' in item) continue;
    received++;
    if ('rejection' in item) {
      rejected++;
      if (rejections.length < KEPT_REJECTIONS) rejections.push(storable(item.rejection));
      continue;
    }
    const { observation } = item;
    const asset = observation.asset ?? staging.defaultAsset;
    const key = assetKey(asset);
    batch.push({ n: received, observation, assetKey: key, assetName: asset.name, content: contentOf(staging, observation, key) });
    characters += (observation.description?.length ?? 0) + (observation.solution?.length ?? 0);
    if (batch.length >= BATCH || characters >= BATCH_CHARACTERS) await flush();
  }
  await flush();
  await writing;
  await writer.close();
  return { received, rejected, seen: writer.seen(), rejections };
}

/** Returns the key of an asset and stages the asset the first time. Two names of one asset have one key. */
function createAssetKeys(staging: Staging, stage: (line: string) => void): (asset: Asset) => string {
  const keys = new Map<string, string>();
  return (asset) => {
    // The signature includes the identifiers: a later record may name more of them.
    const signature = `${asset.type}\n${asset.name}\n${(asset.identifiers ?? []).map(({ kind, value }) => `${kind}=${value}`).join('\n')}`;
    const known = keys.get(signature);
    if (known !== undefined) return known;
    if (keys.size >= REMEMBERED) keys.clear();
    const key = assetKeyOf(asset);
    keys.set(signature, key);
    stage(stagingLine(importAssets, stagedAsset(staging, asset)));
    return key;
  };
}

/** Yields to other callers of this process after so many rows. */
const ROWS_PER_TICK = 200;
const BUFFERED_LINES = 1_000;
const BUFFERED_CHARACTERS = 512 * 1024;

/** Lines of the two smaller tables are buffered until there are enough of them. */
function createWriter(staging: Staging) {
  const { client, findKnown, onProgress, orgId, importId } = staging;
  const ids = { orgId, importId };
  const texts = new Set<string>();
  const buffered = { import_assets: [] as string[], import_texts: [] as string[] };
  let bufferedCharacters = 0;
  let seenCount = 0;
  let reported = Date.now();

  const buffer = (table: keyof typeof buffered, line: string): void => {
    buffered[table].push(line);
    bufferedCharacters += line.length;
  };
  const copy = <Staged>({ name, columns }: StagingTable<Staged>, lines: readonly string[]) => copyLines(client, name, columns, lines);
  const flush = async (): Promise<void> => {
    bufferedCharacters = 0;
    await copy(importAssets, buffered.import_assets.splice(0));
    await copy(importTexts, buffered.import_texts.splice(0));
  };
  const textIdOf = ({ observation }: ReportRecord): Hex | null => {
    const text = stagedText(staging, observation);
    if (!text) return null;
    if (!texts.has(text.textId.text)) {
      if (texts.size >= REMEMBERED) texts.clear();
      texts.add(text.textId.text);
      buffer('import_texts', stagingLine(importTexts, text));
    }
    return text.textId;
  };

  return {
    asset: (line: string): void => buffer('import_assets', line),
    seen: () => seenCount,
    close: flush,
    async write(batch: readonly ReportRecord[], received: number): Promise<void> {
      const present = batch.filter(({ observation }) => observation.present).map(({ content }) => content.text);
      const known = findKnown && present.length > 0 ? await findKnown(present) : new Map<string, string>();
      const rows: string[] = [];
      const seen: string[] = [];
      for (const [at, record] of batch.entries()) {
        if (at % ROWS_PER_TICK === ROWS_PER_TICK - 1) await nextTick();
        const { observation, content } = record;
        const findingId = observation.present ? known.get(content.text) : undefined;
        if (findingId === undefined) rows.push(stagingLine(importRows, stagedRecord(staging, record, textIdOf(record))));
        else seen.push(stagingLine(importSeen, { ...ids, findingId, content, lastSeen: observation.last_seen }));
      }
      seenCount += seen.length;
      await copy(importSeen, seen);
      await copy(importRows, rows);
      if (buffered.import_texts.length + buffered.import_assets.length >= BUFFERED_LINES || bufferedCharacters >= BUFFERED_CHARACTERS) await flush();
      if (Date.now() - reported < PROGRESS_MS) return;
      reported = Date.now();
      await onProgress(received);
    },
  };
}

/** Excerpts of a file can contain anything. The database accepts well-formed text without NUL. */
function storable({ place, reason }: Rejected): Rejected {
  const clean = (text: string): string => text.slice(0, 1_000).replaceAll('\0', '').toWellFormed();
  return { place: clean(place), reason: clean(reason) };
}
