import { assetTypes } from '@rrs/scan-reports';
import { sql } from 'kysely';
import type { TenantTx } from '../db/database.ts';
import { prepared } from '../db/prepared.ts';
import { normalAsset } from './names/asset-name.ts';

/**
 * The assets that are known by this name in any spelling: `nginx:1.19` is the image `nginx`, `git@github.com:acme/shop.git` the repository
 * `github.com/acme/shop`.
 */
export async function findByName(tx: TenantTx, orgId: string, name: string): Promise<string[]> {
  return (await findByNames(tx, orgId, [name])).get(name) ?? [];
}

/** The assets of several names, at most 100 each. */
export async function findByNames(tx: TenantTx, orgId: string, names: readonly string[]): Promise<Map<string, string[]>> {
  if (names.length === 0) return new Map();
  const keyed = [...new Set(names)].flatMap((name) => assetTypes.map((type) => ({ name, key: normalAsset({ type, name }).key })));
  const rows = await readNamed(tx, { orgId, names: keyed.map(({ name }) => name), keys: keyed.map(({ key }) => key) });
  return new Map(rows.map(({ name, ids }) => [name, ids]));
}

const readNamed = prepared<{ orgId: string; names: string[]; keys: string[] }, { name: string; ids: string[] }>((tx, { orgId, names, keys }) => {
  const query = sql<{ name: string; ids: string[] }>`
    select named.name, (array_agg(distinct k.asset_id order by k.asset_id))[1:100] as ids
    from unnest(${names}::text[], ${keys}::text[]) as named (name, key)
    join asset_keys k on k.org_id = ${orgId} and k.key = named.key group by 1`;
  return { compile: () => query.compile(tx) };
});
