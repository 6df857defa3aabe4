import type { Asset, ReportFormat, ReportInput } from '@rrs/scan-reports';
import { type CopyClient, copyLines } from '../db/copy.ts';
import { copyLine, STAGED_ASSET_COLUMNS, STAGED_COLUMNS, type StagingContext, stagedAsset, stagedRow } from './staging.ts';

interface Rejected {
  place: string;
  reason: string;
}

export interface Staged {
  received: number;
  rejected: number;
  /** The first of them; all are counted. */
  rejections: Rejected[];
}

const BATCH = 2_000;
const KEPT_REJECTIONS = 1_000;
const REMEMBERED_ASSETS = 50_000;

interface Staging extends StagingContext {
  client: CopyClient;
  /** Covered by the run, whether or not the report names them. */
  scopeAssets: readonly Asset[];
  onProgress: (records: number) => Promise<void>;
  signal: AbortSignal;
}

/** Streams a report into the staging tables; memory holds one batch. */
export async function stageReport(format: ReportFormat, input: ReportInput, staging: Staging): Promise<Staged> {
  const { client, defaultAsset, scopeAssets, onProgress, signal } = staging;
  const keys = new Map<string, string>();
  const rejections: Rejected[] = [];
  let rows: string[] = [];
  let assets: string[] = [];
  let received = 0;
  let rejected = 0;

  const assetKey = (asset: Asset): string => {
    // Identifiers count too: a later record may know further names of the same asset.
    const signature = `${asset.type}\n${asset.name}\n${(asset.identifiers ?? []).map(({ kind, value }) => `${kind}=${value}`).join('\n')}`;
    const known = keys.get(signature);
    if (known !== undefined) return known;
    if (keys.size >= REMEMBERED_ASSETS) keys.clear();
    const { key, values } = stagedAsset(staging, asset);
    keys.set(signature, key);
    assets.push(copyLine(values));
    return key;
  };
  const flush = async (): Promise<void> => {
    signal.throwIfAborted();
    await copyLines(client, 'import_assets', STAGED_ASSET_COLUMNS, assets);
    await copyLines(client, 'import_rows', STAGED_COLUMNS, rows);
    rows = [];
    assets = [];
    await onProgress(received);
  };

  for (const asset of scopeAssets) assetKey(asset);
  for await (const item of format.read(input)) {
    received++;
    if ('rejection' in item) {
      rejected++;
      if (rejections.length < KEPT_REJECTIONS) rejections.push(storable(item.rejection));
      continue;
    }
    const asset = item.observation.asset ?? defaultAsset;
    rows.push(copyLine(stagedRow(staging, { n: received, observation: item.observation, assetKey: assetKey(asset), assetName: asset.name })));
    if (rows.length >= BATCH) await flush();
  }
  await flush();
  return { received, rejected, rejections };
}

/** Quotes of a file may hold anything; the database takes text. */
function storable({ place, reason }: Rejected): Rejected {
  const clean = (text: string): string => text.slice(0, 1_000).replaceAll('\0', '').toWellFormed();
  return { place: clean(place), reason: clean(reason) };
}
