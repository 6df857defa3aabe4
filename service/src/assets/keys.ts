import { isIP } from 'node:net';
import type { Asset, AssetIdentifier } from '@rrs/scan-reports';

/**
 * The names by which an asset is found again. Two assets are the same when they share a key and the ranks of both sides add up
 * to 3 at the most: an address finds the host that is known by nothing else, but does not join two hosts with full names.
 */
export interface AssetKey {
  key: string;
  /** 0 its own name, 1 a name of nothing else (or the best there is), 2 a name that others may have as well. */
  rank: 0 | 1 | 2;
}

const RANKS: Readonly<Record<string, 1 | 2>> = {
  fqdn: 1,
  mac: 1,
  digest: 1,
  image_id: 1,
  arn: 1,
  cloud_id: 1,
  agent_id: 1,
  purl: 1,
  hostname: 2,
  netbios: 2,
  ip: 2,
};

/** Types whose further names identify them; the host of a web application is not the application. */
const IDENTIFIED = new Set(['host', 'container_image', 'cloud_resource']);

export function assetKeys(asset: Asset): AssetKey[] {
  const own: AssetKey = { key: `${asset.type}:${canonicalName(asset)}`, rank: 0 };
  if (!IDENTIFIED.has(asset.type)) return [own];
  const others = identifiersOf(asset).flatMap(({ kind, value }): AssetKey[] => {
    const rank = RANKS[kind];
    const name = value.toLowerCase();
    return rank === undefined || OF_EVERY_HOST.test(name) ? [] : [{ key: `${asset.type}:${kind}:${name}`, rank }];
  });
  const strong = others.some(({ rank }) => rank === 1);
  const ranked = others.map(({ key, rank }): AssetKey => ({ key, rank: rank === 2 && !strong ? 1 : rank }));
  const unique = new Map([...ranked, own].map((key) => [key.key, key]));
  return [...unique.values()].sort((a, b) => a.rank - b.rank || (a.key < b.key ? -1 : 1));
}

const OF_EVERY_HOST = /^(?:127\.\d+\.\d+\.\d+|0\.0\.0\.0|::1?|localhost(?:\.localdomain)?|(?:00[:-]?){5}00|(?:ff[:-]?){5}ff)$/;

/** A host that is only named, by hand or as the scope of a scan, is found by that name too. */
function identifiersOf({ type, name, identifiers = [] }: Asset): readonly AssetIdentifier[] {
  if (type !== 'host' || identifiers.length > 0) return identifiers;
  if (isIP(name) !== 0) return [{ kind: 'ip', value: name }];
  return [{ kind: name.includes('.') ? 'fqdn' : 'hostname', value: name }];
}

/** Host names, image names and addresses do not tell upper from lower case; paths and ARNs do. */
export function canonicalName({ type, name }: Pick<Asset, 'type' | 'name'>): string {
  return type === 'host' || type === 'web_application' || type === 'container_image' ? name.toLowerCase() : name;
}
