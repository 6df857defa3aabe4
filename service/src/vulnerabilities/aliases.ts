import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../db/database.ts';

/** Stores which ids are aliases of one vulnerability, from a query that yields `weakness text` and `aliases text[]`. Returns the new aliases. */
export async function learnAliases(tx: TenantTx, orgId: string, reported: RawBuilder<unknown>): Promise<string[]> {
  const { rows } = await sql<{ alias: string }>`
    insert into vulnerability_aliases (org_id, alias, weakness)
    select distinct on (names.alias) ${orgId}::uuid, names.alias, staged.weakness
    from (${reported}) staged cross join lateral unnest(staged.aliases) as names (alias)
    where names.alias <> staged.weakness
      and not exists (select from vulnerability_aliases known where known.org_id = ${orgId} and known.alias = names.alias)
    order by names.alias, staged.weakness not like 'CVE-%', staged.weakness
    returning alias`.execute(tx);
  if (rows.length === 0) return [];
  // If SNYK-1 is GHSA-2, and GHSA-2 is CVE-3, then both must refer to CVE-3 directly.
  await sql`
    update vulnerability_aliases a set weakness = b.weakness from vulnerability_aliases b
    where a.org_id = ${orgId} and b.org_id = ${orgId} and b.alias = a.weakness and b.weakness <> a.weakness`.execute(tx);
  return rows.map(({ alias }) => alias);
}
