import { type RawBuilder, sql } from 'kysely';
import type { Static } from 'typebox';
import { tenantAssets } from '../../assets/relations.ts';
import type { FilterFields } from '../schemas-filter.ts';

type Condition = RawBuilder<boolean>;
type AssetFilter = Pick<Static<typeof FilterFields>, 'asset' | 'owner' | 'criticality' | 'exposure' | 'asset_tag' | 'not_asset_tag'>;

/** The ids of the assets that meet all conditions on assets, or null if there are none. `named` are assets that `asset` names in another spelling. */
export function filteredAssets(orgId: string, filter: AssetFilter, named: readonly string[]): RawBuilder<{ id: string }> | null {
  const { asset, owner, criticality, exposure, asset_tag, not_asset_tag } = filter;
  const lower = (values: readonly string[]): string[] => values.map((value) => value.toLowerCase());
  const conditions = [
    ...(asset ? [named.length > 0 ? sql`(${isNamed(asset)} or assets.id = any(${named}::uuid[]))` : isNamed(asset)] : []),
    ...(owner ? [sql`lower(assets.owner) = any(${lower(owner)}::text[])`] : []),
    ...(criticality ? [sql`assets.criticality = any(${criticality}::text[])`] : []),
    ...(exposure ? [sql`assets.exposure = any(${exposure}::text[])`] : []),
    ...(asset_tag ? [sql`assets.tags && ${asset_tag}::text[]`] : []),
    ...(not_asset_tag ? [sql`not assets.tags && ${not_asset_tag}::text[]`] : []),
  ];
  if (conditions.length === 0) return null;
  return sql<{ id: string }>`select assets.id from ${tenantAssets} assets where assets.org_id = ${orgId} and ${sql.join(conditions, sql` and `)}`;
}

function isNamed(asset: string): Condition {
  return sql`lower(assets.name) collate "C" like ${`${escapeLike(asset.toLowerCase())}%`}`;
}

export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&');
}
