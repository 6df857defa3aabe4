import { type RawBuilder, sql } from 'kysely';
import { tenantAssets } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { lexeme } from '../list/lexemes.ts';

interface Prefix {
  orgId: string;
  /** In lower case. */
  prefix: string;
  limit: number;
}

/** How many findings are looked at for identifiers, which are found by a prefix in the search index. */
const LOOKED_AT = 5_000;

const likePrefix = (prefix: string): string => `${prefix.replaceAll(/[\\%_]/g, '\\$&')}%`;

/** Selects `value` for each field that can be completed. All but vulnerabilities are read from indexes that have each value once, or few rows. */
const sources = {
  /** Walks the index from one name to the next, so that the number of findings does not matter. The group of a component is not part of the index. */
  component: ({ orgId, prefix, limit }) => {
    const name = sql`lower(regexp_replace(component, '^.*[:/]', ''))`;
    const next = (after: RawBuilder<unknown>) =>
      sql`select ${name} from tenant_findings where org_id = ${orgId} and component is not null and ${after} order by ${name} limit 1`;
    return sql`
      with recursive names (value) as (
        (${next(sql`${name} >= ${prefix}`)})
        union all
        select (${next(sql`${name} > names.value`)}) from names where starts_with(names.value, ${prefix})
      )
      select value from names where starts_with(value, ${prefix}) limit ${limit}`;
  },
  tag: ({ orgId, prefix }) => sql`
    select tag as value from findings, unnest(tags) tag where org_id = ${orgId} and listed and tags <> '{}' and starts_with(lower(tag), ${prefix})`,
  cve: ({ orgId, prefix }) => sql`
    select id as value from (
      select vulnerability_ids from tenant_findings where org_id = ${orgId} and facets @@ ${lexeme(`v:${prefix}`, true)}::tsquery limit ${LOOKED_AT}
    ) found, unnest(found.vulnerability_ids) id where starts_with(lower(id), ${prefix})`,
  asset: ({ orgId, prefix, limit }) => sql`
    select name as value from ${tenantAssets} assets where org_id = ${orgId} and lower(name) collate "C" like ${likePrefix(prefix)} order by lower(name) collate "C" limit ${limit}`,
  owner: ({ orgId, prefix }) => sql`select owner as value from ${tenantAssets} assets where org_id = ${orgId} and starts_with(lower(owner), ${prefix})`,
  asset_tag: ({ orgId, prefix }) => sql`
    select tag as value from ${tenantAssets} assets, unnest(tags) tag where org_id = ${orgId} and starts_with(lower(tag), ${prefix})`,
  source: ({ orgId, prefix }) => sql`select provider as value from sources where org_id = ${orgId} and starts_with(provider, ${prefix})`,
} as const satisfies Record<string, (prefix: Prefix) => RawBuilder<unknown>>;

export type SuggestedField = keyof typeof sources;
export const suggestedFields = Object.keys(sources) as readonly SuggestedField[];

/** Values of a filter that begin with the text, in alphabetical order. */
export async function suggest(
  tx: TenantTx,
  orgId: string,
  { field, prefix, limit }: { field: SuggestedField; prefix: string; limit: number },
): Promise<string[]> {
  const select = sources[field]({ orgId, prefix: prefix.toLowerCase(), limit });
  const { rows } = await sql<{ value: string }>`select distinct value from (${select}) found where value is not null order by value limit ${limit}`.execute(tx);
  return rows.map(({ value }) => value);
}
