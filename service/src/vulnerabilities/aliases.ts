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

const isCve = (id: string): boolean => id.startsWith('CVE-');
/** A vulnerability has a few ids. An id that has very many is no vulnerability's own. */
const MAX_ALIASES = 50;

/**
 * The ids under which findings of the same vulnerability may be known, including the given one: what reports of the organization said, and what enrichment
 * knows. An advisory about several CVEs does not make these one vulnerability.
 */
export async function aliasesOf(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const id of new Set(ids)) {
    const same = new Set([id]);
    // The second step leads from one alias over the CVE to the other aliases.
    for (let step = 0; step < 2 && same.size < MAX_ALIASES; step++) {
      const { rows } = await neighboursSql(orgId, [...same]).execute(tx);
      for (const row of rows) if (same.size < MAX_ALIASES && !(isCve(id) && isCve(row.id))) same.add(row.id);
    }
    found.set(id, [...same]);
  }
  return found;
}

function neighboursSql(orgId: string, ids: string[]) {
  return sql<{ id: string }>`
    select weakness as id from vulnerability_aliases where org_id = ${orgId} and alias = any(${ids})
    union select alias from vulnerability_aliases where org_id = ${orgId} and weakness = any(${ids})
    union select alias from vulnerabilities cross join lateral unnest(aliases) as alias where id = any(${ids})
    union select id from vulnerabilities where aliases && ${ids} and aliases <> '{}'
    order by 1`;
}
