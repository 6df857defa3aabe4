import { isIP } from 'node:net';
import type { Analysis, Asset, AssetIdentifier, Location, Observation, ReportItem, Severity } from '../contract.ts';
import { boundedAsset } from '../names/bounded-asset.ts';
import { name, truncate } from '../names/clean-text.ts';
import { packageName, parsePurl } from './purl.ts';

type Loose<T> = { [Key in keyof T]?: T[Key] | undefined };
type Given = Pick<Observation, 'place' | 'tool' | 'title' | 'severity'> & Loose<Omit<Observation, 'location'>> & { location?: Loose<Location> };

const MAX_TITLE = 500;
const MAX_TEXT = 16_000;
const MAX_SNIPPET = 500;

/** Builds an observation: fills missing fields with empty values and limits the length of texts and lists. */
export function observation(given: Given): Observation {
  return {
    place: given.place,
    tool: name(given.tool),
    rule: given.rule ? name(given.rule) : null,
    external_id: given.external_id ? name(given.external_id) : null,
    title: truncate(given.title, MAX_TITLE) || 'Untitled',
    description: given.description ? truncate(given.description, MAX_TEXT) : null,
    solution: given.solution ? truncate(given.solution, MAX_TEXT) : null,
    severity: given.severity,
    tool_severity: given.tool_severity ? truncate(given.tool_severity, 100) : null,
    vulnerability_ids: vulnerabilityIds(...(given.vulnerability_ids ?? [])),
    cwes: [...new Set(given.cwes ?? [])].slice(0, 50),
    cvss: (given.cvss ?? []).slice(0, 10),
    references: [...new Set(given.references ?? [])].slice(0, 50).map((reference) => truncate(reference, 2_000)),
    asset: given.asset ? boundedAsset(given.asset) : null,
    location: withPackage(boundedLocation(given.location ?? {})),
    present: given.present ?? true,
    suppressed: given.suppressed ?? false,
    first_seen: given.first_seen ?? null,
    last_seen: given.last_seen ?? null,
    tags: [...new Set((given.tags ?? []).map((tag) => truncate(tag, 100)).filter((tag) => tag !== ''))].slice(0, 50),
    ...stated(given),
  };
}

/** Fields that few reports have. They are absent from the others. */
function stated(given: Given): Partial<Observation> {
  const { severity_source, epss, exploit_maturity, fix_state, fix_published_date, analysis } = given;
  const known_exploited = given.known_exploited || exploit_maturity === 'attacked';
  const malicious = given.malicious || isMalware(given);
  return {
    ...(severity_source ? { severity_source: name(severity_source).toLowerCase().slice(0, 100) } : {}),
    ...(epss && epss.score >= 0 && epss.score <= 1 ? { epss } : {}),
    ...(exploit_maturity ? { exploit_maturity } : {}),
    ...(known_exploited ? { known_exploited } : {}),
    ...(malicious ? { malicious } : {}),
    ...(fix_state ? { fix_state } : {}),
    ...(fix_published_date ? { fix_published_date } : {}),
    ...(analysis ? { analysis: boundedAnalysis(analysis) } : {}),
  };
}

/** OSV ids of malicious packages start with MAL. GitHub and npm use CWE-506 (embedded malicious code) and a fixed title. */
function isMalware({ vulnerability_ids = [], cwes = [], title }: Given): boolean {
  return vulnerability_ids.some((id) => id.startsWith('MAL-')) || (cwes.includes(506) && /^(?:malware|malicious (?:code|package))\b/i.test(title));
}

function boundedAnalysis(analysis: Analysis): Analysis {
  const entries = Object.entries(analysis).flatMap(([key, text]) => (text?.trim() ? [[key, truncate(text, 2_000)]] : []));
  return Object.fromEntries(entries) as Analysis;
}

/** A loop over the keys, because this runs for every record and lists of entries are slower. */
function boundedLocation(location: Loose<Location>): Location {
  const bounded: Record<string, string | number> = {};
  for (const key in location) {
    const value = location[key as keyof Location];
    if (typeof value === 'number') bounded[key] = value;
    if (typeof value !== 'string') continue;
    const text = name(value);
    if (text !== '') bounded[key] = key === 'snippet' ? text.slice(0, MAX_SNIPPET) : text;
  }
  return bounded as Location;
}

/** Not every report that has the package URL of a component repeats its name and version, by which people search. */
function withPackage(location: Location): Location {
  // Slashes after the scheme mean nothing.
  if (location.purl?.startsWith('pkg:/')) return withPackage({ ...location, purl: location.purl.replace(/^pkg:\/+/, 'pkg:') });
  if (location.purl === undefined || (location.component !== undefined && location.version !== undefined)) return location;
  const purl = parsePurl(location.purl);
  if (!purl) return location;
  return boundedLocation({ component: packageName(purl.namespace, purl.name, purl.type), version: purl.version, ...location });
}

const SEVERITY_WORDS: Readonly<Record<string, Severity>> = {
  critical: 'critical',
  defcon1: 'critical',
  fatal: 'critical',
  urgent: 'critical',
  blocker: 'critical',
  severe: 'high',
  high: 'high',
  important: 'high',
  error: 'high',
  serious: 'high',
  major: 'high',
  medium: 'medium',
  moderate: 'medium',
  warning: 'medium',
  warn: 'medium',
  low: 'low',
  minor: 'low',
  minimal: 'low',
  note: 'low',
  style: 'info',
  negligible: 'info',
  info: 'info',
  informational: 'info',
  information: 'info',
  log: 'info',
  none: 'info',
  debug: 'info',
};

/** Maps the common severity words. A format whose words have another meaning maps them itself. */
export function severityOf(word: string | undefined): Severity {
  const known = (word ?? '').trim().toLowerCase();
  return (Object.hasOwn(SEVERITY_WORDS, known) ? SEVERITY_WORDS[known] : undefined) ?? 'unknown';
}

/** Maps a score by the qualitative scale of CVSS v3 and v4. */
export function severityOfScore(score: number | undefined): Severity {
  if (score === undefined || score < 0 || score > 10) return 'unknown';
  if (score >= 9) return 'critical';
  if (score >= 7) return 'high';
  if (score >= 4) return 'medium';
  return score > 0 ? 'low' : 'info';
}

const PUBLIC_ID = /\b(?:CVE-\d{4}-\d{4,19}|GHSA(?:-[23456789cfghjmpqrvwx]{4}){3})\b/gi;

/** Returns the CVE and GHSA ids that occur in the texts. */
export function idsIn(...texts: (string | null | undefined)[]): string[] {
  return vulnerabilityIds(...texts.flatMap((text) => text?.match(PUBLIC_ID) ?? []));
}

/** Returns canonical ids without duplicates: CVE first, then GHSA, then others. */
export function vulnerabilityIds(...ids: (string | undefined)[]): string[] {
  const unique = new Set<string>();
  for (const id of ids) if (id?.trim()) unique.add(canonicalId(id.trim()));
  if (unique.size < 2) return [...unique];
  const rank = (id: string): number => (id.startsWith('CVE-') ? 0 : id.startsWith('GHSA-') ? 1 : 2);
  return [...unique].sort((a, b) => rank(a) - rank(b)).slice(0, 200);
}

/** GHSA ids have lower-case blocks, all others are upper case. */
function canonicalId(id: string): string {
  return /^ghsa-/i.test(id) ? `GHSA${id.slice(4).toLowerCase()}` : id.toUpperCase().slice(0, 200);
}

/** Reads 79 from 79, "79", "CWE-79: …", "cwe-079" and "external/cwe/cwe-079". Tools write 0 or -1 for "no CWE". */
export function cwesOf(...values: unknown[]): number[] {
  const numbers = values.flat(3).flatMap((value) => {
    if (typeof value === 'number') return [value];
    if (typeof value !== 'string') return [];
    const named = [...value.matchAll(/cwe[-_ :/#]*0*(\d{1,5})/gi)].map(([, digits]) => Number(digits));
    return named.length > 0 ? named : /^\s*\d{1,5}\s*$/.test(value) ? [Number(value)] : [];
  });
  return [...new Set(numbers.filter((number) => Number.isInteger(number) && number > 0 && number < 100_000))];
}

export function isIp(value: string): boolean {
  return isIP(value) !== 0;
}

interface HostNames {
  fqdn?: string | undefined;
  hostname?: string | undefined;
  ip?: string | undefined;
  netbios?: string | undefined;
  mac?: string | undefined;
  /** A name of unknown kind. */
  given?: string | undefined;
}

/** Names a host by its FQDN, otherwise its host name, NetBIOS name or address. All names become identifiers. */
export function hostAsset(names: HostNames): Asset {
  const given = names.given?.trim();
  const found: HostNames = { ...names };
  // Some tools write the address into the name field.
  if (found.fqdn && isIp(found.fqdn.trim())) {
    found.ip ??= found.fqdn;
    found.fqdn = undefined;
  }
  if (given && isIp(given)) found.ip ??= given;
  else if (given?.includes('.')) found.fqdn ??= given;
  else if (given) found.hostname ??= given;
  const kinds = ['fqdn', 'hostname', 'netbios', 'ip', 'mac'] as const;
  const identifiers: AssetIdentifier[] = kinds.flatMap((kind) => {
    const value = found[kind]?.trim().toLowerCase().replace(/\.$/, '');
    return value ? [{ kind, value }] : [];
  });
  return { type: 'host', name: identifiers[0]?.value ?? 'unspecified', identifiers };
}

/** Returns the web application of a URL, named by its origin. Null if the text is not a URL. */
export function webAsset(url: string | undefined): Asset | null {
  const parsed = parseUrl(url);
  if (!parsed) return null;
  const host = parsed.hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return { type: 'web_application', name: originOf(parsed), identifiers: [{ kind: isIp(host) ? 'ip' : 'fqdn', value: host }] };
}

/** `URL.origin` is "null" for schemes that are not web schemes. */
function originOf(url: URL): string {
  return url.origin === 'null' ? `${url.protocol}//${url.host}` : url.origin;
}

/** Names a repository by its URL, without credentials and without ".git". */
export function repositoryAsset(address: string | undefined): Asset | null {
  const name = address
    ?.trim()
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, '$1')
    .replace(/(?<!\/)\/+$/, '')
    .replace(/\.git$/, '');
  return name ? { type: 'repository', name } : null;
}

export function parseUrl(url: string | undefined): URL | null {
  // A path without a host is not a URL.
  if (!url || /^(?:\/(?!\/)|[?#\\])/.test(url)) return null;
  const text = withScheme(url);
  if (!URL.canParse(text)) return null;
  const parsed = new URL(text);
  return parsed.hostname === '' ? null : parsed;
}

function withScheme(url: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url.replace(/^\/\//, '')}`;
}

/**
 * Returns the URL without query and fragment, which identify a request rather than a location. The path stays as it was sent: if
 * dots and escapes are the attack, the resolved path is another location.
 */
export function urlPlace(url: string | undefined): string | undefined {
  const parsed = parseUrl(url);
  if (parsed === null || url === undefined) return undefined;
  const [, path] = /^[^:]+:\/\/[^/?#\\]*([^?#]*)/.exec(withScheme(url.trim())) ?? [];
  return `${originOf(parsed)}${path || parsed.pathname}`;
}

/** Brings "C:\\a\\b", "./a/b" and "file:///a/b" into one form. URLs with other schemes stay unchanged. */
export function filePath(path: string | undefined): string | undefined {
  if (!path) return undefined;
  if (/^(?!file:)[a-z][a-z0-9+.-]+:\/\//i.test(path)) return path;
  const clean = path
    .replace(/^file:\/\//i, '')
    .replaceAll('\\', '/')
    .replace(/^(?:\.\/)+/, '')
    .replaceAll(/\/{2,}/g, '/')
    .replace(/^\/([a-z]:\/)/i, '$1');
  return clean === '' ? undefined : clean;
}

/** Converts one record to observations, or to a rejection if `make` throws. A bad record never stops the rest of the report. */
export function record(place: string, make: () => Observation | readonly Observation[] | null): ReportItem[] {
  try {
    const made = make();
    return made === null ? [] : [made].flat().map((observation) => ({ observation }));
  } catch (error) {
    return [{ rejection: { place, reason: error instanceof RecordError ? error.message : 'the record does not have the expected shape' } }];
  }
}

/** Thrown inside `record` to reject the record. The message is the reason that users see. */
export class RecordError extends Error {}

export function required(value: string | undefined, field: string): string {
  if (value === undefined || value === '') throw new RecordError(`${field} is missing`);
  return value;
}
