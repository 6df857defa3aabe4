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
