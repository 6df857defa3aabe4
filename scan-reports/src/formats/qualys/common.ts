import type { Asset, AssetIdentifier, Cvss, Severity } from '../../contract.ts';
import { hostAsset } from '../../shared/normalize.ts';
import { date, num, plain, str } from '../../shared/read.ts';
import { child, childText, type XmlElement } from '../../xml/elements.ts';

/** Minimal, Medium, Serious, Critical, Urgent are Qualys' names of its levels. */
const LEVELS: readonly Severity[] = ['info', 'low', 'medium', 'high', 'critical'];

/** Information that was gathered has a level, too, but is no weakness. */
export function severityOfLevel(level: string | undefined, type: string | undefined): Severity {
  if (/^(?:ig|info|information)/i.test(type ?? '')) return 'info';
  return LEVELS[Number(level ?? Number.NaN) - 1] ?? 'unknown';
}

export function tagsOf(category: string | undefined, type: string | undefined): string[] {
  return [...(category ? [category] : []), ...(/^(?:practice|potential)/i.test(type ?? '') ? ['potential'] : [])];
}

/** "9.3 (AV:N/AC:M/Au:N/C:C/I:C/A:C)"; a score alone says nothing that could be checked. */
export function cvssOf(text: string | undefined, version?: string): Cvss[] {
  const [, score, vector] = /^\s*(\d+(?:\.\d+)?)\s*\(([^)]+)\)/.exec(text ?? '') ?? [];
  if (vector === undefined || !vector.startsWith('AV:')) return [];
  const number = num(score);
  return [{ vector: version === undefined ? vector : `CVSS:${version}/${vector}`, ...(number === undefined ? {} : { score: number }) }];
}

/** Also "12 Mar 2020 04:42PM GMT-0400". */
export function when(text: string | undefined): Date | null {
  return date(text?.replace(/(\d)([AP]M)\b/, '$1 $2'));
}

/** What was found, after what it means: threat, impact, result. */
export function describe(threat: string | undefined, impact: string | undefined, result: string | undefined): string {
  return [readable(threat), readable(impact), str(result)].filter(Boolean).join('\n\n');
}

/** Qualys' paragraphs begin with <P> and do not end. */
export function readable(html: string | undefined): string | null {
  return plain(meant(html)?.replaceAll(/<p>\s*/gi, '\n'));
}

/** "N/A", "-" and "'-" stand for nothing. */
export function meant(text: string | undefined): string | undefined {
  return /^'?(?:-|N\/?A)$/i.test(text ?? '') ? undefined : str(text);
}

/** Texts of elements of a kind at any depth, as the lists of references have them. */
export function textsIn(element: XmlElement | undefined, list: string, name: string): string[] {
  const holder = element && child(element, list);
  return holder ? holder.children.flatMap((entry) => str(childText(entry, name)) ?? []) : [];
}

interface Names {
  ips: readonly (string | undefined)[];
  dns?: string | undefined;
  netbios?: string | undefined;
  agent?: string | undefined;
  cloud?: string | undefined;
}

export function assetOf({ ips, dns, netbios, agent, cloud }: Names): Asset | null {
  const addresses = ips.flatMap((ip) => meant(ip)?.split(/[\s,;]+/) ?? []).filter((ip) => ip !== '');
  const [name, bios] = [meant(dns), meant(netbios)];
  if (addresses.length === 0 && name === undefined && bios === undefined) return null;
  const asset = hostAsset({ given: name, netbios: bios, ip: addresses[0] });
  const further: AssetIdentifier[] = [
    ...addresses.slice(1).map((value) => ({ kind: 'ip' as const, value: value.toLowerCase() })),
    ...(agent ? [{ kind: 'agent_id' as const, value: agent }] : []),
    ...(cloud ? [{ kind: 'cloud_id' as const, value: cloud }] : []),
  ];
  return { ...asset, identifiers: [...(asset.identifiers ?? []), ...further] };
}
