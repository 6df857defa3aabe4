import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import type { AssetFollower } from '../assets.ts';
import { joinAssets } from '../merging/merge-assets.ts';
import { isAddressSql, isSameSql, matchSql } from './match-keys.ts';

interface SameAssets {
  id: string;
  other: string;
}

/**
 * Joins known assets that turn out to be one: an import names a host with identifiers that were known of two. Had it come first, it would have been one from
 * the beginning.
 */
export async function joinSame(tx: TenantTx, actor: Actor, follower: AssetFollower, importId: string): Promise<void> {
  const { orgId } = actor;
  const joined = new Map<string, string>();
  const current = (id: string): string => {
    const into = joined.get(id);
    return into === undefined ? id : current(into);
  };
  for (const { id, other } of await findSame(tx, orgId, importId)) {
    const [one, two] = [current(id), current(other)];
    if (one === two) continue;
    const { from, into } = await joinAssets(tx, actor, follower, { id: one, into: two, reason: 'A report names both as one.', renames: false });
    joined.set(from, into);
    await sql`update tenant_import_assets set asset_id = ${into} where org_id = ${orgId} and import_id = ${importId} and asset_id = ${from}`.execute(tx);
  }
}

/** What a person has separated stays apart. */
async function findSame(tx: TenantTx, orgId: string, importId: string): Promise<SameAssets[]> {
  const { rows } = await sql<SameAssets>`
    with keyed as materialized (
      select staged.asset_id, names.key, min(names.rank) as rank
      from tenant_import_assets staged cross join lateral unnest(staged.keys, staged.ranks) as names (key, rank)
      where staged.org_id = ${orgId} and staged.import_id = ${importId} and staged.type in ('host', 'cloud_resource') and not staged.stated group by 1, 2
    ), shared as materialized (
      select distinct keyed.asset_id as id, asset_keys.asset_id as other, keyed.key from keyed join asset_keys on ${matchSql(orgId)}
      where asset_keys.asset_id <> keyed.asset_id and not ${isAddressSql(sql`keyed.key`)}
    )
    select distinct id, other from shared
    where ${isSameSql({ orgId, key: sql`shared.key`, keys: sql`array(select own.key from asset_keys own where own.org_id = ${orgId} and own.asset_id = shared.id)`, assetId: sql`shared.other`, both: sql`shared.id, shared.other` })}
      and not exists (
        select from asset_merges m where m.org_id = ${orgId} and m.undone_at is not null
          and ((m.from_asset_id = shared.id and m.into_asset_id = shared.other) or (m.from_asset_id = shared.other and m.into_asset_id = shared.id)))
    order by id, other`.execute(tx);
  return rows;
}
