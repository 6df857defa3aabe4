import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../db/database.ts';
import { prepared } from '../db/prepared.ts';
import { countingClaims } from './relations.ts';

export interface Claims {
  orgId: string;
  /** The tool that reports the ids as those of one vulnerability. */
  provider: string;
  /** Yields `weakness text` and `aliases text[]`. */
  reported: RawBuilder<unknown>;
}

/**
 * Stores which ids a tool takes for those of one vulnerability. A claim counts for the records of that tool. It counts for all if the knowledge sources say
 * the same, or if a second tool does and none contradicts. Returns the aliases that count for all since now, and those that count for the
 * tool.
 */
export async function learnAliases(tx: TenantTx, { orgId, provider, reported }: Claims): Promise<{ confirmed: string[]; claimed: string[] }> {
  const { rows } = await sql<{ alias: string }>`
    insert into alias_claims (org_id, alias, weakness, provider)
    select distinct ${orgId}::uuid, names.alias, staged.weakness, ${provider}::text
    from (${reported}) staged cross join lateral unnest(staged.aliases) as names (alias)
    where names.alias <> staged.weakness
      and not exists (
        select from alias_claims known where known.org_id = ${orgId} and known.alias = names.alias and known.weakness = staged.weakness and known.provider = ${provider})
    returning alias`.execute(tx);
  const { rows: named } = await sql<{ id: string }>`select distinct weakness as id from (${reported}) staged where weakness ~ ${ADVISORY}`.execute(tx);
  const claimed = [...new Set(rows.map(({ alias }) => alias))];
  return { claimed, confirmed: await confirmAliases(tx, orgId, [...new Set([...claimed, ...named.map(({ id }) => id)])]) };
}

/** Whether the organization knows any alias, confirmed or claimed. */
export async function hasAliases(tx: TenantTx, orgId: string): Promise<boolean> {
  const { rows } = await sql<{ known: boolean }>`
    select exists (select from vulnerability_aliases where org_id = ${orgId}) or exists (select from alias_claims where org_id = ${orgId}) as known`.execute(
    tx,
  );
  return rows[0]?.known ?? false;
}

/** Ids of advisories that are about one vulnerability each. Knowledge sources may know its CVE. */
const ADVISORY = '^(GHSA|SNYK|PYSEC|GO|RUSTSEC|GSD|OSV|MAL|GMS)-';

/** Whether the knowledge about `v` names the id as an alias. The index leaves out what has none, so the condition must do so, too. */
export function hasAlias(id: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`v.aliases @> array[${id}] and v.aliases <> '{}'`;
}

/** The vulnerability that the knowledge sources know an id as an alias of. An advisory about several CVEs is an alias of none. */
function knownWeakness(alias: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select coalesce(min(v.id) filter (where v.id like 'CVE-%'), min(v.id)) as id from vulnerabilities v
    where ${hasAlias(alias)} and v.id <> ${alias}
    having count(*) = 1 or count(*) filter (where v.id like 'CVE-%') = 1)`;
}

/** Lets aliases count for all that the knowledge sources know, or that two tools agree on. Returns the new ones. */
async function confirmAliases(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ alias: string }>`
    with candidates as (
      select named.alias from unnest(${ids as string[]}::text[]) as named (alias)
      where not exists (select from vulnerability_aliases known where known.org_id = ${orgId} and known.alias = named.alias)
    ), known as (
      select candidates.alias, knowledge.id as weakness, 'knowledge' as origin from candidates cross join lateral ${knownWeakness(sql`candidates.alias`)} knowledge
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
    where a.org_id = ${orgId} and b.org_id = ${orgId} and b.alias = a.weakness and b.weakness not in (a.weakness, a.alias) and a.revoked_at is null and b.revoked_at is null`.execute(
    tx,
  );
  return rows.map(({ alias }) => alias);
}

export const isCve = (id: string): boolean => id.startsWith('CVE-');
/** A vulnerability has a few ids. An id that has very many is no vulnerability's own. */
const MAX_ALIASES = 50;

/** An id of a vulnerability. What only one tool claims counts for the findings of this `claimant`. */
export interface SameId {
  id: string;
  claimant: string | null;
}

/**
 * The ids under which findings of the same vulnerability may be known, including the given one: the aliases that count, for all or for the findings of
 * one tool. Those that were revoked, and those about which the sources contradict themselves, do not count.
 */
export async function aliasesOf(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<Map<string, SameId[]>> {
  const found = [...new Set(ids)].map(async (id) => [id, await idsOfSame(tx, orgId, id)] as const);
  return new Map(await Promise.all(found));
}

const keyOf = ({ id, claimant }: SameId): string => JSON.stringify([id, claimant]);

async function idsOfSame(tx: TenantTx, orgId: string, given: string): Promise<SameId[]> {
  const own: SameId = { id: given, claimant: null };
  const same = new Map([[keyOf(own), own]]);
  const add = (found: SameId): void => {
    const isKnown = same.has(keyOf(found)) || same.has(keyOf({ ...found, claimant: null }));
    if (!isKnown && same.size < MAX_ALIASES && !(isCve(given) && isCve(found.id))) same.set(keyOf(found), found);
  };
  // The second step leads from one alias over the CVE to the other aliases.
  for (let step = 0, asked = 0; step < 2 && same.size > asked && same.size < MAX_ALIASES; step++) {
    const latest = [...same.values()].slice(asked);
    asked = same.size;
    for (const { near, id, claimant } of await readNeighbours(tx, { orgId, ids: latest.map((one) => one.id) })) {
      for (const from of latest) {
        // What two tools claim leads nowhere together.
        const isSame = from.claimant === null || claimant === null || from.claimant === claimant;
        if (from.id === near && isSame) add({ id, claimant: from.claimant ?? claimant });
      }
    }
  }
  return [...same.values()];
}

/** The aliases of the ids, and the vulnerabilities whose aliases they are. The knowledge sources are asked about aliases that nobody has decided on. */
const readNeighbours = prepared<{ orgId: string; ids: string[] }, SameId & { near: string }>((tx, { orgId, ids }) => {
  const isOpen = (alias: RawBuilder<unknown>) =>
    sql`not exists (select from vulnerability_aliases decided where decided.org_id = ${orgId} and decided.alias = ${alias})`;
  const query = sql<SameId & { near: string }>`
    select alias as near, weakness as id, null as claimant from vulnerability_aliases where org_id = ${orgId} and alias = any(${ids}) and revoked_at is null
    union select weakness, alias, null from vulnerability_aliases where org_id = ${orgId} and weakness = any(${ids}) and revoked_at is null
    union select asked.alias, known.id, null from unnest(${ids}::text[]) as asked (alias) cross join lateral ${knownWeakness(sql`asked.alias`)} known where ${isOpen(sql`asked.alias`)}
    union select own.id, named.alias, null from vulnerabilities own cross join lateral unnest(own.aliases) as named (alias)
      cross join lateral ${knownWeakness(sql`named.alias`)} known where own.id = any(${ids}) and known.id = own.id and ${isOpen(sql`named.alias`)}
    union select claim.alias, claim.weakness, claim.provider from ${countingClaims} claim where claim.org_id = ${orgId} and claim.alias = any(${ids})
    union select claim.weakness, claim.alias, claim.provider from ${countingClaims} claim where claim.org_id = ${orgId} and claim.weakness = any(${ids})
    order by 3 nulls first, 2, 1`;
  return { compile: () => query.compile(tx) };
});
