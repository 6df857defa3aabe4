import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { isAddressSql } from './match-keys.ts';

/** A stated name that several hosts have. */
export interface SharedName {
  name: string;
  /** The first of them. */
  ids: string[];
}

/** How many hosts with one name are listed, and how many names. */
const SHOWN_IDS = 5;
const SHOWN_NAMES = 5;

interface Found {
  found: number;
  shared: SharedName[];
}

/**
 * Finds the hosts whose names are stated: people mean the host that they see under this name, although two machines can share a short name, so that it
 * recognizes none in a report (ADR 35). If several have the name, the id of an export tells which is meant, or which one is not retired. Otherwise the name is
 * treated as in a report. A run of another machine than the known one closes nothing.
 */
export async function findStated(tx: TenantTx, orgId: string, importId: string): Promise<Found> {
  const machine = sql`unnest(staged.machine_keys) as machine (key)`;
  const ofMeant = sql`known.org_id = ${orgId} and known.asset_id = meant.id`;
  const kindOf = (of: string) => sql`split_part(${sql.ref(`${of}.key`)}, ':', 2)`;
  const { rows } = await sql<Found>`
    with stated as materialized (
      select distinct asset_key, name, keys, stated_id from tenant_import_assets where org_id = ${orgId} and import_id = ${importId} and stated
    ), shown as materialized (
      select stated.asset_key, stated.name, found.id, found.retired_at is not null as is_retired, coalesce(found.id = stated.stated_id, false) as has_id
      from stated cross join lateral (
        select a.id, a.retired_at from tenant_assets a
        where a.org_id = ${orgId} and lower(a.name) collate "C" = stated.name and a.type = 'host' and a.merged_into is null offset 0) found
      union
      select stated.asset_key, stated.name, a.id, a.retired_at is not null, true
      from stated join assets a on a.org_id = ${orgId} and a.id = stated.stated_id and a.type = 'host' and a.merged_into is null
      where exists (select from asset_keys own where own.org_id = ${orgId} and own.asset_id = a.id and own.key = any(stated.keys))
    ), counted as (
      select asset_key, name, array_agg(id order by has_id desc, is_retired, id) as ids, bool_or(has_id) or count(*) = 1 or count(*) filter (where not is_retired) = 1 as is_one
      from shown group by 1, 2
    ), meant as materialized (
      select stated.asset_key, case when counted.is_one then counted.ids[1] end as id from stated left join counted using (asset_key)
    ), resolved as (
      update tenant_import_assets staged set asset_id = meant.id, stated = meant.id is not null,
        identity_weak = meant.id is not null and ${isAddressSql(sql`('host:' || staged.name)`)},
        doubt = case
          when exists (select from ${machine} join asset_keys known on ${ofMeant} and known.key = machine.key) then staged.doubt
          when exists (select from ${machine} join asset_keys known on ${ofMeant} and ${kindOf('known')} = ${kindOf('machine')}) then coalesce(staged.doubt, 'address_other')
          else staged.doubt end
      from meant where staged.org_id = ${orgId} and staged.import_id = ${importId} and staged.asset_key = meant.asset_key
    )
    select (select count(*)::int from meant where id is not null) as found, (
      select coalesce(json_agg(json_build_object('name', name, 'ids', ids[1:${SHOWN_IDS}]) order by name), '[]')
      from (select distinct name, ids from counted where not is_one order by name limit ${SHOWN_NAMES}) several) as shared`.execute(tx);
  return rows[0] ?? { found: 0, shared: [] };
}

/** Says which hosts a stated name can mean. */
export function sharedName({ name, ids }: SharedName): string {
  return `Several hosts have the name "${name}": ${ids.map((id) => `"${id}"`).join(', ')}.`;
}
