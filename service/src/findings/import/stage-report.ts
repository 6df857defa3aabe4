import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Asset, ReportFormat, ReportInput } from '@rrs/scan-reports';
import { type CopyClient, copyLine, copyLines, type Hex } from '../../db/copy.ts';
import { contentOf, STAGED, type StagedObservation, type StagingContext, stagedAsset, stagedRow, stagedText } from './staging.ts';

interface Rejected {
  place: string;
  reason: string;
}

export interface Staged {
  received: number;
  rejected: number;
  /** Of those received, the ones that say what is known already. */
  seen: number;
  /** The first of them; all are counted. */
  rejections: Rejected[];
}

/** Each batch waits a few times for the database while the next one is parsed: large ones wait less often. */
const BATCH = 1_000;
const BATCH_CHARACTERS = 512 * 1024;
const KEPT_REJECTIONS = 1_000;
const REMEMBERED = 50_000;
const PROGRESS_MS = 500;

interface Staging extends StagingContext {
  client: CopyClient;
  /** Covered by the run, whether or not the report names them. */
  scopeAssets: readonly Asset[];
  /** Findings of which the source already says exactly this, by content; null: look at every record anew. */
  findKnown: ((contents: string[]) => Promise<Map<string, string>>) | null;
  onProgress: (records: number) => Promise<void>;
  signal: AbortSignal;
}

/** Streams a report into the staging tables; memory holds two batches: one is read while the other is written. */
export async function stageReport(format: ReportFormat, input: ReportInput, staging: Staging): Promise<Staged> {
  const writer = createWriter(staging);
  const assetKey = createAssetKeys(staging, writer.asset);
  const rejections: Rejected[] = [];
  let batch: StagedObservation[] = [];
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
    // A failure is met where it is awaited; in between it is nobody's.
    writing.catch(() => {});
  };

  for (const asset of staging.scopeAssets) assetKey(asset);
  for await (const item of format.read(input)) {
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

/** Two names of one asset have one key. */
function createAssetKeys(staging: Staging, keep: (line: string) => void): (asset: Asset) => string {
  const keys = new Map<string, string>();
  return (asset) => {
    // Identifiers count too: a later record may know further names of the same asset.
    const signature = `${asset.type}\n${asset.name}\n${(asset.identifiers ?? []).map(({ kind, value }) => `${kind}=${value}`).join('\n')}`;
    const known = keys.get(signature);
    if (known !== undefined) return known;
    if (keys.size >= REMEMBERED) keys.clear();
    const { key, values } = stagedAsset(staging, asset);
    keys.set(signature, key);
    keep(copyLine(values));
    return key;
  };
}

/** Whoever else this process serves gets a turn in between. */
const ROWS_PER_TURN = 200;
const HELD_LINES = 1_000;
const HELD_CHARACTERS = 512 * 1024;

/** Lines of the smaller tables go along when there are enough of them. */
function createWriter(staging: Staging) {
  const { client, findKnown, onProgress } = staging;
  const texts = new Set<string>();
  const held = { import_assets: [] as string[], import_texts: [] as string[] };
  let heldCharacters = 0;
  let seenCount = 0;
  let reported = Date.now();

  const hold = (table: keyof typeof held, line: string): void => {
    held[table].push(line);
    heldCharacters += line.length;
  };
  const release = async (): Promise<void> => {
    heldCharacters = 0;
    for (const table of ['import_assets', 'import_texts'] as const) await copyLines(client, table, STAGED[table], held[table].splice(0));
  };
  const textIdOf = ({ observation }: StagedObservation): Hex | null => {
    const text = stagedText(staging, observation);
    if (!text) return null;
    if (!texts.has(text.id.text)) {
      if (texts.size >= REMEMBERED) texts.clear();
      texts.add(text.id.text);
      hold('import_texts', copyLine(text.values));
    }
    return text.id;
  };

  return {
    asset: (line: string): void => hold('import_assets', line),
    seen: () => seenCount,
    close: release,
    async write(batch: readonly StagedObservation[], received: number): Promise<void> {
      const present = batch.filter(({ observation }) => observation.present).map(({ content }) => content.text);
      const known = findKnown && present.length > 0 ? await findKnown(present) : new Map<string, string>();
      const rows: string[] = [];
      const seen: string[] = [];
      for (const [at, staged] of batch.entries()) {
        if (at % ROWS_PER_TURN === ROWS_PER_TURN - 1) await nextTurn();
        const { observation, content } = staged;
        const finding = observation.present ? known.get(content.text) : undefined;
        if (finding === undefined) rows.push(copyLine(stagedRow(staging, staged, textIdOf(staged))));
        else seen.push(copyLine([staging.orgId, staging.importId, finding, content, observation.last_seen]));
      }
      seenCount += seen.length;
      await copyLines(client, 'import_seen', STAGED.import_seen, seen);
      await copyLines(client, 'import_rows', STAGED.import_rows, rows);
      if (held.import_texts.length + held.import_assets.length >= HELD_LINES || heldCharacters >= HELD_CHARACTERS) await release();
      if (Date.now() - reported < PROGRESS_MS) return;
      reported = Date.now();
      await onProgress(received);
    },
  };
}

/** Quotes of a file may hold anything; the database takes text. */
function storable({ place, reason }: Rejected): Rejected {
  const clean = (text: string): string => text.slice(0, 1_000).replaceAll('\0', '').toWellFormed();
  return { place: clean(place), reason: clean(reason) };
}
