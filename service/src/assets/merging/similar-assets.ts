import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { AssetRow } from '../assets.ts';
import { type Identifier, identifierOf } from '../identifiers.ts';

export interface SimilarAsset {
  id: string;
  name: string;
  retired: boolean;
  shared: Identifier[];
}

/** How many assets are shown, and how many with one name or address are looked at. */
const SHOWN = 20;
const LOOKED_AT = 50;

/**
 * Other assets with an address, a name without its domain or server, or another identifier of this one. Only a person can say whether they are the same. Those
 * that a person has separated are not. The name of a folder says something only if nothing else is known.
 */
export async function readSimilar(tx: TenantTx, { org_id, id, type, merged_into }: AssetRow): Promise<SimilarAsset[]> {
  if (merged_into !== null) return [];
  const { rows } = await sql<Omit<SimilarAsset, 'shared'> & { keys: string[] }>`
    with own as materialized (
      select key from asset_keys where org_id = ${org_id} and asset_id = ${id} order by rank, key limit 200
    ), wanted as materialized (
      select key from own where key not like 'repository:repo-name:%' or not exists (select from own path where path.key like 'repository:repo-path:%')
      union select 'host:hostname:' || split_part(substr(key, 11), '.', 1) from own where key like 'host:fqdn:%'
    ), alike as (
      select known.asset_id, wanted.key from wanted
      cross join lateral (select k.asset_id from asset_keys k where k.org_id = ${org_id} and k.key = wanted.key and k.asset_id <> ${id} limit ${LOOKED_AT}) known
      union
      select named.id, own.key from own
      cross join lateral (
        select a.id from tenant_assets a where a.org_id = ${org_id} and a.type = 'host' and a.merged_into is null and a.id <> ${id}
          and lower(a.name) collate "C" >= substr(own.key, 15) || '.' and lower(a.name) collate "C" < substr(own.key, 15) || '/' limit ${LOOKED_AT}) named
      where own.key like 'host:hostname:%'
    )
    select a.id, a.name, a.retired_at is not null as retired, array_agg(distinct alike.key order by alike.key) as keys
    from alike join assets a on a.org_id = ${org_id} and a.id = alike.asset_id
    where not exists (
      select from asset_merges m where m.org_id = ${org_id} and m.undone_at is not null
        and ((m.from_asset_id = ${id} and m.into_asset_id = a.id) or (m.from_asset_id = a.id and m.into_asset_id = ${id})))
    group by a.org_id, a.id order by count(*) desc, a.name, a.id limit ${SHOWN}`.execute(tx);
  return rows.map(({ keys, ...asset }) => ({ ...asset, shared: keys.map((key) => identifierOf(type, key)) }));
}
