import type { Asset, Observation } from '@rrs/scan-reports';
import { assetKeys, canonicalName } from '../../assets/keys.ts';
import type { CopyValue, Hex } from '../../db/copy.ts';
import { newId } from '../../shared/ids.ts';
import { bestVector } from '../../vulnerabilities/cvss.ts';
import { digest } from '../identity/digest.ts';
import { identityOf } from '../identity/identity.ts';
import { severityRank } from '../severity.ts';
import { wordsOf } from '../words.ts';

/** What goes into the staging tables, as values in the order of these columns. */
export const STAGED = {
  import_assets: ['org_id', 'import_id', 'asset_key', 'new_id', 'type', 'name', 'keys', 'ranks'],
  import_texts: ['org_id', 'import_id', 'text_id', 'description', 'solution', 'reference_urls'],
  import_seen: ['org_id', 'import_id', 'finding_id', 'content', 'last_seen'],
  import_rows: [
    'org_id',
    'import_id',
    'n',
    'new_id',
    'asset_key',
    'weakness',
    'aliases',
    'place',
    'external_id',
    'title',
    'severity',
    'tool_severity',
    'suppressed',
    'present',
    'vulnerability_ids',
    'cwes',
    'cvss_version',
    'cvss_vector',
    'cvss_score',
    'component',
    'location',
    'text_id',
    'tags',
    'words',
    'content',
    'first_seen',
    'last_seen',
  ],
} as const;

export const STAGING_TABLES = ['import_rows', 'import_seen', 'import_texts', 'import_assets', 'import_groups'] as const;

export interface StagingContext {
  orgId: string;
  importId: string;
  /** Tells what different sources say apart, though they say the same. */
  origin: string;
  /** For observations that do not say what they are about. */
  defaultAsset: Asset;
}

/** By which the staged rows of an import name it. */
export function assetKeyOf(asset: Asset): string {
  return `${asset.type}:${canonicalName(asset)}`;
}

export function stagedAsset({ orgId, importId }: StagingContext, asset: Asset): { key: string; values: CopyValue[] } {
  const keys = assetKeys(asset);
  const key = assetKeyOf(asset);
  return { key, values: [orgId, importId, key, newId(), asset.type, asset.name, keys.map((one) => one.key), keys.map((one) => one.rank)] };
}

export interface StagedObservation {
  n: number;
  observation: Observation;
  assetKey: string;
  assetName: string;
  /** Of everything that the source says about it, but for when. */
  content: Hex;
}

export function contentOf({ origin }: StagingContext, observation: Observation, assetKey: string): Hex {
  const { first_seen: _first, last_seen: _last, place: _place, asset: _asset, ...said } = observation;
  return digest([origin, assetKey, said]);
}

export function stagedText({ orgId, importId }: StagingContext, { description, solution, references }: Observation): { id: Hex; values: CopyValue[] } | null {
  if (description === null && solution === null && references.length === 0) return null;
  const id = digest([description, solution, references]);
  return { id, values: [orgId, importId, id, description, solution, references] };
}

export function stagedRow({ orgId, importId }: StagingContext, staged: StagedObservation, textId: Hex | null): CopyValue[] {
  const { n, observation, assetKey, assetName, content } = staged;
  const { weakness, aliases, place } = identityOf(observation);
  const cvss = bestVector(observation.cvss);
  return [
    orgId,
    importId,
    n,
    newId(),
    assetKey,
    weakness,
    aliases,
    place,
    observation.external_id,
    observation.title,
    severityRank(observation.severity),
    observation.tool_severity,
    observation.suppressed,
    observation.present,
    observation.vulnerability_ids,
    observation.cwes,
    cvss?.version ?? null,
    cvss?.vector ?? null,
    cvss?.score ?? null,
    observation.location.component ?? null,
    observation.location as Record<string, unknown>,
    textId,
    observation.tags,
    wordsOf(observation, assetName),
    content,
    observation.first_seen,
    observation.last_seen,
  ];
}
