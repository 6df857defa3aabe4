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

/**
 * Whether a source reports the finding `f` at a place that the decision `d` does not cover. A decision on a finding without places covers all of it. Paths
 * of a source that had not reported the finding are compared by their ends, because tools start in different folders.
 */
export function isUncovered(orgId: string): RawBuilder<boolean> {
  const isEnd = (long: RawBuilder<unknown>, short: RawBuilder<unknown>) =>
    sql`(strpos(substr(${short}, 6), '/') > 0 and right(${long}, length(${short}) - 4) = '/' || substr(${short}, 6))`;
  return sql<boolean>`(d.scope = 'places' and d.places is not null and not exists (select from unnest(d.places) as known where ${isWhole(sql`known`)}) and exists (
    select from ${placesSql(orgId)} p
    where p.finding_id = f.id and p.present and not ${isWhole(sql`p.label`)} and p.label <> all(d.places)
      and not (p.label like 'path %'
        and not exists (select from ${placesSql(orgId)} own where own.finding_id = f.id and own.source_id = p.source_id and own.label = any(d.places))
        and exists (select from unnest(d.places) as known where known like 'path %' and (${isEnd(sql`known`, sql`p.label`)} or ${isEnd(sql`p.label`, sql`known`)})))))`;
}
