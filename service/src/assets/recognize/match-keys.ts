import { type RawBuilder, sql } from 'kysely';

/**
 * Whether a name `keyed` (key, rank) means the asset of a row of `asset_keys`. What several assets may share means none of them: the address of a host of which
 * more is known, its name without its domain, the path of a repository whose server is known. So the order of reports does not matter.
 */
export function matchSql(orgId: string): RawBuilder<boolean> {
  return sql`asset_keys.org_id = ${orgId} and asset_keys.key = keyed.key and asset_keys.rank < 2 and keyed.rank < 2`;
}

/** Whether a key is an address, which the next host can have tomorrow. The name of a host can be its address. */
export function isAddressSql(key: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(${key} ~ '^host:(ip:)?([0-9]{1,3}([.][0-9]{1,3}){3}|[0-9a-f]*:[0-9a-f:.]*)$')`;
}

/** Whether a key identifies a machine for good, whatever else is said about it. */
export function isMachineSql(key: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(${key} ~ '^host:(agent_id|cloud_id):')`;
}

/** What a key says about which host it is, in a form in which the statements of two tools can be compared: the name without its domain, the MAC address. */
function traitSql(key: RawBuilder<unknown>): RawBuilder<unknown> {
  const value = sql`substring(${key} from '^host:[a-z_]+:(.+)$')`;
  return sql`case
    when ${key} ~ '^host:(fqdn|hostname|netbios):' then array['name', left(split_part(${value}, '.', 1), 15)]
    when ${key} ~ '^host:mac:' then array['mac', translate(${value}, ':-.', '')]
    when ${key} ~ '^host:(agent_id|cloud_id):' then array[split_part(${key}, ':', 2), ${value}] end`;
}

/** How many kinds of traits there are among the keys of a relation `k`. */
export function kindsSql(relation: RawBuilder<unknown>): RawBuilder<number> {
  return sql`(select count(distinct (${traitSql(sql`k.key`)})[1]) from ${relation})`;
}

interface Compared {
  orgId: string;
  /** The name that both have. */
  key: RawBuilder<unknown>;
  /** All names of the one host. */
  keys: RawBuilder<unknown>;
  /** The other one. */
  assetId: RawBuilder<unknown>;
  /** The assets that are compared. */
  both: RawBuilder<unknown>;
  /** Whether others that have no asset yet have the name as well, and something else that tells them apart. */
  isCrowded?: RawBuilder<boolean>;
}

/**
 * Whether a name or MAC address that a host and an asset have makes them one. Not if they have different names, MAC addresses, agents or cloud ids. If several
 * machines have the name, a host is one of them only if they have more in common. A host that is known by nothing else is another one.
 */
export function isSameSql({ orgId, key, keys, assetId, both, isCrowded = sql`false` }: Compared): RawBuilder<boolean> {
  const others = sql`exists (
    select from asset_keys other where other.org_id = ${orgId} and other.key = ${key} and other.rank < 2 and other.asset_id not in (${both})
      and ${kindsSql(sql`asset_keys k where k.org_id = ${orgId} and k.asset_id = other.asset_id`)} > 1)`;
  return sql`(not (${key} like 'host:%') or ${isMachineSql(key)} or ${isAddressSql(key)} or (
    select case when coalesce(bool_or(kinds.stated and kinds.own and not kinds.same), false) then false
      when count(*) <= 1 or count(*) filter (where kinds.same) > 1 then true else not (${isCrowded} or ${others}) end
    from (
      select bool_or(stated) as stated, bool_or(own) as own, bool_or(stated and own) as same from (
        select trait, bool_or(stated) as stated, bool_or(not stated) as own from (
          select ${traitSql(sql`named.key`)} as trait, true as stated from unnest(${keys}) as named (key)
          union all select ${traitSql(sql`known.key`)}, false from asset_keys known where known.org_id = ${orgId} and known.asset_id = ${assetId}
        ) each where trait is not null group by trait
      ) traits group by trait[1]
    ) kinds))`;
}
