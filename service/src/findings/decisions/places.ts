import { type RawBuilder, sql } from 'kysely';

/** The places at which sources report findings: `finding_id`, `source_id`, `label` and whether the source still reports it there. */
export function placesSql(orgId: string): RawBuilder<unknown> {
  return sql`(
    select s.finding_id, s.source_id, s.track, s.place as label, s.state = 'present' as present from sightings s where s.org_id = ${orgId} and s.place is not null
    union all
    select o.finding_id, o.source_id, o.track, o.label, o.state = 'present' and s.state = 'present'
    from occurrences o join sightings s on s.org_id = ${orgId} and s.finding_id = o.finding_id and s.source_id = o.source_id and s.track = o.track
    where o.org_id = ${orgId})`;
}

/** Whether the label says no more than the finding itself. */
function isWhole(label: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(${label} like 'component %' or ${label} = 'asset')`;
}

/** The label with `*` for each version in the path of a component. */
function withoutVersions(label: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(case when f.component is not null and ${label} like 'path %' then regexp_replace(${label}, '\\d+(\\.\\d+)+', '*', 'g') else ${label} end)`;
}

/** The last two parts of a path. Paths that end in each other have the same ones. */
function endOf(label: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`coalesce(substring(${label} from '^path (?:.*/)?([^/]+/[^/]+)$'), ${label})`;
}

/**
 * Whether a source reports the finding `f` at a place that the decision `d` does not cover. A decision on a finding without places covers all of it. Paths
 * of a source that had not reported the finding are compared by their ends, because tools start in different folders. Paths in which only versions differ
 * from those that the decision knows are covered if they replaced them: the source shows none of these any more, and not more paths than there were.
 */
export function isUncovered(orgId: string): RawBuilder<boolean> {
  const isEnd = (long: RawBuilder<unknown>, short: RawBuilder<unknown>) => sql`right(${long}, length(${short}) - 4) = '/' || substr(${short}, 6)`;
  const isSame = (one: RawBuilder<unknown>, other: RawBuilder<unknown>) =>
    sql`(${one} = ${other} or (p.is_new_source and ${one} like 'path %/%' and ${other} like 'path %/%' and (${isEnd(one, other)} or ${isEnd(other, one)})))`;
  const places = sql`${placesSql(orgId)} p where p.finding_id = f.id and not ${isWhole(sql`p.label`)}`;
  const count = sql`count(distinct p.label)`;
  const known = sql`${count} filter (where ${isSame(sql`known.label`, sql`p.label`)})`;
  return sql<boolean>`(d.scope = 'places' and d.places is not null and not exists (select from unnest(d.places) as known where ${isWhole(sql`known`)})
    and exists (select from ${places} and p.present and p.label <> all(d.places))
    and exists (
      select from (
        select p.*, case when p.is_new_source then ${endOf(sql`p.unversioned`)} else p.unversioned end as key from (
          select p.*, ${withoutVersions(sql`p.label`)} as unversioned, not bool_or(p.label = any(d.places)) over (partition by p.source_id) as is_new_source from ${places} offset 0) p
        where p.present offset 0) p
      left join (
        select label, unversioned, is_end, case when is_end then ${endOf(sql`unversioned`)} else unversioned end as key
        from (select label, ${withoutVersions(sql`label`)} as unversioned from unnest(d.places) as label offset 0) as given cross join (values (true), (false)) as kinds (is_end) offset 0) known
        on known.is_end = p.is_new_source and known.key = p.key and ${isSame(sql`known.unversioned`, sql`p.unversioned`)}
      group by p.source_id, p.track, p.unversioned
      having ${known} < ${count} and (${known} > 0 or ${count} > count(distinct known.label))))`;
}
