import { type Selectable, sql } from 'kysely';
import type { DB } from '../db/types.ts';

/** What other features may read of assets, as derived tables. PostgreSQL inlines them, so plans are the same as over the tables. */
export type AssetFacts = Pick<Selectable<DB['assets']>, 'org_id' | 'id' | 'type' | 'name' | 'criticality' | 'exposure' | 'retired_at' | 'name_words'>;

export const assetFacts = sql<AssetFacts>`(select org_id, id, type, name, criticality, exposure, retired_at, name_words from assets)`;

/** The assets of the current organization, through the view that lets the index on the lower-case name be used. */
export const tenantAssets = sql<
  Pick<Selectable<DB['tenant_assets']>, 'org_id' | 'id' | 'name' | 'criticality' | 'exposure' | 'owner' | 'tags'>
>`(select org_id, id, name, criticality, exposure, owner, tags from tenant_assets)`;

/** The branches, environments and release lines of assets. The default track has no row until it has a name. */
export const assetTracks = sql<
  Pick<Selectable<DB['asset_tracks']>, 'org_id' | 'asset_id' | 'n' | 'name' | 'counts'>
>`(select org_id, asset_id, n, counts, name from asset_tracks where merged_into is null)`;

/** The assets that a running import names. Records refer to them by `asset_key`. Their ids are null until `resolveAssets` has run. */
export const importedAssets = sql<
  Selectable<DB['tenant_import_assets']>
>`(select org_id, import_id, asset_key, asset_id, name, track, version_n, track_counts, doubt, identity_weak, started_at, ended_at, credentialed, knowledge_at from tenant_import_assets)`;

/** The builds of assets that were scanned. */
export const assetVersions = sql<
  Pick<Selectable<DB['asset_versions']>, 'org_id' | 'asset_id' | 'n' | 'name' | 'digest' | 'commit'>
>`(select org_id, asset_id, n, name, digest, commit from asset_versions)`;
