import { hash } from 'node:crypto';
import type { Asset, Observation } from '@rrs/scan-reports';
import { assetKeys, canonicalName } from '../assets/keys.ts';
import { newId } from '../shared/ids.ts';
import { bestVector } from '../vulnerabilities/cvss.ts';
import { identityOf } from './identity.ts';
import { severityRank } from './severity.ts';

/** One observation as a line of COPY's text format for `import_rows`, in the order of its columns. */
export const STAGED_COLUMNS = [
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
  'description',
  'solution',
  'reference_urls',
  'tags',
  'words',
  'content',
  'first_seen',
  'last_seen',
] as const;

export const STAGED_ASSET_COLUMNS = ['org_id', 'import_id', 'asset_key', 'new_id', 'type', 'name', 'keys', 'ranks'] as const;

export interface StagingContext {
  orgId: string;
  importId: string;
  /** For observations that do not say what they are about. */
  defaultAsset: Asset;
}

export function stagedAsset({ orgId, importId }: StagingContext, asset: Asset): { key: string; values: CopyValue[] } {
  const keys = assetKeys(asset);
  const key = `${asset.type}:${canonicalName(asset)}`;
  return { key, values: [orgId, importId, key, newId(), asset.type, asset.name, keys.map((one) => one.key), keys.map((one) => one.rank)] };
}

export interface StagedObservation {
  n: number;
  observation: Observation;
  assetKey: string;
  assetName: string;
}

export function stagedRow({ orgId, importId }: StagingContext, { n, observation, assetKey, assetName }: StagedObservation): CopyValue[] {
  const { weakness, aliases, place } = identityOf(observation);
  const cvss = bestVector(observation.cvss);
  const { description, solution, references } = observation;
  const hasText = description !== null || solution !== null || references.length > 0;
  const textId = hasText ? digest([description, solution, references]) : null;
  const { first_seen, last_seen, place: _place, asset: _asset, ...said } = observation;
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
    { ...observation.location },
    textId,
    description,
    solution,
    references,
    observation.tags,
    wordsOf(observation, assetName),
    digest([said]),
    first_seen,
    last_seen,
  ];
}

/** What the list can be searched by as a word, but for tags and sources, which change apart from it: see the index findings_by_word. */
function wordsOf(observation: Pick<Observation, 'vulnerability_ids' | 'cwes' | 'title' | 'location'>, assetName: string): string[] {
  const text = [observation.title, observation.location.component ?? '', assetName, ...observation.vulnerability_ids].join(' ');
  return [
    ...new Set([
      ...observation.vulnerability_ids.map((id) => `v:${id.toLowerCase()}`),
      ...observation.cwes.map((cwe) => `k:${cwe}`),
      ...splitWords(text).map((word) => `w:${word}`),
    ]),
  ];
}

/** Words of a text and the parts of compound ones: "log4j-core" is also "log4j" and "core". */
export function splitWords(text: string): string[] {
  const compounds = text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}._@/:-]*/gu) ?? [];
  const parts = compounds.flatMap((word) => word.split(/[^\p{L}\p{N}]+/u));
  return [...new Set([...compounds, ...parts])].filter((word) => word.length > 1 && word.length <= 100).slice(0, 60);
}

function digest(value: unknown): Buffer {
  return hash('sha256', JSON.stringify(value), 'buffer').subarray(0, 16);
}

export type CopyValue = string | number | boolean | Date | Buffer | null | readonly (string | number)[] | Record<string, unknown>;

export function copyLine(values: readonly CopyValue[]): string {
  return `${values.map(copyText).join('\t')}\n`;
}

const SPECIAL = /[\\\t\n\r\0]/;

function copyText(value: CopyValue): string {
  if (value === null) return '\\N';
  if (typeof value === 'string') return escaped(value);
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (Buffer.isBuffer(value)) return `\\\\x${value.toString('hex')}`;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return escaped(`{${value.map(arrayElement).join(',')}}`);
  return escaped(JSON.stringify(value));
}

function arrayElement(item: string | number): string {
  return typeof item === 'number' ? String(item) : `"${item.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** PostgreSQL knows no NUL in text. */
function escaped(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return text.replaceAll('\0', '').replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
}
