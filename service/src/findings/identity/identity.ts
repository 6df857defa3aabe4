import type { Location, Observation } from '@rrs/scan-reports';
import { remembered } from '@rrs/scan-reports/remembered.ts';
import { normalOrigin, normalUrl } from '../../assets/names/web.ts';
import type { Hex } from '../../db/copy.ts';
import { type Component, componentOf } from './component.ts';
import { digest } from './digest.ts';
import { normalPath, withoutVersion } from './paths.ts';

/**
 * What makes two observations the same finding: the same weakness, on the same asset, with the same identity key. Free text takes no part: titles and
 * descriptions change from one version of a tool to the next.
 */
export interface Identity {
  weakness: string;
  /** Other ids of the same vulnerability, which other tools may use. */
  aliases: string[];
  identityKey: Hex;
  /** Null if the identity key is not that of a component. */
  component: Component | null;
  /** Which of the finding's occurrences it is. Several occurrences of one finding differ in it. */
  place: string;
  /** The place for people: `path app/lib/x.jar`, `GET https://shop.example.com/a (id)`. */
  placeLabel: string;
}

export function identityOf(observation: Observation): Identity {
  const { location } = observation;
  const component = componentOf(location);
  const [place, placeLabel] = placeOf(location, component);
  return {
    ...weaknessOf(observation),
    identityKey: component ? componentIdentity(component.key) : digest(locationKey(location)),
    component,
    place: place.join('\n'),
    placeLabel: placeLabel.slice(0, 500),
  };
}

/** The identity key of what is in a component. */
export const componentIdentity = remembered((key: string): Hex => digest(['component', key]));

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

type Key = readonly (string | number)[];

/**
 * The identity of what is not a component: code by file and fingerprint or line, a check of a web application by its origin, a service by port. All
 * pages on which a scanner finds the same weakness are one finding with several places, because one change in the application fixes them.
 */
function locationKey({ path, fingerprint, resource, line, url, port, protocol }: Location): Key {
  if (path !== undefined) return ['file', normalPath(path), fingerprint ?? resource ?? line ?? ''];
  if (url !== undefined) return ['web', normalOrigin(url) ?? ''];
  if (port !== undefined) return ['port', port, protocol?.toLowerCase() ?? ''];
  if (resource !== undefined) return ['resource', resource];
  return fingerprint === undefined ? ['asset'] : ['fingerprint', fingerprint];
}

/** The place and its label. Lines and versions are not part of a place, because they change without the place being another one. */
function placeOf(location: Location, component: Component | null): [Key, string] {
  const { path, url, method, parameter, resource, port, protocol } = location;
  // A distribution's packages all have the same path, that of the package database.
  if (component?.binary) return [['package', component.binary], `package ${component.binary}`];
  if (path !== undefined) {
    const file = normalPath(path);
    return [['path', component ? withoutVersion(file, location.version) : file], `path ${file}`];
  }
  if (url !== undefined) {
    const [page, verb] = [normalUrl(url), method?.toUpperCase() ?? ''];
    return [['url', verb, page, parameter ?? ''], `${verb} ${page}${parameter ? ` (${parameter})` : ''}`.trim()];
  }
  if (port !== undefined) {
    const name = `${port}${protocol ? `/${protocol.toLowerCase()}` : ''}`;
    return [['port', name], `port ${name}`];
  }
  // The resource that has a component is the scanned asset itself, often with its digest.
  if (component) return [['component', component.key], `component ${component.name}`];
  return resource === undefined ? [['asset'], 'asset'] : [['resource', resource], `resource ${resource}`];
}
