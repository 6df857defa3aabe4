import { assetTypes } from '@rrs/scan-reports';
import { sql } from 'kysely';
import type { TenantTx } from '../db/database.ts';
import { normalAsset } from './names/asset-name.ts';

/**
 * The assets that are known by this name in any spelling: `nginx:1.19` is the image `nginx`, `git@github.com:acme/shop.git` the repository
 * `github.com/acme/shop`.
 */
export async function findByName(tx: TenantTx, orgId: string, name: string): Promise<string[]> {
  const keys = assetTypes.map((type) => normalAsset({ type, name }).key);
  const { rows } = await sql<{ asset_id: string }>`
    select distinct asset_id from asset_keys where org_id = ${orgId} and key = any(${[...new Set(keys)]}) order by 1 limit 100`.execute(tx);
  return rows.map(({ asset_id }) => asset_id);
}
