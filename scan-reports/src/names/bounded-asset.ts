import type { Asset } from '../contract.ts';
import { name } from './clean-text.ts';

const boundedAssets = new WeakMap<Asset, Asset>();

/** Cleans the names of an asset and limits their number. */
export function boundedAsset(asset: Asset): Asset {
  const known = boundedAssets.get(asset);
  if (known) return known;
  const bounded = cleanAsset(asset);
  boundedAssets.set(asset, bounded);
  return bounded;
}

function cleanAsset(asset: Asset): Asset {
  const identifiers = (asset.identifiers ?? []).map(({ kind, value }) => ({ kind, value: name(value) })).filter(({ value }) => value !== '');
  const build = (['version', 'commit', 'ref', 'workload', 'platform'] as const).flatMap((key) => (asset[key]?.trim() ? [[key, name(asset[key])]] : []));
  return {
    type: asset.type,
    name: name(asset.name),
    ...(identifiers.length > 0 ? { identifiers: identifiers.slice(0, 50) } : {}),
    ...Object.fromEntries(build),
    ...(asset.stated === undefined ? {} : { stated: asset.stated }),
  };
}
