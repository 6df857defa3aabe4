import type { Static } from 'typebox';
import type { TenantTx } from '../db/database.ts';
import type { AssetRow } from './assets.ts';
import { readIdentifiers } from './identifiers.ts';
import type { Asset, AssetDetails } from './schemas.ts';

export async function withIdentifiers(tx: TenantTx, asset: AssetRow): Promise<Static<typeof AssetDetails>> {
  return { ...toAsset(asset), identifiers: await readIdentifiers(tx, asset) };
}

export function toAsset({
  id,
  type,
  name,
  criticality,
  exposure,
  owner,
  tags,
  merged_into,
  retired_at,
  version,
  created_at,
  updated_at,
}: AssetRow): Static<typeof Asset> {
  return {
    id,
    type,
    name,
    criticality,
    exposure,
    owner,
    tags,
    merged_into,
    retired: retired_at !== null,
    retired_at: retired_at?.toISOString() ?? null,
    version,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
