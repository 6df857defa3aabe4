import type { Location, Observation } from '@rrs/scan-reports';
import type { Hex } from '../../db/copy.ts';
import { digest } from './digest.ts';

/**
 * What makes two observations the same finding: the same weakness, on the same asset, at the same location. Free text takes no part: titles and
 * descriptions change from one version of a tool to the next.
 */
export interface Identity {
  weakness: string;
  /** Other ids of the same vulnerability, which other tools may use. */
  aliases: string[];
  identityKey: Hex;
}

export function identityOf(observation: Observation): Identity {
  return { ...weaknessOf(observation), identityKey: digest(locationKey(observation.location)) };
}

/**
 * A CVE identifies one vulnerability across tools. A check that covers several vulnerabilities, or none with a public id, is identified by the
 * tool's own rule.
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

/** Prefixes of ids that identify one vulnerability each. An erratum (RHSA, USN, DSA) fixes several and identifies none. */
const ONE_VULNERABILITY = /^(?:GHSA|SNYK|PYSEC|GO|RUSTSEC|GSD|OSV|MAL|GMS|HSEC|RSEC|PSF|NSWG|NPM)-/;

/** A component is identified by its name regardless of its files, code by file and fingerprint or line, services by port, pages by URL. */
function locationKey(location: Location): readonly (string | number)[] {
  const component = componentKey(location);
  if (component !== null) return ['component', component];
  const { path, fingerprint, resource, line, url, method, parameter, port, protocol } = location;
  if (path !== undefined) return ['file', path, fingerprint ?? resource ?? line ?? ''];
  if (url !== undefined) return ['url', url, method?.toUpperCase() ?? '', parameter ?? ''];
  if (port !== undefined) return ['port', port, protocol?.toLowerCase() ?? ''];
  if (resource !== undefined) return ['resource', resource];
  return fingerprint === undefined ? ['asset'] : ['fingerprint', fingerprint];
}

const DISTRIBUTIONS = new Set(['deb', 'rpm', 'apk', 'alpm', 'apkg']);

/** The name without version, the same for all tools where possible: namespace and name of the package URL, otherwise the name as given. */
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
