import type { Static } from 'typebox';
import type { TenantTx } from '../db/database.ts';
import type { AssetRow } from './assets.ts';
import { readIdentifiers } from './identifiers.ts';
import { type CountedAsset, withFindings } from './list-assets.ts';
import { readSimilar } from './merging/similar-assets.ts';
import type { Asset, AssetDetails } from './schemas.ts';

export async function withIdentifiers(tx: TenantTx, asset: AssetRow): Promise<Static<typeof AssetDetails>> {
  const [counted, identifiers, similar] = await Promise.all([withFindings(tx, asset), readIdentifiers(tx, asset), readSimilar(tx, asset)]);
  return { ...toAsset(counted), identifiers, similar };
}

export function toAsset(asset: CountedAsset): Static<typeof Asset> {
  return {
    id: asset.id,
    type: asset.type,
    name: asset.name,
    criticality: asset.criticality,
    exposure: asset.exposure,
    owner: asset.owner,
    tags: asset.tags,
    findings: asset.findings,
    merged_into: asset.merged_into,
    retired: asset.retired_at !== null,
    retired_at: asset.retired_at?.toISOString() ?? null,
    version: asset.version,
    created_at: asset.created_at.toISOString(),
    updated_at: asset.updated_at.toISOString(),
  };
}
