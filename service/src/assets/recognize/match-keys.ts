import { type RawBuilder, sql } from 'kysely';

/**
 * Whether a name `keyed` (key, rank) means the asset of a row of `asset_keys`. A path or name of a repository without its server means a repository only
 * if no other one has it.
 */
export function matchSql(orgId: string): RawBuilder<boolean> {
  return sql`asset_keys.org_id = ${orgId} and asset_keys.key = keyed.key and asset_keys.rank + keyed.rank <= 3
    and (keyed.rank = 0 or keyed.key not like 'repository:%'
      or (select count(*) from asset_keys other where other.org_id = ${orgId} and other.key = keyed.key) = 1)`;
}

/** Whether a key is an address, which the next host can have tomorrow. The name of a host can be its address. */
export function isAddressSql(key: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(${key} ~ '^host:(ip:)?([0-9]{1,3}([.][0-9]{1,3}){3}|[0-9a-f]*:[0-9a-f:.]*)$')`;
}

/** What a key says about which host it is, in a form in which the statements of two tools can be compared: the name without its domain, the MAC address. */
function traitSql(key: RawBuilder<unknown>): RawBuilder<unknown> {
  const value = sql`substring(${key} from '^host:[a-z_]+:(.+)$')`;
  return sql`case
    when ${key} ~ '^host:(fqdn|hostname|netbios):' then array['name', left(split_part(${value}, '.', 1), 15)]
    when ${key} ~ '^host:mac:' then array['mac', translate(${value}, ':-.', '')]
    when ${key} ~ '^host:(agent_id|cloud_id):' then array[split_part(${key}, ':', 2), ${value}] end`;
}

/** Whether the host with the names `keys` has another name, MAC address or id than the asset `assetId`: then it is another one, even at the same address. */
export function contradictsSql(orgId: string, keys: RawBuilder<unknown>, assetId: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`exists (
    select from (select distinct ${traitSql(sql`stated.key`)} as trait from unnest(${keys}) as stated (key)) stated
    join (select distinct ${traitSql(sql`own.key`)} as trait from asset_keys own where own.org_id = ${orgId} and own.asset_id = ${assetId}) own on own.trait[1] = stated.trait[1]
    group by stated.trait[1] having not bool_or(own.trait = stated.trait))`;
}
