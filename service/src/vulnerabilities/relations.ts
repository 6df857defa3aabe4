import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { DB } from '../db/types.ts';

/**
 * What other features may read of vulnerabilities, as derived tables. PostgreSQL inlines them, so plans are the same as over the tables. `kev`: whether CISA
 * knows that the vulnerability is exploited, from its catalog or from its SSVC decision.
 */
export const vulnerabilityFacts = sql<
  Pick<
    Selectable<DB['vulnerabilities']>,
    'id' | 'cvss_version' | 'cvss_vector' | 'cvss_score' | 'epss' | 'epss_percentile' | 'epss_date' | 'kev' | 'kev_due_date'
  >
>`(select id, cvss_version, cvss_vector, cvss_score, epss, epss_percentile, epss_date, kev or coalesce(ssvc->>'exploitation' = 'active', false) as kev, kev_due_date from vulnerabilities)`;

/** Whether a finding is a check for several vulnerabilities, none of which is its weakness. */
export function isOfSeveral(weakness: RawBuilder<unknown>, ids: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(cardinality(${ids}) > 1 and ${weakness} <> all(${ids}))`;
}

/** The worst that is known of each fact about the vulnerabilities of such a check, in one row. Its `id` is null if nothing is known. */
export function worstKnown(weakness: RawBuilder<unknown>, ids: RawBuilder<unknown>): RawBuilder<unknown> {
  const worst = (fact: string, by: string) =>
    sql`(array_agg(${sql.ref(`one.${fact}`)} order by ${sql.ref(`one.${by}`)} desc nulls last, one.id))[1] as ${sql.ref(fact)}`;
  return sql`(
    select min(one.id) as id, bool_or(one.kev) as kev, min(one.kev_due_date) as kev_due_date,
      ${sql.join(['cvss_version', 'cvss_vector', 'cvss_score'].map((fact) => worst(fact, 'cvss_score')))},
      ${sql.join(['epss', 'epss_percentile', 'epss_date'].map((fact) => worst(fact, 'epss')))}
    from ${vulnerabilityFacts} one where ${isOfSeveral(weakness, ids)} and one.id = any(${ids}))`;
}

/** Joins as `v` what is known about the weakness of a finding, or the worst that is known of its vulnerabilities. `v.id` is null if nothing is known. */
export function joinKnown(weakness: RawBuilder<unknown>, ids: RawBuilder<unknown>): RawBuilder<unknown> {
  const facts = ['id', 'cvss_version', 'cvss_vector', 'cvss_score', 'epss', 'epss_percentile', 'epss_date', 'kev', 'kev_due_date'];
  return sql`
    left join ${vulnerabilityFacts} own on own.id = ${weakness}
    left join lateral ${worstKnown(weakness, ids)} several on true
    cross join lateral (
      select ${sql.join(facts.map((fact) => sql`case when own.id is null then ${sql.ref(`several.${fact}`)} else ${sql.ref(`own.${fact}`)} end as ${sql.ref(fact)}`))}
    ) v`;
}

/** Other ids of a vulnerability and the id under which its findings are kept. */
export const vulnerabilityAliases = sql<
  Pick<Selectable<DB['vulnerability_aliases']>, 'org_id' | 'alias' | 'weakness'>
>`(select org_id, alias, weakness from vulnerability_aliases where revoked_at is null)`;

/** What tools claim and nobody has confirmed or revoked. Each claim counts for the records of the tool, unless it contradicts itself. */
export const countingClaims = sql<Pick<Selectable<DB['alias_claims']>, 'org_id' | 'alias' | 'weakness' | 'provider'>>`(
  select claim.org_id, claim.alias, claim.weakness, claim.provider from alias_claims claim
  where not exists (select from vulnerability_aliases known where known.org_id = claim.org_id and known.alias = claim.alias)
    and not exists (
      select from alias_claims other
      where other.org_id = claim.org_id and other.alias = claim.alias and other.provider = claim.provider and other.weakness <> claim.weakness))`;

/** The aliases for the records of one tool: those that count for all, and its own claims that count. */
export function aliasesFor(orgId: string, provider: string | RawBuilder<string>): RawBuilder<unknown> {
  return sql`(
    select alias, weakness from vulnerability_aliases where org_id = ${orgId} and revoked_at is null
    union all
    select claim.alias, claim.weakness from ${countingClaims} claim where claim.org_id = ${orgId} and claim.provider = ${provider})`;
}

/** All ids that a tool or a knowledge source takes for those of a vulnerability, whether or not they count. */
export const claimedAliases = sql<Pick<Selectable<DB['alias_claims']>, 'org_id' | 'alias' | 'weakness'>>`(
  select org_id, alias, weakness from alias_claims union select org_id, alias, weakness from vulnerability_aliases)`;
