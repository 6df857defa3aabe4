import { isIP } from 'node:net';
import type { Asset, AssetIdentifier, Location, Observation, ReportItem, Severity } from '../contract.ts';

/** What formats have in common: severities, ids, assets, and records that fail without taking the report along. */

type Loose<T> = { [Key in keyof T]?: T[Key] | undefined };
type Given = Pick<Observation, 'place' | 'tool' | 'title' | 'severity'> & Loose<Omit<Observation, 'location'>> & { location?: Loose<Location> };

const LONGEST_TITLE = 500;
const LONGEST_TEXT = 16_000;
const LONGEST_NAME = 1_000;

/** An observation with everything that is not given at its empty value, and texts within bounds. */
export function observation(given: Given): Observation {
  return {
    place: given.place,
    tool: name(given.tool),
    rule: given.rule ? name(given.rule) : null,
    external_id: given.external_id ? name(given.external_id) : null,
    title: cut(given.title, LONGEST_TITLE) || 'Untitled',
    description: given.description ? cut(given.description, LONGEST_TEXT) : null,
    solution: given.solution ? cut(given.solution, LONGEST_TEXT) : null,
    severity: given.severity,
    tool_severity: given.tool_severity ? cut(given.tool_severity, 100) : null,
    vulnerability_ids: vulnerabilityIds(...(given.vulnerability_ids ?? [])),
    cwes: [...new Set(given.cwes ?? [])].slice(0, 50),
    cvss: (given.cvss ?? []).slice(0, 10),
    references: [...new Set(given.references ?? [])].slice(0, 50).map((reference) => cut(reference, 2_000)),
    asset: given.asset ? boundedAsset(given.asset) : null,
    location: boundedLocation(given.location ?? {}),
    present: given.present ?? true,
    suppressed: given.suppressed ?? false,
    first_seen: given.first_seen ?? null,
    last_seen: given.last_seen ?? null,
    tags: [...new Set((given.tags ?? []).map((tag) => cut(tag, 100)).filter((tag) => tag !== ''))].slice(0, 50),
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

/** Printable ASCII with single spaces inside: nothing to do, as for nearly every name. */
function isPlain(text: string): boolean {
  return text.length <= 200 && /^[!-~]+(?: [!-~]+)*$/.test(text);
}

function cut(text: string, length: number): string {
  if (isPlain(text) && text.length <= length) return text;
  const clean = text.replaceAll(CONTROL, '').trim();
  if (clean.length <= length) return clean.isWellFormed() ? clean : clean.toWellFormed();
  return `${clean.slice(0, length - 1).toWellFormed()}…`;
}

/** Names take part in the identity: cut without a mark, and white space counts once. */
export function name(text: string): string {
  if (isPlain(text)) return text;
  return text.replaceAll(CONTROL, '').replaceAll(/\s+/g, ' ').trim().slice(0, LONGEST_NAME).toWellFormed();
}

function boundedAsset(asset: Asset): Asset {
  const identifiers = (asset.identifiers ?? []).map(({ kind, value }) => ({ kind, value: name(value) })).filter(({ value }) => value !== '');
  return { type: asset.type, name: name(asset.name), ...(identifiers.length > 0 ? { identifiers: identifiers.slice(0, 50) } : {}) };
}

function boundedLocation(location: Loose<Location>): Location {
  const entries = Object.entries(location).flatMap(([key, value]) => {
    const bounded = typeof value === 'string' ? name(value) : value;
    return bounded === undefined || bounded === '' ? [] : [[key, bounded]];
  });
  return Object.fromEntries(entries) as Location;
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

/** The usual words of the usual tools; a format whose words mean something else maps them itself. */
export function severityOf(word: string | undefined): Severity {
  return SEVERITY_WORDS[(word ?? '').trim().toLowerCase()] ?? 'unknown';
}

/** CVSS v3 and v4 qualitative scale. */
export function severityOfScore(score: number | undefined): Severity {
  if (score === undefined || score < 0 || score > 10) return 'unknown';
  if (score >= 9) return 'critical';
  if (score >= 7) return 'high';
  if (score >= 4) return 'medium';
  return score > 0 ? 'low' : 'info';
}

const PUBLIC_ID = /\b(?:CVE-\d{4}-\d{4,19}|GHSA(?:-[23456789cfghjmpqrvwx]{4}){3})\b/gi;

/** CVE and GHSA ids anywhere in some texts. */
export function idsIn(...texts: (string | null | undefined)[]): string[] {
  return vulnerabilityIds(...texts.flatMap((text) => text?.match(PUBLIC_ID) ?? []));
}

/** Upper case, CVE first, then GHSA, then others, no repeats. */
export function vulnerabilityIds(...ids: (string | undefined)[]): string[] {
  const unique = new Set<string>();
  for (const id of ids) if (id?.trim()) unique.add(canonicalId(id.trim()));
  if (unique.size < 2) return [...unique];
  const rank = (id: string): number => (id.startsWith('CVE-') ? 0 : id.startsWith('GHSA-') ? 1 : 2);
  return [...unique].sort((a, b) => rank(a) - rank(b)).slice(0, 200);
}

/** GHSA ids are written with lower-case blocks; all others in upper case. */
function canonicalId(id: string): string {
  return /^ghsa-/i.test(id) ? `GHSA${id.slice(4).toLowerCase()}` : id.toUpperCase().slice(0, 200);
}

/** 79 from 79, "79", "CWE-79: …", "cwe-079", "external/cwe/cwe-079"; 0 and -1 mean none. */
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
  /** What the report calls it, if that says nothing about its kind. */
  given?: string | undefined;
}

/** A host under its best name: FQDN, else host name, else address; all names as identifiers. */
export function hostAsset(names: HostNames): Asset {
  const given = names.given?.trim();
  const found: HostNames = { ...names };
  // Some tools repeat the address where a name should be.
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

/** The web application that an address belongs to: its origin. Null when it is no address. */
export function webAsset(url: string | undefined): Asset | null {
  const parsed = parseUrl(url);
  if (!parsed) return null;
  const host = parsed.hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return { type: 'web_application', name: originOf(parsed), identifiers: [{ kind: isIp(host) ? 'ip' : 'fqdn', value: host }] };
}

/** `URL.origin` knows the schemes of the web only. */
function originOf(url: URL): string {
  return url.origin === 'null' ? `${url.protocol}//${url.host}` : url.origin;
}

/** A repository by its address: without what may be a credential in it, and without ".git". */
export function repositoryAsset(address: string | undefined): Asset | null {
  const name = address
    ?.trim()
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, '$1')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
  return name ? { type: 'repository', name } : null;
}

export function parseUrl(url: string | undefined): URL | null {
  // A path without a host is no address.
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
 * The address without query and fragment: the place of a weakness, not one request to it. The path stays as it was sent: where dots
 * and escapes in it are the attack, their resolved form is another place.
 */
export function urlPlace(url: string | undefined): string | undefined {
  const parsed = parseUrl(url);
  if (parsed === null || url === undefined) return undefined;
  const [, path] = /^[^:]+:\/\/[^/?#\\]*([^?#]*)/.exec(withScheme(url.trim())) ?? [];
  return `${originOf(parsed)}${path || parsed.pathname}`;
}

/** "C:\\a\\b" and "./a/b" and "file:///a/b" in one form. Other addresses stay as they are. */
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

/** Product and version of a CPE name (2.2 or 2.3); Tenable's p-cpe names a package in place of the version. */
export function cpeComponent(cpe: string | undefined): { component?: string; version?: string } {
  const [, packaged, parts = ''] = /^(p-|x-)?cpe:(?:\/|2\.3:)[aoh]:(.*)$/i.exec(cpe?.trim() ?? '') ?? [];
  const [, product, version] = parts.split(/(?<!\\):/).map(cpeText);
  const isPackage = packaged?.toLowerCase() === 'p-' && version !== undefined;
  const component = isPackage ? version : product;
  if (component === undefined) return {};
  return { component, ...(isPackage || version === undefined ? {} : { version }) };
}

function cpeText(part: string): string | undefined {
  const text = part.replaceAll('\\', '').replaceAll(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  return text === '' || text === '*' || text === '-' ? undefined : text;
}

/** One record: what it is made into, or why it cannot be. A record never takes the rest of the report down. */
export function* record(place: string, make: () => Observation | readonly Observation[] | null): Generator<ReportItem> {
  let made: Observation | readonly Observation[] | null;
  try {
    made = make();
  } catch (error) {
    yield { rejection: { place, reason: error instanceof RecordError ? error.message : 'the record has not the expected shape' } };
    return;
  }
  for (const one of made === null ? [] : [made].flat()) yield { observation: one };
}

/** Thrown inside of `record`: the record is refused for this reason. */
export class RecordError extends Error {}

export function required(value: string | undefined, field: string): string {
  if (value === undefined || value === '') throw new RecordError(`${field} is missing`);
  return value;
}
