import { type Selectable, sql } from 'kysely';
import type { DB } from '../db/types.ts';

/** What other features may read of assets, as derived tables. PostgreSQL inlines them, so plans are the same as over the tables. */
export type AssetFacts = Pick<Selectable<DB['assets']>, 'org_id' | 'id' | 'type' | 'name' | 'criticality' | 'exposure' | 'retired_at'>;

export const assetFacts = sql<AssetFacts>`(select org_id, id, type, name, criticality, exposure, retired_at from assets)`;

/** The assets of the current organization, through the view that lets the index on the lower-case name be used. */
export const tenantAssets = sql<Pick<AssetFacts, 'org_id' | 'id' | 'name'>>`(select org_id, id, name from tenant_assets)`;

/** The assets that a running import names. Records refer to them by `asset_key`. `asset_id` is null until `resolveAssets` has run. */
export const importedAssets = sql<
  Pick<Selectable<DB['tenant_import_assets']>, 'org_id' | 'import_id' | 'asset_key' | 'asset_id' | 'name'>
>`(select org_id, import_id, asset_key, asset_id, name from tenant_import_assets)`;
