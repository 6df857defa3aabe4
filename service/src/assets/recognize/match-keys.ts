import { type RawBuilder, sql } from 'kysely';

/**
 * Whether a name `keyed` (key, rank) means the asset of a row of `asset_keys`. A path or name of a repository without its server means a repository only
 * if no other one has it, and so does the name of a host without its domain. `among` is how many assets may have the name. An address means a host only if
 * nothing else is known of it, because the next host can have the address tomorrow.
 */
export function matchSql(orgId: string, among = 1): RawBuilder<boolean> {
  return sql`asset_keys.org_id = ${orgId} and asset_keys.key = keyed.key and asset_keys.rank + keyed.rank <= 3
    and case when keyed.key like 'repository:%' then keyed.rank = 0 or ${hasNoOther(orgId, 1)}
      when ${isAddressSql(sql`keyed.key`)} then asset_keys.rank < 2 and keyed.rank < 2
      when keyed.key ~ '^host:(hostname|netbios):' then asset_keys.rank + keyed.rank <= 2 or ${hasNoOther(orgId, among)} else true end`;
}

function hasNoOther(orgId: string, among: number): RawBuilder<boolean> {
  return sql`(select count(*) from asset_keys other where other.org_id = ${orgId} and other.key = keyed.key) <= ${among}`;
}

/** Whether a key is a name of a host, which another machine can get. */
export function isHostNameSql(key: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(${key} ~ '^host:((fqdn|hostname|netbios):)?[^:]*$' and not ${isAddressSql(key)})`;
}

/**
 * Whether the host with the names `keys` is another machine than the asset, whatever its name: both have MAC addresses, agents or cloud ids, and none of them
 * is the same.
 */
export function isOtherMachineSql(orgId: string, keys: RawBuilder<unknown>, assetId: RawBuilder<unknown>): RawBuilder<boolean> {
  const machine = (key: RawBuilder<unknown>) => sql`case when ${key} ~ '^host:(mac|agent_id|cloud_id):' then ${traitSql(key)} end`;
  return sql`coalesce((
    select bool_or(own.trait[1] = stated.trait[1]) and not bool_or(own.trait = stated.trait)
    from (select distinct ${machine(sql`stated.key`)} as trait from unnest(${keys}) as stated (key)) stated
    cross join (select distinct ${machine(sql`own.key`)} as trait from asset_keys own where own.org_id = ${orgId} and own.asset_id = ${assetId}) own), false)`;
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
