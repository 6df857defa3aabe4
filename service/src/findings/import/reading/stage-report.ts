import { type AssetType, headOf, leavesOutSuppressed, ReportError, type ReportFormat, type ReportInput, type RunFacts } from '@rrs/scan-reports';
import type { DescribedAsset } from '../../../assets/recognize/describe.ts';
import { storable } from '../../../shared/storable.ts';
import type { SaidContents } from '../../merge/known-records.ts';
import {
  importAssets,
  importRows,
  importTexts,
  type ReportRecord,
  reportRecord,
  type StagingContext,
  type StagingTable,
  stagedAsset,
  stagedRecord,
  stagedText,
  stagingLine,
} from '../../merge/staging.ts';
import type { ReportAssets } from '../report-assets.ts';

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
  /** What the report states about its run. */
  run: RunFacts;
  /** What it states about its run on single assets, by their key in the staging tables. */
  runByAsset: Map<string, RunFacts>;
  /** The first assets and tools that the report names. */
  targets: string[];
  tools: string[];
}

/** Each batch needs a few round trips to the database while the next one is parsed. Larger batches need fewer. */
const BATCH = 1_000;
const BATCH_CHARACTERS = 2 * 1024 * 1024;
const KEPT_REJECTIONS = 1_000;
const KEPT_CHARACTERS = 1_000;
const REMEMBERED = 50_000;
const PROGRESS_MS = 500;
const KEPT_NAMES = 20;

interface Staging extends StagingContext {
  assets: ReportAssets;
  copy: (table: StagingTable<never>['name'], lines: readonly string[]) => Promise<void>;
  /** Stages the records that say what the source already says, and returns their positions. Null: every record is staged in full. */
  stageKnown: ((said: SaidContents) => Promise<number[]>) | null;
  onProgress: (records: number) => Promise<void>;
}

/** Streams a report into the staging tables. Memory holds two batches: one is parsed while the other is written. */
export async function stageReport(format: ReportFormat, input: ReportInput, staging: Staging): Promise<Staged> {
  const writer = createWriter(staging);
  const stageAsset = createAssetWriter(staging, writer.asset);
  const rejections: Rejected[] = [];
  let batch: ReportRecord[] = [];
  let characters = 0;
  let writing: Promise<void> = Promise.resolve();
  let received = 0;
  let rejected = 0;
  let hasSuppressed = false;
  let run: RunFacts = {};
  const runs = createRuns();
  const listed = new Set<AssetType>(format.listsAssets?.(await headOf(input)) ? [format.assetType] : []);
  const names = { targets: new Set<string>(), tools: new Set<string>() };
  const keepName = (kept: Set<string>, name: string | undefined): void => {
    if (name !== undefined && kept.size < KEPT_NAMES) kept.add(name);
  };
  const reject = (rejection: Rejected): void => {
    rejected++;
    if (rejections.length < KEPT_REJECTIONS)
      rejections.push({ place: storable(rejection.place, KEPT_CHARACTERS), reason: storable(rejection.reason, KEPT_CHARACTERS) });
  };

  const flush = async (): Promise<void> => {
    const [rest, count, before] = [writer.stageKnown(batch), received, writing];
    batch = [];
    characters = 0;
    writing = bothOf(before, rest).then((records) => writer.write(records, count));
    // The rejection is handled where the promise is awaited.
    writing.catch(() => {});
    await before;
  };

  try {
    for await (const item of format.read(input)) {
      if ('run' in item) {
        const { asset: named, ...facts } = item.run;
        keepName(names.targets, named?.name);
        if (named) listed.add(named.type);
        const asset = named ? staging.assets.of(named) : null;
        if (!asset) run = { ...run, ...facts };
        else {
          stageAsset(asset);
          runs.add(asset, facts);
        }
        continue;
      }
      received++;
      if ('rejection' in item) {
        reject(item.rejection);
        continue;
      }
      const { observation } = item;
      keepName(names.targets, observation.asset?.name);
      keepName(names.tools, observation.tool);
      hasSuppressed ||= observation.present && observation.suppressed;
      const asset = staging.assets.of(observation.asset);
      if (!asset) {
        reject({ place: observation.place, reason: 'the report does not name the asset. Set `asset` in `scan_scope`' });
        continue;
      }
      stageAsset(asset);
      batch.push(reportRecord(staging, received, observation, asset));
      characters += (observation.description?.length ?? 0) + (observation.solution?.length ?? 0);
      if (batch.length >= BATCH || characters >= BATCH_CHARACTERS) await flush();
    }
    for (const asset of staging.assets.covered(listed)) stageAsset(asset);
    const restrictions = [...(run.restrictions ?? []), ...staging.assets.restrictions()];
    if (restrictions.length > 0) run = { ...run, restrictions };
    if (leavesOutSuppressed([run, ...runs.all()], hasSuppressed)) run = { ...run, left_out: [...(run.left_out ?? []), 'suppressed'] };
    await flush();
    await writing;
    await writer.close();
  } catch (error) {
    // Whoever sent the lines must not be told that reading is over while they are copied.
    await writing.catch(() => {});
    if (error instanceof ReportError) failedAfter.set(error, received);
    throw error;
  }
  return { received, rejected, seen: writer.seen(), rejections, run, runByAsset: runs.byAsset(), targets: [...names.targets], tools: [...names.tools] };
}

/** Fails only when neither is under way any more. */
async function bothOf<Result>(before: Promise<void>, result: Promise<Result>): Promise<Result> {
  await Promise.allSettled([before, result]);
  await before;
  return result;
}

/** What a report states about its run on each asset. Machines that share a name can be one asset: the least that is true of all of them holds. */
function createRuns() {
  const runs = new Map<DescribedAsset, RunFacts>();
  return {
    add: (asset: DescribedAsset, facts: RunFacts): void => {
      if (runs.size < REMEMBERED || runs.has(asset)) runs.set(asset, { ...runs.get(asset), ...facts });
    },
    all: (): RunFacts[] => [...runs.values()],
    byAsset: (): Map<string, RunFacts> => {
      const byKey = new Map<string, RunFacts>();
      for (const [{ stagingKey }, facts] of runs) {
        const known = byKey.get(stagingKey);
        byKey.set(stagingKey, known ? leastOf(known, facts) : facts);
      }
      return byKey;
    },
  };
}

function leastOf(one: RunFacts, other: RunFacts): RunFacts {
  const times = (of: (facts: RunFacts) => Date | undefined, pick: typeof Math.min): Date | undefined => {
    const known = [of(one), of(other)].flatMap((time) => time?.getTime() ?? []);
    return known.length === 0 ? undefined : new Date(pick(...known));
  };
  const [started_at, finished_at] = [times((facts) => facts.started_at ?? facts.finished_at, Math.min), times((facts) => facts.finished_at, Math.max)];
  const knowledge_at = times((facts) => facts.knowledge_at, Math.min);
  const logins = [one.credentialed, other.credentialed].filter((login) => login !== undefined);
  return {
    ...one,
    ...other,
    ...(started_at ? { started_at } : {}),
    ...(finished_at ? { finished_at } : {}),
    ...(knowledge_at ? { knowledge_at } : {}),
    ...(logins.length > 0 ? { credentialed: logins.every(Boolean) } : {}),
    ...(one.unfinished || other.unfinished ? { unfinished: true } : {}),
    ...(one.inventory_only || other.inventory_only ? { inventory_only: true } : {}),
  };
}

/** How many records of the report were read before this error. */
export function receivedBefore(error: ReportError): number {
  return failedAfter.get(error) ?? 0;
}

const failedAfter = new WeakMap<ReportError, number>();

/** Stages each asset once. */
function createAssetWriter(staging: Staging, stage: (line: string) => void): (asset: DescribedAsset) => void {
  const staged = new Set<DescribedAsset>();
  return (asset) => {
    if (staged.has(asset)) return;
    if (staged.size >= REMEMBERED) staged.clear();
    staged.add(asset);
    stage(stagingLine(importAssets, stagedAsset(staging, asset)));
  };
}

const BUFFERED_LINES = 1_000;
const BUFFERED_CHARACTERS = 512 * 1024;

/** Lines of the two smaller tables are buffered until there are enough of them. */
function createWriter(staging: Staging) {
  const { onProgress } = staging;
  const texts = new Set<string>();
  const buffered = { import_assets: [] as string[], import_texts: [] as string[] };
  let bufferedCharacters = 0;
  let seenCount = 0;
  let reported = Date.now();

  const buffer = (table: keyof typeof buffered, line: string): void => {
    buffered[table].push(line);
    bufferedCharacters += line.length;
  };
  const copy = async <Staged>({ name }: StagingTable<Staged>, lines: readonly string[]): Promise<void> => {
    if (lines.length > 0) await staging.copy(name, lines);
  };
  const flush = async (): Promise<void> => {
    bufferedCharacters = 0;
    await copy(importAssets, buffered.import_assets.splice(0));
    await copy(importTexts, buffered.import_texts.splice(0));
  };
  const bufferText = (record: ReturnType<typeof stagedRecord>): void => {
    const text = stagedText(record);
    if (!text || texts.has(text.textId.text)) return;
    if (texts.size >= REMEMBERED) texts.clear();
    texts.add(text.textId.text);
    buffer('import_texts', stagingLine(importTexts, text));
  };

  return {
    asset: (line: string): void => buffer('import_assets', line),
    seen: () => seenCount,
    close: flush,
    /** Returns the records that must be staged in full. */
    async stageKnown(batch: readonly ReportRecord[]): Promise<readonly ReportRecord[]> {
      const present = batch.filter(({ observation }) => observation.present);
      if (staging.stageKnown === null || present.length === 0) return batch;
      const known = await staging.stageKnown({
        contents: present.map(({ content }) => content.text),
        firstSeen: present.map(({ observation }) => observation.first_seen),
        lastSeen: present.map(({ observation }) => observation.last_seen),
      });
      seenCount += known.length;
      const seen = new Set(known.map((position) => present[position]));
      return batch.filter((record) => !seen.has(record));
    },
    async write(records: readonly ReportRecord[], received: number): Promise<void> {
      const rows = records.map((record) => {
        const staged = stagedRecord(staging, record);
        bufferText(staged);
        return stagingLine(importRows, staged);
      });
      await copy(importRows, rows);
      if (buffered.import_texts.length + buffered.import_assets.length >= BUFFERED_LINES || bufferedCharacters >= BUFFERED_CHARACTERS) await flush();
      if (Date.now() - reported < PROGRESS_MS) return;
      reported = Date.now();
      await onProgress(received);
    },
  };
}
