import { isIP } from 'node:net';
import type { Asset, AssetIdentifier } from '@rrs/scan-reports';
import type { NormalAsset } from '../names/asset-name.ts';
import { normalHost } from '../names/host.ts';

/** A key by which an asset is recognized. Two names mean one asset if they share a key that neither of them shares with other assets. */
export interface AssetKey {
  key: string;
  /**
   * 0: the asset's own name. 1: an identifier that is unique, or the best one the asset has. 2: an identifier that other assets may share. It recognizes
   * nothing, and tells people which assets may be one.
   */
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
  if (asset.type === 'repository') return [{ key, rank: 0 }, ...weakKeys.map((weak) => repositoryKey(weak, name))];
  if (!IDENTIFIED_TYPES.has(asset.type)) return [{ key, rank: 0 }];
  const identifiers = identifiersOf(asset).flatMap((given) => {
    const { kind, value } = normalIdentifier(given);
    const rank = RANKS[kind];
    return rank === undefined || NOT_IDENTIFYING.test(value) ? [] : [{ kind, key: `${asset.type}:${kind}:${value}`, rank }];
  });
  const isUnnamed = asset.type === 'host' && (isIP(name) !== 0 || (NOT_IDENTIFYING.test(name) && identifiers.length > 0));
  const isOnlyAddress = isUnnamed && identifiers.every(({ kind }) => kind === 'ip');
  const isStrong = identifiers.some(({ rank }) => rank === 1);
  const isBest = (kind: string): boolean => (kind === 'ip' ? isOnlyAddress : !isStrong);
  const ranked = identifiers.map(({ kind, key, rank }): AssetKey => ({ key, rank: isBest(kind) ? 1 : rank }));
  const isShared = isUnnamed ? !isOnlyAddress || isIP(name) === 0 : asset.type === 'host' && isStrong && !name.includes('.');
  const unique = new Map([...ranked, { key, rank: isShared ? 2 : 0 } as const].map((key) => [key.key, key]));
  return [...unique.values()].sort((a, b) => a.rank - b.rank || (a.key < b.key ? -1 : 1));
}

/** Repositories of several servers can have one path, and those of several groups one name. A path recognizes a repository if no server is known of it. */
function repositoryKey(weak: string, name: string): AssetKey {
  return { key: `repository:${weak}`, rank: weak.startsWith('repo-path:') && !hasServer(name) ? 1 : 2 };
}

/**
 * Tools separate the bytes of a MAC address with colons, hyphens or dots, abbreviate IPv6 addresses or not, and call a name with its domain a host name, or one
 * without it a domain name.
 */
function normalIdentifier({ kind, value }: AssetIdentifier): { kind: string; value: string } {
  const lower = value.trim().toLowerCase();
  if (kind === 'ip') return { kind, value: normalHost(lower) };
  if (kind === 'mac') {
    const bytes = lower.replaceAll(/[:.-]/g, '').match(/[0-9a-f]{2}/g) ?? [];
    return { kind, value: bytes.length === 6 ? bytes.join(':') : lower };
  }
  if (kind !== 'fqdn' && kind !== 'hostname' && kind !== 'netbios') return { kind, value: lower };
  const name = normalHost(lower);
  return { kind: isIP(name) !== 0 ? 'ip' : name.includes('.') ? 'fqdn' : kind === 'fqdn' ? 'hostname' : kind, value: name };
}

/** Addresses and names that every host has, and MAC addresses that routers share (VRRP, HSRP) or that Docker gives to containers on every host. */
const NOT_IDENTIFYING =
  /^(?:127\.\d+\.\d+\.\d+|0\.0\.0\.0|::1?|localhost[46]?(?:\.localdomain[46]?)?|(?:00[:-]?){5}00|(?:ff[:-]?){5}ff|00:00:5e:00:0[12]:..|00:00:0c:07:ac:..|02:42:ac:1[0-9a-f]:..:..)$/;

/** A host is also recognized by its name, whatever identifiers its report lists. */
function identifiersOf({ type, name, identifiers = [] }: Asset): readonly AssetIdentifier[] {
  if (type !== 'host') return identifiers;
  return [...identifiers, { kind: isIP(normalHost(name)) !== 0 ? 'ip' : MAC.test(name.trim()) && /[:-]/.test(name) ? 'mac' : 'hostname', value: name }];
}

export const MAC = /^[0-9a-f]{2}(?:[:-]?[0-9a-f]{2}){5}$/i;

function hasServer(repository: string): boolean {
  return /^[^/][^/.]*\.[^/]+\/./.test(repository);
}
