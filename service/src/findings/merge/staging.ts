import type { Observation } from '@rrs/scan-reports';
import { remembered } from '@rrs/scan-reports/remembered.ts';
import type { DescribedAsset } from '../../assets/recognize/describe.ts';
import { type CopyValue, copyLine, type Hex } from '../../db/copy.ts';
import { newId } from '../../shared/ids.ts';
import { bestRating } from '../../vulnerabilities/cvss.ts';
import { stagedColumns } from '../fields/derive.ts';
import { digest } from '../identity/digest.ts';
import { type Identity, identityOf } from '../identity/identity.ts';
import { wordsOf } from '../words.ts';

/** A staging table: COPY writes its lines, the import engine reads them through the view of the organization. */
export interface StagingTable<Record> {
  name: 'import_assets' | 'import_texts' | 'import_rows';
  columns: readonly string[];
  values: (record: Record) => CopyValue[];
}

function stagingTable<Staged>(name: StagingTable<Staged>['name'], columns: Readonly<Record<string, (staged: Staged) => CopyValue>>): StagingTable<Staged> {
  const readers = Object.values(columns);
  return { name, columns: Object.keys(columns), values: (staged) => readers.map((read) => read(staged)) };
}

export function stagingLine<Staged>(table: StagingTable<Staged>, staged: Staged): string {
  return copyLine(table.values(staged));
}

export interface StagingContext {
  orgId: string;
  importId: string;
  /** Keeps equal statements of different sources apart. */
  origin: string;
}

interface Staged {
  orgId: string;
  importId: string;
}

const ofImport = { org_id: ({ orgId }: Staged) => orgId, import_id: ({ importId }: Staged) => importId };

interface StagedAsset extends Staged {
  asset: DescribedAsset;
}

export const importAssets = stagingTable<StagedAsset>('import_assets', {
  ...ofImport,
  asset_key: ({ asset }) => asset.stagingKey,
  new_id: () => newId(),
  type: ({ asset }) => asset.type,
  name: ({ asset }) => asset.name,
  keys: ({ asset }) => asset.keys.map(({ key }) => key),
  ranks: ({ asset }) => asset.keys.map(({ rank }) => rank),
  name_rank: ({ asset }) => asset.nameRank,
  track_name: ({ asset }) => asset.track.track,
  own_track: ({ asset }) => asset.track.ownTrack ?? null,
  track_kind: ({ asset }) => asset.track.kind,
  track_counts: ({ asset }) => asset.track.counts,
  doubt: ({ asset }) => (asset.track.kind === 'build' ? 'track_unstated' : null),
  version_name: ({ asset }) => asset.track.version,
  digest: ({ asset }) => asset.digest,
  commit: ({ asset }) => asset.commit,
  variant: ({ asset }) => asset.variant,
  build_ids: ({ asset }) => asset.buildIds,
  stated: ({ asset }) => asset.stated !== null,
  stated_id: ({ asset }) => asset.stated?.id ?? null,
  machine_keys: ({ asset }) => asset.stated?.machineKeys ?? [],
});

export function stagedAsset({ orgId, importId }: StagingContext, asset: DescribedAsset): StagedAsset {
  return { orgId, importId, asset };
}

type Texts = Pick<Observation, 'description' | 'solution' | 'references'>;

interface StagedText extends Staged, Texts {
  textId: Hex;
}

export const importTexts = stagingTable<StagedText>('import_texts', {
  ...ofImport,
  text_id: ({ textId }) => textId,
  description: ({ description }) => description,
  solution: ({ solution }) => solution,
  reference_urls: ({ references }) => references,
});

const textDigest = remembered((texts: string): Hex => digest(texts));

/** Names the long texts of a record. Null if it has none. */
function textIdOf({ description, solution, references }: Texts): Hex | null {
  if (description === null && solution === null && references.length === 0) return null;
  // None of these characters is part of a text.
  return textDigest(`${description ?? '\0'}\0${solution ?? '\0'}\0${references.join('\0')}`);
}

export function stagedText({ orgId, importId, observation, textId }: StagedRecord): StagedText | null {
  const { description, solution, references } = observation;
  return textId === null ? null : { orgId, importId, textId, description, solution, references };
}

/** A record of a report on its way into the staging tables. */
export interface ReportRecord {
  /** Its number in the report. */
  n: number;
  observation: Observation;
  asset: DescribedAsset;
  /** Digest of everything the source says about the finding, except when. */
  content: Hex;
  textId: Hex | null;
}

interface StagedRecord extends Staged, ReportRecord {
  identity: Identity;
  cvss: ReturnType<typeof bestRating>;
}

export const importRows = stagingTable<StagedRecord>('import_rows', {
  ...ofImport,
  n: ({ n }) => n,
  new_id: () => newId(),
  asset_key: ({ asset }) => asset.stagingKey,
  weakness: ({ identity }) => identity.weakness,
  aliases: ({ identity }) => identity.aliases,
  identity_key: ({ identity }) => identity.identityKey,
  external_id: ({ observation }) => observation.external_id,
  tool_severity: ({ observation }) => observation.tool_severity,
  suppressed: ({ observation }) => observation.suppressed,
  present: ({ observation }) => observation.present,
  words: ({ observation, asset }) => wordsOf(observation, asset.name),
  component_key: ({ identity }) => identity.component?.key ?? null,
  place_label: ({ identity }) => identity.placeLabel,
  content: ({ content }) => content,
  first_seen: ({ observation }) => observation.first_seen,
  last_seen: ({ observation }) => observation.last_seen,
  ...stagedColumns,
});

/** The columns of each staging table, in the order of its lines. */
export const stagingColumns: Readonly<Record<StagingTable<never>['name'], readonly string[]>> = {
  import_assets: importAssets.columns,
  import_texts: importTexts.columns,
  import_rows: importRows.columns,
};

export function stagedRecord({ orgId, importId }: StagingContext, record: ReportRecord): StagedRecord {
  const { observation } = record;
  return { orgId, importId, ...record, identity: identityOf(observation), cvss: bestRating(observation.cvss) };
}

/** Gives a record its digest. Most records of a report are known by it, so nothing else is computed yet. */
export function reportRecord(context: StagingContext, n: number, observation: Observation, asset: DescribedAsset): ReportRecord {
  const textId = textIdOf(observation);
  return { n, observation, asset, textId, content: contentOf(context, observation, { trackKey: asset.trackKey, textId }) };
}

/** Builds differ in their layers although nothing else has changed, so these take no part. */
function contentOf({ origin }: StagingContext, observation: Observation, { trackKey, textId }: { trackKey: string; textId: Hex | null }): Hex {
  const { first_seen: _1, last_seen: _2, place: _3, asset: _4, description: _5, solution: _6, references: _7, location, ...statement } = observation;
  const { layer: _layer, ...where } = location;
  return digest([origin, trackKey, statement, where, textId]);
}
