import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import type { AssetFollower } from '../assets.ts';
import { reactivateSeen } from '../reactivate.ts';
import { findStated, type SharedName } from './find-stated.ts';
import { joinSame } from './join-same.ts';
import { isAddressSql, isMachineSql, isSameSql, kindsSql, matchSql } from './match-keys.ts';
import { resolveTracks } from './resolve-tracks.ts';

const MAX_ROUNDS = 12;

/** What the staged assets of an import have among them. Statements that concern none of them are left out. */
interface Names {
  waiting: number;
  joinable: boolean;
  tracks: boolean;
  own_tracks: boolean;
  versions: boolean;
  stated: boolean;
}

/**
 * Finds or creates the assets that an import names and writes their ids to the staging table. If two new names belong to one asset,
 * the result is the same as in two successive imports: one of them waits, and finds the asset of the other in the next round. Returns the stated names that
 * several hosts have.
 */
export async function resolveAssets(tx: TenantTx, actor: Actor, importId: string, follower: AssetFollower): Promise<SharedName[]> {
  const { orgId } = actor;
  let names = await readNames(tx, orgId, importId);
  const stated = names.stated ? await findStated(tx, orgId, importId) : { found: 0, shared: [] };
  let isKnown = stated.found > 0;
  if (isKnown) names = await readNames(tx, orgId, importId);
  for (let round = 1; names.waiting > 0; round++) {
    const found = await findKnown(tx, orgId, importId);
    isKnown ||= found > 0;
    if (found < names.waiting && (found === 0 || round > MAX_ROUNDS)) {
      const created = round > MAX_ROUNDS ? 0 : await createNew(tx, orgId, importId, { all: false });
      if (created === 0) await createNew(tx, orgId, importId, { all: true });
    }
    await storeKeys(tx, orgId, importId);
    names = await readNames(tx, orgId, importId);
  }
  if (names.joinable) await joinSame(tx, actor, follower, importId);
  if (isKnown) {
    await adoptNames(tx, orgId, importId);
    await reactivateSeen(tx, orgId, importId);
  }
  await resolveTracks(tx, actor, follower, { ...names, importId, isKnown });
  return stated.shared;
}

async function readNames(tx: TenantTx, orgId: string, importId: string): Promise<Names> {
  const { rows } = await sql<Names>`
    select count(*) filter (where asset_id is null)::int as waiting, coalesce(bool_or(type in ('host', 'cloud_resource')), false) as joinable,
      coalesce(bool_or(track_name <> ''), false) as tracks, coalesce(bool_or(own_track is not null), false) as own_tracks,
      coalesce(bool_or(version_name is not null), false) as versions, coalesce(bool_or(stated), false) as stated
    from tenant_import_assets where org_id = ${orgId} and import_id = ${importId}`.execute(tx);
  return rows[0] ?? { waiting: 0, joinable: false, tracks: false, own_tracks: false, versions: false, stated: false };
}

/** An asset is shown with the best name that it is known by, whichever came first. */
async function adoptNames(tx: TenantTx, orgId: string, importId: string): Promise<void> {
  await sql`
    update assets set name = best.name, name_rank = best.name_rank, updated_at = now(), version = version + 1
    from (
      select distinct on (asset_id) asset_id, name, name_rank from tenant_import_assets where org_id = ${orgId} and import_id = ${importId}
      order by asset_id, name_rank, name
    ) best
    where assets.org_id = ${orgId} and assets.id = best.asset_id and (best.name_rank < assets.name_rank or (best.name_rank = assets.name_rank and best.name < assets.name))`.execute(
    tx,
  );
}

/** Deletes the staged assets of an import. They belong to one attempt. */
export async function deleteImportedAssets(tx: TenantTx, orgId: string, importId: string): Promise<void> {
  await tx.deleteFrom('tenant_import_assets').where('org_id', '=', orgId).where('import_id', '=', importId).execute();
}

const keyed = { key: sql`keyed.key`, keys: sql`keyed.keys`, assetId: sql`asset_keys.asset_id`, isCrowded: sql<boolean>`keyed.is_crowded` };

/** A host that is known only by its name waits for others with this name of which more is known: they decide whether it means one machine. */
async function findKnown(tx: TenantTx, orgId: string, importId: string): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    with staged as materialized (
      select staged.asset_key, names.key, min(names.rank) as rank
      from tenant_import_assets staged cross join lateral unnest(staged.keys, staged.ranks) as names (key, rank)
      where staged.org_id = ${orgId} and staged.import_id = ${importId} and staged.asset_id is null group by 1, 2
    ), named as materialized (
      select each.*, split_part(each.asset_key, E'\\n', 1) as name, ${kindsSql(sql`unnest(each.keys) as k (key)`)} as kinds
      from (select asset_key, array_agg(key) as keys, array_agg(rank) as ranks from staged group by 1) each
    ), crowds as (
      select named.asset_key, named.keys, staged.key, staged.rank, max(named.kinds) over same > named.kinds as is_poorer, ${isAddressSql(sql`staged.key`)} as is_address,
        min(named.name) filter (where named.kinds > 1) over same is distinct from max(named.name) filter (where named.kinds > 1) over same as is_crowded
      from named cross join lateral unnest(named.keys, named.ranks) as staged (key, rank) where staged.rank < 2 window same as (partition by staged.key)
    ), keyed as materialized (
      select crowds.*, bool_or(is_poorer) over (partition by asset_key) as waits from crowds
    ), known as materialized (
      select distinct on (keyed.asset_key) keyed.asset_key, asset_keys.asset_id, keyed.is_address
      from keyed join asset_keys on ${matchSql(orgId)}
      where not keyed.waits and ${isSameSql({ ...keyed, orgId, both: keyed.assetId })}
      order by keyed.asset_key, ${isMachineSql(sql`keyed.key`)} desc, keyed.is_address, asset_keys.rank + keyed.rank, asset_keys.asset_id
    )
    update tenant_import_assets set asset_id = known.asset_id, identity_weak = known.is_address from known
    where tenant_import_assets.org_id = ${orgId} and tenant_import_assets.import_id = ${importId} and tenant_import_assets.asset_key = known.asset_key`.execute(
    tx,
  );
  return Number(numAffectedRows);
}

/**
 * Creates assets for unresolved names. Unless `all` is set, names wait that share a rank-1 key with a name that sorts before them.
 */
async function createNew(tx: TenantTx, orgId: string, importId: string, { all }: { all: boolean }): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    with keyed as materialized (
      select staged.asset_key, names.key
      from tenant_import_assets staged cross join lateral unnest(staged.keys, staged.ranks) as names (key, rank)
      where staged.org_id = ${orgId} and staged.import_id = ${importId} and staged.asset_id is null and names.rank > 0
      group by 1, 2 having max(names.rank) = 1
    ), waiting as (
      select asset_key from (select asset_key, min(asset_key) over (partition by key) as first from keyed) shared where first < asset_key
    ), chosen as materialized (
      -- Several builds of one asset share its best key, and what names it in the report.
      select distinct staged.asset_key, min(staged.new_id::text) over (partition by staged.keys[1], split_part(staged.asset_key, E'\\n', 1))::uuid as asset_id
      from tenant_import_assets staged
      where staged.org_id = ${orgId} and staged.import_id = ${importId} and staged.asset_id is null
        and (${all}::boolean or staged.asset_key not in (select asset_key from waiting))
    )
    update tenant_import_assets set asset_id = chosen.asset_id,
      identity_weak = coalesce((select bool_and(${isAddressSql(sql`key`)}) from unnest(keys, ranks) as names (key, rank) where rank < 2), false) from chosen
    where tenant_import_assets.org_id = ${orgId} and tenant_import_assets.import_id = ${importId} and tenant_import_assets.asset_key = chosen.asset_key`.execute(
    tx,
  );
  await sql`
    insert into assets (org_id, id, type, name, name_rank)
    select distinct on (staged.asset_id) staged.org_id, staged.asset_id, staged.type, staged.name, staged.name_rank
    from tenant_import_assets staged
    where staged.org_id = ${orgId} and staged.import_id = ${importId} and staged.asset_id is not null
      and not exists (select from assets where assets.org_id = ${orgId} and assets.id = staged.asset_id)
    order by staged.asset_id, staged.name_rank, staged.name`.execute(tx);
  return Number(numAffectedRows);
}

/** Adds new keys and lowers the rank of known ones that turn out to be shared. Writes nothing if nothing is new. A stated name that was found says nothing new. */
async function storeKeys(tx: TenantTx, orgId: string, importId: string): Promise<void> {
  await sql`
    with names as materialized (
      select names.key, staged.asset_id, max(names.rank) as rank
      from tenant_import_assets staged cross join lateral unnest(staged.keys, staged.ranks) as names (key, rank)
      where staged.org_id = ${orgId} and staged.import_id = ${importId} and staged.asset_id is not null and (not staged.stated or names.rank = 2)
      group by names.key, staged.asset_id
    ), lowered as (
      update asset_keys set rank = names.rank from names
      where asset_keys.org_id = ${orgId} and asset_keys.key = names.key and asset_keys.asset_id = names.asset_id
        and asset_keys.rank > 0 and asset_keys.rank < names.rank
    )
    insert into asset_keys (org_id, key, asset_id, rank)
    select ${orgId}, names.key, names.asset_id, names.rank from names
    where not exists (select from asset_keys known where known.org_id = ${orgId} and known.key = names.key and known.asset_id = names.asset_id)`.execute(tx);
}
