import type { Location, Observation } from '@rrs/scan-reports';
import type { Hex } from '../../db/copy.ts';
import { digest } from './digest.ts';

/**
 * What makes two observations the same finding: the same weakness, on the same asset, at the same place. Never free text:
 * titles and descriptions change from one version of a tool to the next.
 */
export interface Identity {
  weakness: string;
  /** Other ids of the same vulnerability, by which other tools may know it. */
  aliases: string[];
  place: Hex;
}

export function identityOf(observation: Observation): Identity {
  return { ...weaknessOf(observation), place: digest(placeOf(observation.location)) };
}

/**
 * One vulnerability is known by its CVE across tools. A check that stands for several vulnerabilities, or for none with a
 * public id, is known by the tool's own name for it.
 */
function weaknessOf({ vulnerability_ids: ids, tool, rule }: Observation): { weakness: string; aliases: string[] } {
  const ranked = [...ids].sort((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1));
  const [first, second] = ranked;
  const several = first !== undefined && second !== undefined && rankOf(first) < 2 && rankOf(first) === rankOf(second);
  if (first !== undefined && !several) return { weakness: first, aliases: ranked.slice(1).filter((id) => ONE_VULNERABILITY.test(id)) };
  if (rule !== null) return { weakness: `${tool}:${rule}`, aliases: [] };
  return { weakness: ranked.join('+').slice(0, 500), aliases: [] };
}

function rankOf(id: string): number {
  return id.startsWith('CVE-') ? 0 : id.startsWith('GHSA-') ? 1 : 2;
}

/** Ids that stand for one vulnerability each. An erratum (RHSA, USN, DSA …) fixes many and is a name of none. */
const ONE_VULNERABILITY = /^(?:GHSA|SNYK|PYSEC|GO|RUSTSEC|GSD|OSV|MAL|GMS|HSEC|RSEC|PSF|NSWG|NPM)-/;

/** A component is the place wherever its files lie; code is placed by file and mark or line; services by port; pages by address. */
function placeOf(location: Location): readonly (string | number)[] {
  const component = componentKey(location);
  if (component !== null) return ['component', component];
  const { path, fingerprint, resource, line, url, method, parameter, port, protocol } = location;
  if (path !== undefined) return ['file', path, fingerprint ?? resource ?? line ?? ''];
  if (url !== undefined) return ['url', url, method?.toUpperCase() ?? '', parameter ?? ''];
  if (port !== undefined) return ['port', port, protocol?.toLowerCase() ?? ''];
  if (resource !== undefined) return ['resource', resource];
  return fingerprint === undefined ? ['asset'] : ['mark', fingerprint];
}

const DISTRIBUTIONS = new Set(['deb', 'rpm', 'apk', 'alpm', 'apkg']);

/** Name without version, as far as possible the same for all tools: namespace and name of a package URL, else the name as given. */
function componentKey({ purl, component }: Location): string | null {
  const [, type = '', path = ''] = /^pkg:([\w.+-]+)\/([^@?#]+)/.exec(purl ?? '') ?? [];
  if (path !== '') {
    const parts = path.split('/').map(decode);
    return (DISTRIBUTIONS.has(type.toLowerCase()) ? (parts.at(-1) ?? path) : parts.join('/')).toLowerCase();
  }
  return component === undefined ? null : component.replaceAll(':', '/').toLowerCase();
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
