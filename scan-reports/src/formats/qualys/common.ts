import type { Asset, AssetIdentifier, Cvss, Severity } from '../../contract.ts';
import { hostAsset } from '../../shared/normalize.ts';
import { ratingOf } from '../../shared/ratings.ts';
import { date, num, plain, str } from '../../shared/read.ts';
import { child, childText, type XmlElement } from '../../xml/elements.ts';

/** Levels 1 to 5, which Qualys calls Minimal, Medium, Serious, Critical and Urgent. */
const LEVELS: readonly Severity[] = ['info', 'low', 'medium', 'high', 'critical'];

/** Gathered information also has a level, but is not a weakness. */
export function severityOfLevel(level: string | undefined, type: string | undefined): Severity {
  if (/^(?:ig|info|information)/i.test(type ?? '')) return 'info';
  return LEVELS[Number(level ?? Number.NaN) - 1] ?? 'unknown';
}

export function tagsOf(category: string | undefined, type: string | undefined): string[] {
  return [...(category ? [category] : []), ...(/^(?:practice|potential)/i.test(type ?? '') ? ['potential'] : [])];
}

/** Parses "9.3 (AV:N/AC:M/Au:N/C:C/I:C/A:C)", or only the score. */
export function cvssOf(text: string | undefined, version?: string): Cvss[] {
  const [, score, vector] = /^\s*(\d+(?:\.\d+)?)\s*(?:\(([^)]+)\))?/.exec(text ?? '') ?? [];
  if (vector === undefined || !vector.startsWith('AV:')) return ratingOf(undefined, score, version ?? '2.0');
  const number = num(score);
  return [{ vector: version === undefined ? vector : `CVSS:${version}/${vector}`, ...(number === undefined ? {} : { score: number }) }];
}

/** Like `date`, and also accepts "12 Mar 2020 04:42PM GMT-0400". */
export function dateOf(text: string | undefined): Date | null {
  return date(text?.replace(/(\d)([AP]M)\b/, '$1 $2'));
}

/** Joins threat, impact and result. */
export function describe(threat: string | undefined, impact: string | undefined, result: string | undefined): string {
  return [readable(threat), readable(impact), str(result)].filter(Boolean).join('\n\n');
}

/** Converts HTML to text. Qualys starts paragraphs with <P> and does not close them. */
export function readable(html: string | undefined): string | null {
  return plain(presentText(html)?.replaceAll(/<p>\s*/gi, '\n'));
}

/** "N/A", "-" and "'-" mean that there is no value. */
export function presentText(text: string | undefined): string | undefined {
  return /^'?(?:-|N\/?A)$/i.test(text ?? '') ? undefined : str(text);
}

/** Returns the text of the named child of every entry in a list. */
export function textsIn(element: XmlElement | undefined, list: string, name: string): string[] {
  const entries = element && child(element, list);
  return entries ? entries.children.flatMap((entry) => str(childText(entry, name)) ?? []) : [];
}

interface Names {
  ips: readonly (string | undefined)[];
  dns?: string | undefined;
  netbios?: string | undefined;
  agent?: string | undefined;
  cloud?: string | undefined;
}

export function assetOf({ ips, dns, netbios, agent, cloud }: Names): Asset | null {
  const addresses = ips.flatMap((ip) => presentText(ip)?.split(/[\s,;]+/) ?? []).filter((ip) => ip !== '');
  const [name, bios] = [presentText(dns), presentText(netbios)];
  if (addresses.length === 0 && name === undefined && bios === undefined) return null;
  const asset = hostAsset({ given: name, netbios: bios, ip: addresses[0] });
  const further: AssetIdentifier[] = [
    ...addresses.slice(1).map((value) => ({ kind: 'ip' as const, value: value.toLowerCase() })),
    ...(agent ? [{ kind: 'agent_id' as const, value: agent }] : []),
    ...(cloud ? [{ kind: 'cloud_id' as const, value: cloud }] : []),
  ];
  return { ...asset, identifiers: [...(asset.identifiers ?? []), ...further] };
}

/** Returns the versions in "External (IP: 192.0.2.1, Scanner: 11.8.30-1, WAS: 7.6.34-1, Signatures: 2.4.841-2)". */
export function scannerFacts(text: string | undefined): { tool_version: string | undefined; knowledge: string | undefined } {
  const value = (label: string): string | undefined => new RegExp(`\\b${label}:? (\\d[\\w.-]*)`).exec(text ?? '')?.[1];
  return { tool_version: value('Scanner'), knowledge: value('Signatures') };
}
