import type { Asset } from '@rrs/scan-reports';
import { sql } from 'kysely';
import type { TenantTx } from '../db/database.ts';
import { AppError } from '../shared/errors.ts';
import { describeAsset } from './recognize/describe.ts';
import type { AssetKey } from './recognize/keys.ts';
import { matchSql } from './recognize/match-keys.ts';

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
  await assertUnknown(tx, asset.org_id, own, asset.id);
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

/** Throws if one of the names means another asset. */
export async function assertUnknown(tx: TenantTx, orgId: string, keys: readonly AssetKey[], except: string | null = null): Promise<void> {
  const { rows } = await sql<{ id: string; name: string }>`
    select assets.id, assets.name
    from unnest(${keys.map(({ key }) => key)}::text[], ${keys.map(({ rank }) => rank)}::smallint[]) as keyed (key, rank)
    join asset_keys on ${matchSql(orgId)}
    join assets on assets.org_id = ${orgId} and assets.id = asset_keys.asset_id and assets.id is distinct from ${except}::uuid
    order by keyed.rank + asset_keys.rank, assets.id limit 1`.execute(tx);
  const [known] = rows;
  if (known) throw new AppError('conflict', `The name already belongs to the asset "${known.name}" (${known.id}). Use that asset, or merge the two.`);
}
