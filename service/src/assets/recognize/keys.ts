import { isIP } from 'node:net';
import type { Asset, AssetIdentifier } from '@rrs/scan-reports';
import type { NormalAsset } from '../names/asset-name.ts';
import { normalHost } from '../names/host.ts';

/**
 * A key by which an asset is recognized. Two assets are the same if they share a key and the sum of its two ranks is at most 3. An address recognizes a host
 * only if neither rank is 2, so only if nothing else is known of the host on either side.
 */
export interface AssetKey {
  key: string;
  /** 0: the asset's own name. 1: an identifier that is unique, or the best one the asset has. 2: an identifier that other assets may share. */
  rank: 0 | 1 | 2;
}

const RANKS: Readonly<Record<string, 1 | 2>> = {
  fqdn: 1,
  mac: 1,
  arn: 1,
  cloud_id: 1,
  agent_id: 1,
  purl: 1,
  hostname: 2,
  netbios: 2,
  ip: 2,
};

/** Types that their identifiers identify. The host of a web application, for example, does not identify the application. */
const IDENTIFIED_TYPES = new Set(['host', 'cloud_resource']);

/** The digest of an image does not identify it: what is said about one tag says nothing about another once it moves. */
export function assetKeys(asset: Asset, { key, weakKeys, name }: NormalAsset): AssetKey[] {
  // A repository whose server is not known is recognized by its path, and one whose path is not known by its name, if only one repository has it.
  const hasPath = weakKeys.some((weak) => weak.startsWith('repo-path:'));
  const isKnown = (weak: string): boolean => hasServer(name) || (hasPath && weak.startsWith('repo-name:'));
  const shared = asset.type === 'repository' ? weakKeys.map((weak): AssetKey => ({ key: `repository:${weak}`, rank: isKnown(weak) ? 2 : 1 })) : [];
  if (!IDENTIFIED_TYPES.has(asset.type)) return [{ key, rank: 0 }, ...shared];
  const identifiers = identifiersOf(asset).flatMap(({ kind, value }) => {
    const rank = RANKS[kind];
    const normal = normalValue(kind, value);
    return rank === undefined || NOT_IDENTIFYING.test(normal) ? [] : [{ kind, key: `${asset.type}:${kind}:${normal}`, rank }];
  });
  const hasAddress = asset.type === 'host' && isIP(name) !== 0;
  const isOnlyAddress = hasAddress && identifiers.every(({ kind }) => kind === 'ip');
  const isStrong = identifiers.some(({ rank }) => rank === 1);
  const isBest = (kind: string): boolean => (kind === 'ip' ? isOnlyAddress : !isStrong);
  const ranked = identifiers.map(({ kind, key, rank }): AssetKey => ({ key, rank: isBest(kind) ? 1 : rank }));
  const own: AssetKey = { key, rank: hasAddress && !isOnlyAddress ? 2 : 0 };
  const unique = new Map([...ranked, own].map((key) => [key.key, key]));
  return [...unique.values()].sort((a, b) => a.rank - b.rank || (a.key < b.key ? -1 : 1));
}

/** Tools separate the bytes of a MAC address with colons, hyphens or dots, and abbreviate IPv6 addresses or not. */
function normalValue(kind: string, value: string): string {
  const lower = value.toLowerCase();
  if (kind === 'ip') return normalHost(lower);
  if (kind !== 'mac') return lower;
  const bytes = lower.replaceAll(/[:.-]/g, '').match(/[0-9a-f]{2}/g) ?? [];
  return bytes.length === 6 ? bytes.join(':') : lower;
}

/** Loopback, unspecified and broadcast addresses, which every host has. */
const NOT_IDENTIFYING = /^(?:127\.\d+\.\d+\.\d+|0\.0\.0\.0|::1?|localhost(?:\.localdomain)?|(?:00[:-]?){5}00|(?:ff[:-]?){5}ff)$/;

/** A host without identifiers, entered by hand or named in the scope of a scan, is also recognized by its name. */
function identifiersOf({ type, name, identifiers = [] }: Asset): readonly AssetIdentifier[] {
  if (type !== 'host' || identifiers.length > 0) return identifiers;
  if (isIP(name) !== 0) return [{ kind: 'ip', value: name }];
  return [{ kind: name.includes('.') ? 'fqdn' : 'hostname', value: name }];
}

function hasServer(repository: string): boolean {
  return /^[^/][^/.]*\.[^/]+\/./.test(repository);
}
