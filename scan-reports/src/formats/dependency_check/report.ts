import { posix } from 'node:path';
import type { Asset, Cvss, Observation, ReportEntry, Severity } from '../../contract.ts';
import { ecosystemOf } from '../../shared/ecosystem.ts';
import { cwesOf, filePath, idsIn, observation, required, severityOf, severityOfScore } from '../../shared/normalize.ts';
import { packageName, parsePurl } from '../../shared/purl.ts';
import { ratingOf } from '../../shared/ratings.ts';
import { date, num } from '../../shared/read.ts';
import { runEntry } from '../../shared/run.ts';

export interface Project {
  name: string | undefined;
  group: string | undefined;
  artifact: string | undefined;
  version: string | undefined;
  date: string | undefined;
  /** Who wrote the report, or whose data it uses. */
  credits: string | undefined;
}

/** Credits of reports that retire.js wrote. */
export const RETIRE = 'retire.js';

/** The engine and its data sources. */
export interface Scan {
  engine: string | undefined;
  /** Whether the report lists any dependency. */
  hasDependencies: boolean;
  sources: { name: string | undefined; timestamp: string | undefined }[];
}

export interface Dependency {
  fileName: string | undefined;
  filePath: string | undefined;
  /** Package URLs or, before version 2.0, coordinates of a package manager. */
  packages: { id: string; type: string | undefined }[];
  evidence: { type: string; confidence: string; value: string }[];
  /** Dependencies that were found to be parts of this one, or copies of it. */
  related: { fileName: string | undefined; filePath: string | undefined }[];
}

export interface Vulnerability {
  name: string | undefined;
  source: string | undefined;
  severity: string | undefined;
  description: string | undefined;
  notes: string | undefined;
  cwes: string[];
  references: string[];
  cvss2: Record<string, string | undefined>;
  cvss3: Record<string, string | undefined>;
  cvss4: Record<string, string | undefined>;
  /** The first version after the matched range. */
  fixed: string | undefined;
  /** True if the vulnerability is in CISA's catalog. */
  exploited: boolean;
}

function assetOf({ name, group, artifact, version }: Project): Asset | null {
  const coordinates = group && artifact ? `${group}:${artifact}` : undefined;
  const best = name ?? coordinates;
  return best ? { type: 'repository', name: best, ...(version === undefined ? {} : { version }) } : null;
}

/**
 * The NVD data is as new as its last change. Some versions only state when they looked for changes. Older versions write local time without a
 * time zone. A time after the end of the scan is therefore not stated. A scan without dependencies has looked at nothing: retire.js lists only vulnerable ones.
 */
export function* readRun({ engine, sources, hasDependencies }: Scan, project: Project): Generator<ReportEntry> {
  const nvd = ['modified', 'checked'].flatMap((word) => sources.filter(({ name }) => new RegExp(`^NVD.*${word}$`, 'i').test(name ?? '')));
  const [finished, known] = [date(project.date), date(nvd[0]?.timestamp)];
  const knowledge_at = finished && known && known > finished ? null : known;
  // Its reports always have the vulnerabilities that it was told to suppress.
  yield* runEntry({ tool_version: engine, finished_at: finished, knowledge_at, looked_for: ['suppressed'] });
  if (!hasDependencies && project.credits !== RETIRE) yield* runEntry({ unfinished: true });
  yield* runEntry({ asset: assetOf(project) });
}

/** One observation per copy of the library. */
export function observationsOf(
  vulnerability: Vulnerability,
  dependency: Dependency,
  context: { place: string; project: Project; suppressed: boolean },
): Observation[] {
  const name = required(vulnerability.name, 'name');
  const { component, version, purl, ecosystem } = componentOf(dependency);
  const copies = dependency.related.filter((other) => isCopy(other, dependency));
  const parts = dependency.related.filter((other) => !copies.includes(other)).flatMap((other) => other.filePath ?? other.fileName ?? []);
  const { severity, word } = severityOfAll(vulnerability);
  const common = {
    place: context.place,
    tool: 'dependency-check',
    rule: name,
    title: `${name}${component ? ` in ${component}` : ''}`,
    description: [
      vulnerability.description,
      vulnerability.notes ? `Notes: ${vulnerability.notes}` : undefined,
      dependency.filePath ? `File: ${dependency.filePath}` : undefined,
      parts.length > 0 ? `Also in:\n${parts.slice(0, 50).join('\n')}` : undefined,
    ]
      .filter(Boolean)
      .join('\n\n'),
    severity,
    tool_severity: word,
    // Names from other sources (an npm number, "jquery issue: 162", a CWE) are not public ids.
    vulnerability_ids: /^(?:CVE|GHSA|OSV|SONATYPE|PYSEC|RUSTSEC|GO)-[\w-]+$/i.test(name) ? [name] : idsIn(name),
    cwes: cwesOf(vulnerability.cwes, /^CWE-\d/i.test(name) ? [name.split(':')[0]] : []),
    cvss: [vector4(vulnerability.cvss4), vector3(vulnerability.cvss3), vector2(vulnerability.cvss2)].flat(),
    references: vulnerability.references,
    asset: assetOf(context.project),
    suppressed: context.suppressed,
    last_seen: date(context.project.date),
    tags: vulnerability.source ? [vulnerability.source] : [],
    known_exploited: vulnerability.exploited,
  };
  // Uses the name that the report shows ("app.ear: lib.jar"), because the full path depends on the scanning machine. Only copies, which have
  // the same name, need the path.
  const paths = [dependency.fileName ?? dependency.filePath, ...copies.map((copy) => copy.filePath)].map(filePath);
  return [...new Set(paths)].map((path) =>
    observation({ ...common, location: { component, version, fixed_version: vulnerability.fixed, purl, ecosystem, path } }),
  );
}

/** Related dependencies with another name are parts of the same product, for example its API. */
function isCopy(other: Dependency['related'][number], own: Dependency): boolean {
  const nameOf = (path: string | undefined): string => posix.basename(filePath(path) ?? '');
  return other.filePath !== undefined && other.filePath !== own.filePath && nameOf(other.filePath) === nameOf(own.filePath);
}

interface Component {
  component: string | undefined;
  version: string | undefined;
  purl?: string;
  ecosystem?: string | undefined;
}

/** The dependency as a listed component. */
export function listedOf(dependency: Dependency): { name: string | undefined; version: string | undefined } {
  const { component, version } = componentOf(dependency);
  return { name: component, version };
}

function componentOf(dependency: Dependency): Component {
  for (const { id } of dependency.packages) {
    const purl = parsePurl(id);
    if (purl) return { component: packageName(purl.namespace, purl.name, purl.type), version: purl.version, purl: id };
  }
  const { id: coordinates, type } = dependency.packages.find((one) => one.type !== undefined && one.type !== 'cpe' && one.id.includes(':')) ?? {};
  if (coordinates) return { component: coordinates.split(':').slice(0, -1).join(':'), version: coordinates.split(':').at(-1), ecosystem: ecosystemOf(type) };
  const product = bestEvidence(dependency, 'product');
  if (product) return { component: product, version: bestEvidence(dependency, 'version') };
  return { component: undefined, version: undefined };
}

const CONFIDENCES = ['HIGHEST', 'HIGH', 'MEDIUM', 'LOW'];

function bestEvidence({ evidence }: Dependency, type: string): string | undefined {
  const rank = ({ confidence }: { confidence: string }): number => (CONFIDENCES.includes(confidence) ? CONFIDENCES.indexOf(confidence) : CONFIDENCES.length);
  return evidence.filter((entry) => entry.type === type && entry.value !== '').sort((a, b) => rank(a) - rank(b))[0]?.value;
}

/** Prefers the tool's severity word, then the word of the newest CVSS version, then a score. */
function severityOfAll({ severity, cvss2, cvss3, cvss4 }: Vulnerability): { severity: Severity; word: string | undefined } {
  const word = [severity, cvss4.baseSeverity, cvss3.baseSeverity, cvss2.severity].find((candidate) => severityOf(candidate) !== 'unknown');
  if (word !== undefined) return { severity: severityOf(word), word };
  const scores = [severity, cvss4.baseScore, cvss3.baseScore, cvss2.score].map((score) => num(score));
  const score = scores.find((number) => number !== undefined && number > 0);
  return { severity: severityOfScore(score), word: severity ?? (score === undefined ? undefined : String(score)) };
}

type Fields = Readonly<Record<string, string | undefined>>;

function vector4(fields: Fields): Cvss[] {
  return ratingOf(fields.vectorString, fields.baseScore, '4.0');
}

/** The report has the vector as separate fields whose values start with the metric's letter: NETWORK, ADJACENT_NETWORK, UNCHANGED. */
function vector3(fields: Fields): Cvss[] {
  const metrics = metricsOf(fields, [
    ['AV', 'attackVector'],
    ['AC', 'attackComplexity'],
    ['PR', 'privilegesRequired'],
    ['UI', 'userInteraction'],
    ['S', 'scope'],
    ['C', 'confidentialityImpact'],
    ['I', 'integrityImpact'],
    ['A', 'availabilityImpact'],
  ]);
  const version = fields.version === '3.0' ? '3.0' : '3.1';
  return ratingOf(metrics && `CVSS:${version}/${metrics}`, fields.baseScore, version);
}

function vector2(fields: Fields): Cvss[] {
  const metrics = metricsOf({ ...fields, confidentialImpact: fields.confidentialImpact ?? fields.confidentialityImpact }, [
    ['AV', 'accessVector'],
    ['AC', 'accessComplexity'],
    ['Au', 'authenticationr'],
    ['C', 'confidentialImpact'],
    ['I', 'integrityImpact'],
    ['A', 'availabilityImpact'],
  ]);
  return ratingOf(metrics, fields.score, '2.0');
}

function metricsOf(fields: Fields, metrics: readonly (readonly [string, string])[]): string | null {
  const parts = metrics.map(([metric, field]) => [metric, fields[field]?.[0]?.toUpperCase()]);
  return parts.every(([, letter]) => letter !== undefined) ? parts.map(([metric, letter]) => `${metric}:${letter}`).join('/') : null;
}
