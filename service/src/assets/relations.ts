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
  Pick<Selectable<DB['asset_tracks']>, 'org_id' | 'asset_id' | 'n' | 'name' | 'counts' | 'ended_at'>
>`(select org_id, asset_id, n, counts, name, ended_at from asset_tracks where merged_into is null)`;

/** The assets that a running import names. Records refer to them by `asset_key`. Their ids are null until `resolveAssets` has run. */
export const importedAssets = sql<
  Selectable<DB['tenant_import_assets']>
>`(select org_id, import_id, asset_key, asset_id, type, name, keys, track, track_name, version_n, track_counts, own_track, variant, build_ids, doubt, identity_weak, started_at, ended_at, credentialed, knowledge_at from tenant_import_assets)`;

/** Which assets were merged into which, also if that was undone. */
export const assetMerges = sql`(select org_id, from_asset_id, into_asset_id from asset_merges)`;

/** Assets that others were merged into. */
export const mergedAssets = sql`(select org_id, into_asset_id as asset_id from asset_merges where undone_at is null)`;

/** The numbers of tracks that were merged into others. */
export const mergedNumbers = sql`(select org_id, asset_id, n, merged_into from asset_tracks where merged_into is not null)`;

/** Assets of which a person merged two tracks. */
export const mergedTracks = sql`(select org_id, asset_id from asset_track_merges where undone_at is null)`;

/** The builds of assets that were scanned. */
export const assetVersions = sql<
  Pick<Selectable<DB['asset_versions']>, 'org_id' | 'asset_id' | 'n' | 'name' | 'digest' | 'commit'>
>`(select org_id, asset_id, n, name, digest, commit from asset_versions)`;

export interface AssetScopeRow {
  id: string;
  type: string;
  name: string;
  owner: string | null;
  criticality: string;
  exposure: string;
  retired_at: Date | null;
  versions: string[];
}

/** Assets with their newest builds, newest first. */
export const assetScopes = sql<AssetScopeRow & { org_id: string }>`(
  select a.org_id, a.id, a.type, a.name, a.owner, a.criticality, a.exposure, a.retired_at, array(
    select v.name from asset_versions v where v.org_id = a.org_id and v.asset_id = a.id group by v.name order by max(v.last_scan) desc, v.name limit 20) as versions
  from assets a)`;
