import type { Asset } from '@rrs/scan-reports';
import { type AssetKey, assetKeys, canonicalName } from './keys.ts';

export interface DescribedAsset {
  /** Names the asset, its track and its build within one import. */
  stagingKey: string;
  /** Names the asset and its track. Builds of one track say the same if they say the same words. */
  trackKey: string;
  type: Asset['type'];
  name: string;
  keys: AssetKey[];
  /** The empty name is the default track. */
  track: { name: string; kind: 'default' | 'named' | 'release' | 'build' | 'pull_request' | 'development'; counts: boolean };
  /** Why nothing is closed on this track. */
  doubt: 'track_unstated' | null;
  version: string | null;
  digest: string | null;
  commit: string | null;
}

/** What the caller of an import states about its asset. */
export interface StatedBuild {
  version?: string;
  track?: string;
}

/** Finds out which asset a name means, and which track and build of it. */
export function describeAsset(asset: Asset, stated: StatedBuild = {}): DescribedAsset {
  const track = { name: stated.track ?? '', kind: stated.track === undefined ? 'default' : 'named', counts: true } as const;
  const version = stated.version ?? asset.version ?? asset.commit ?? null;
  const trackKey = `${asset.type}:${canonicalName(asset)}\n${track.name}`;
  return {
    stagingKey: `${trackKey}\n${version ?? ''}`,
    trackKey,
    type: asset.type,
    name: asset.name,
    keys: assetKeys(asset),
    track,
    doubt: null,
    version,
    digest: asset.identifiers?.find(({ kind }) => kind === 'digest')?.value ?? null,
    commit: asset.commit ?? null,
  };
}
