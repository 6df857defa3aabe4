import type { Asset, Observation } from '@rrs/scan-reports';
import { normalAsset } from '../../assets/names/asset-name.ts';
import { assetKeys } from '../../assets/recognize/keys.ts';
import { type Component, componentOf, sameComponent } from '../../findings/identity/component.ts';
import { identityOf } from '../../findings/identity/identity.ts';
import { normalPath } from '../../findings/identity/paths.ts';
import type { Claim } from './claims.ts';

/** How a record of a report relates to a finding. */
export type Relation =
  /** It is a record of the finding. */
  | 'same'
  /** The same weakness in the same component, on an asset that the report calls something else. */
  | 'other_asset'
  /** The same check in the same file, at another line. */
  | 'other_line'
  /** The same component and asset, under an ID that the package does not list as an alias. */
  | 'other_id';

/** A finding of the package, prepared for comparison with records. */
export interface Target {
  claim: Claim;
  ids: ReadonlySet<string>;
  components: Component[];
  assetKeys: ReadonlySet<string>;
  places: ReadonlySet<string>;
}

export function targetOf(claim: Claim): Target {
  const { asset, component, purl } = claim;
  const named = componentOf({ ...(component === null ? {} : { component }), ...(purl === null ? {} : { purl }) });
  // A distribution's finding is shown by its source package, and its places are the installed packages.
  const installed = claim.occurrences.flatMap(({ place }) =>
    place.startsWith('package ') ? (componentOf({ component: place.slice('package '.length) }) ?? []) : [],
  );
  return {
    claim,
    ids: new Set([claim.weakness, ...claim.cves]),
    components: named === null ? [] : [named, ...installed],
    assetKeys: keysOf({ type: asset.type as Asset['type'], name: asset.name }),
    places: new Set(claim.occurrences.map(({ place }) => place)),
  };
}

function keysOf(asset: Asset): Set<string> {
  const normal = normalAsset(asset);
  return new Set([normal.name.toLowerCase(), ...assetKeys(asset, normal).map(({ key }) => key)]);
}

/** A record, prepared for comparison with findings. */
export interface Candidate {
  ids: readonly string[];
  component: Component | null;
  /** Null if the report does not name the asset. */
  assetKeys: ReadonlySet<string> | null;
  placeLabel: string;
  line: string | null;
  position: string;
}

export function candidateOf(observation: Observation): Candidate {
  const { weakness, aliases, component, placeLabel } = identityOf(observation);
  const { vulnerability_ids, tool, rule, asset, location, place } = observation;
  return {
    ids: [...new Set([weakness, ...aliases, ...vulnerability_ids, `${tool}:${rule}`])],
    component,
    assetKeys: asset === null ? null : keysOf(asset),
    placeLabel,
    line: location.path === undefined || location.line === undefined ? null : `${location.path}:${location.line}`,
    position: place,
  };
}

function names(keys: ReadonlySet<string>, target: Target): boolean {
  return [...keys].some((key) => target.assetKeys.has(key));
}

/** `null` if the record has nothing to do with the finding. */
export function relationOf(target: Target, candidate: Candidate): Relation | null {
  const isOnAsset = candidate.assetKeys === null || names(candidate.assetKeys, target);
  if (!candidate.ids.some((id) => target.ids.has(id)))
    return isOnAsset && target.components.length > 0 && isInComponent(target, candidate) && !hasComparableId(target, candidate) ? 'other_id' : null;
  if (target.components.length > 0) {
    if (!isInComponent(target, candidate)) return null;
  } else if (candidate.component !== null || !isAtPlace(target, candidate)) return null;
  if (!isOnAsset) return 'other_asset';
  // One check can fail at several lines of a file, and each of them is a finding.
  return target.components.length === 0 && candidate.line !== null && !isInRepository(target.claim.place, candidate.line) ? 'other_line' : 'same';
}

function isInComponent({ components }: Target, { component }: Candidate): boolean {
  return component !== null && components.some((one) => sameComponent(one, component));
}

/** The package lists the first places of a finding. If there are more, each place may be one of them. */
function isAtPlace({ places, claim }: Target, { placeLabel }: Candidate): boolean {
  if (places.size === 0 || claim.occurrence_count > claim.occurrences.length || places.has(placeLabel)) return true;
  const [, path] = /^path (.*)$/s.exec(placeLabel) ?? [];
  return path !== undefined && [...places].some((place) => isInRepository(place, path));
}

/** Whether a place is the one that a report names. A report on a part of a repository names it from there, and the package from the root. */
function isInRepository(place: string | null, named: string): boolean {
  return place === named || (place?.endsWith(`/${normalPath(named)}`) ?? false);
}

/** Two CVE IDs that differ are two vulnerabilities. Other IDs can be names of the same one. */
function hasComparableId({ ids }: Target, candidate: Candidate): boolean {
  const isCve = (id: string): boolean => id.startsWith('CVE-');
  return [...ids].some(isCve) === candidate.ids.some(isCve);
}
