import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../db/database.ts';

interface Claims {
  orgId: string;
  /** The tool that reports the ids as those of one vulnerability. */
  provider: string;
  /** Yields `weakness text` and `aliases text[]`. */
  reported: RawBuilder<unknown>;
}

/**
 * Stores which ids a tool takes for those of one vulnerability. A claim counts for the records of that tool. It counts for all if the knowledge sources say
 * the same, or if a second tool does and none contradicts. Returns the aliases that count for all since now.
 */
export async function learnAliases(tx: TenantTx, { orgId, provider, reported }: Claims): Promise<string[]> {
  const { rows } = await sql<{ alias: string }>`
    insert into alias_claims (org_id, alias, weakness, provider)
    select distinct ${orgId}::uuid, names.alias, staged.weakness, ${provider}::text
    from (${reported}) staged cross join lateral unnest(staged.aliases) as names (alias)
    where names.alias <> staged.weakness
      and not exists (
        select from alias_claims known where known.org_id = ${orgId} and known.alias = names.alias and known.weakness = staged.weakness and known.provider = ${provider})
    returning alias`.execute(tx);
  const { rows: named } = await sql<{ id: string }>`select distinct weakness as id from (${reported}) staged where weakness ~ ${ADVISORY}`.execute(tx);
  return confirmAliases(tx, orgId, [...new Set([...rows.map(({ alias }) => alias), ...named.map(({ id }) => id)])]);
}

/** Ids of advisories that are about one vulnerability each. Knowledge sources may know its CVE. */
const ADVISORY = '^(GHSA|SNYK|PYSEC|GO|RUSTSEC|GSD|OSV|MAL|GMS)-';

/** Lets aliases count for all that the knowledge sources know, or that two tools agree on. Returns the new ones. */
export async function confirmAliases(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ alias: string }>`
    with candidates as (
      select alias from unnest(${ids as string[]}::text[]) as alias
      where not exists (select from vulnerability_aliases known where known.org_id = ${orgId} and known.alias = alias)
    ), known as (
      select candidates.alias, knowledge.id as weakness, 'knowledge' as origin from candidates cross join lateral (
        select v.id from vulnerabilities v where v.aliases @> array[candidates.alias] and v.id <> candidates.alias order by v.id not like 'CVE-%', v.id limit 1
      ) knowledge
    ), agreed as (
      select alias, min(weakness) as weakness, 'sources' as origin from alias_claims join candidates using (alias)
      where org_id = ${orgId} group by alias having count(distinct weakness) = 1 and count(*) > 1
    )
    insert into vulnerability_aliases (org_id, alias, weakness, origin)
    select distinct on (alias) ${orgId}::uuid, alias, weakness, origin from (select * from known union all select * from agreed) found order by alias, origin
    on conflict do nothing
    returning alias`.execute(tx);
  if (rows.length === 0) return [];
  // If SNYK-1 is GHSA-2, and GHSA-2 is CVE-3, then both must refer to CVE-3 directly.
  await sql`
    update vulnerability_aliases a set weakness = b.weakness from vulnerability_aliases b
    where a.org_id = ${orgId} and b.org_id = ${orgId} and b.alias = a.weakness and b.weakness <> a.weakness and a.revoked_at is null and b.revoked_at is null`.execute(
    tx,
  );
  return rows.map(({ alias }) => alias);
}
