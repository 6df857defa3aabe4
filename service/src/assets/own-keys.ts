import type { Asset } from '@rrs/scan-reports';
import { sql } from 'kysely';
import type { TenantTx } from '../db/database.ts';
import { AppError } from '../shared/errors.ts';
import { type DescribedAsset, describeAsset } from './recognize/describe.ts';
import type { AssetKey } from './recognize/keys.ts';
import { matchSql } from './recognize/match-keys.ts';

/** How many assets with one name are listed. */
const LISTED = 5;

interface Keyed {
  org_id: string;
  id: string;
  type: Asset['type'];
}

/**
 * Gives the asset keys for the name that a person chose, so that reports and people who use the name mean this asset. With only its own name, a host would
 * contradict reports that use it, because it is still known by the former host name. What reports say later does not change them.
 */
export async function addNameKey(tx: TenantTx, asset: Keyed, name: string): Promise<void> {
  const own = describeAsset({ type: asset.type, name })
    .keys.filter(({ rank }) => rank === 0 || asset.type === 'host')
    .map(({ key }): AssetKey => ({ key, rank: 0 }));
  await assertUnknown(tx, asset.org_id, { type: asset.type, name, keys: own }, asset.id);
  await tx
    .insertInto('asset_keys')
    .values(own.map(({ key, rank }) => ({ org_id: asset.org_id, key, rank, asset_id: asset.id })))
    .onConflict((conflict) => conflict.columns(['org_id', 'key', 'asset_id']).doUpdateSet({ rank: 0 }))
    .execute();
}

export async function addKeys(tx: TenantTx, { org_id, id }: Keyed, keys: readonly AssetKey[]): Promise<void> {
  await tx
    .insertInto('asset_keys')
    .values(keys.map(({ key, rank }) => ({ org_id, key, rank, asset_id: id })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Throws if the name means another asset, or if another host is shown with it. */
export async function assertUnknown(
  tx: TenantTx,
  orgId: string,
  { type, name, keys }: Pick<DescribedAsset, 'type' | 'name' | 'keys'>,
  except: string | null = null,
): Promise<void> {
  const { rows } = await sql<{ id: string; name: string }>`
    with known as (
      select asset_keys.asset_id as id from unnest(${keys.map(({ key }) => key)}::text[], ${keys.map(({ rank }) => rank)}::smallint[]) as keyed (key, rank)
      join asset_keys on ${matchSql(orgId)}
      union
      select id from tenant_assets where org_id = ${orgId} and ${type} = 'host' and type = 'host' and merged_into is null and lower(name) collate "C" = lower(${name})
    )
    select assets.id, assets.name from known join assets on assets.org_id = ${orgId} and assets.id = known.id and assets.id is distinct from ${except}::uuid
    order by assets.id limit ${LISTED}`.execute(tx);
  const [known, ...others] = rows;
  if (!known) return;
  if (others.length === 0)
    throw new AppError('conflict', `The name already belongs to the asset "${known.name}" (${known.id}). Use that asset, or merge the two.`);
  throw new AppError(
    'conflict',
    `The name already belongs to several assets: ${rows.map(({ id, name }) => `"${name}" (${id})`).join(', ')}. Use the one that you mean.`,
  );
}
