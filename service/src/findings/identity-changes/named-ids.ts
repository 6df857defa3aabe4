import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { aliasesFor } from '../../vulnerabilities/relations.ts';
import { idsSql } from '../follower.ts';
import { namedSql } from './move-sightings.ts';

/** Two ids that were those of one vulnerability. */
export interface SeparatedIds {
  alias: string;
  weakness: string;
}

/**
 * The lists of ids that the records of sightings `s` of findings `f` name: `f`'s columns, `source_id`, `track`, `list`, and as `own` the id under which the next
 * report of the list is kept: that of the finding, or that of another one, with its `other_id` if it exists. `where` selects findings `f`.
 */
export function namedListsSql(orgId: string, separated: SeparatedIds | null, where: RawBuilder<unknown>): RawBuilder<unknown> {
  // No id is ''.
  const { alias, weakness } = separated ?? { alias: '', weakness: '' };
  const provider = sql<string>`coalesce(nullif(o.tool, ''), o.provider)`;
  const known = sql`(
    select known.weakness from ${aliasesFor(orgId, provider)} known where named.list ? known.alias order by known.weakness in (${alias}, ${weakness}) desc, known.weakness limit 1)`;
  return sql`
    select f.id, f.asset_id, f.weakness, f.identity_key, s.source_id, s.track, named.list, case when is_own then f.weakness else kept.own end as own, case when not is_own then other.id end as other_id
    from findings f
    join sightings s on s.org_id = ${orgId} and s.finding_id = f.id and s.said is not null
    join sources o on o.org_id = ${orgId} and o.id = s.source_id
    cross join lateral jsonb_array_elements(${namedSql('s')}) as named (list)
    cross join lateral (
      select case when named.list ? ${weakness} then ${weakness} when named.list ? ${alias} then ${alias}
        else coalesce(${known}, (distinct_ids(array(select jsonb_array_elements_text(named.list))))[1], f.weakness) end as own
    ) kept
    left join lateral (
      select coalesce(x.merged_into, x.id) as id from findings x
      where x.org_id = ${orgId} and x.asset_id = f.asset_id and x.weakness = kept.own and x.identity_key = f.identity_key) other on true
    cross join lateral (select other.id is not distinct from f.id or (other.id is null and kept.own not in (${alias}, ${weakness})) as is_own) verdict
    where f.org_id = ${orgId} and f.merged_into is null and ${where}`;
}

/** A finding has no ids of records that are about another finding now. `separated` are ids that are no longer aliases. */
export async function keepOwnIds(tx: TenantTx, orgId: string, separated: SeparatedIds | null, ids: readonly string[]): Promise<void> {
  const wordsOf = (list: RawBuilder<unknown>) => sql`select 'v:' || lower(jsonb_array_elements_text(${list}))`;
  await sql`
    with lists as materialized (${namedListsSql(orgId, separated, sql`f.id in (${idsSql(ids)})`)}), sorted as materialized (
      select id, source_id, track, jsonb_agg(list) as before, coalesce(jsonb_agg(list) filter (where own = weakness), jsonb_build_array(jsonb_build_array(weakness))) as lists
      from lists group by id, source_id, track, weakness having bool_or(own <> weakness)
    ), kept as materialized (
      select sorted.*, to_jsonb(distinct_ids(array(select jsonb_array_elements_text(list) from jsonb_array_elements(lists) as list))) as ids from sorted
    )
    update sightings s set said = s.said - 'named' || jsonb_strip_nulls(jsonb_build_object(
      'vulnerability_ids', kept.ids, 'named', case when jsonb_array_length(kept.lists) > 1 then kept.lists end,
      'words', array(
        select word from jsonb_array_elements_text(s.said->'words') as word where word not in (select unnest(array(${wordsOf(sql`list`)})) from jsonb_array_elements(kept.before) as list)
        union ${wordsOf(sql`kept.ids`)})))
    from kept where s.org_id = ${orgId} and s.finding_id = kept.id and s.source_id = kept.source_id and s.track = kept.track`.execute(tx);
}
