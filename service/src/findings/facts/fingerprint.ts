import { type RawBuilder, sql } from 'kysely';

/**
 * Changes whenever a row changes that `evidenceFindings` reads about the selected findings. `xmin` is the transaction that wrote a row, so the sum grows
 * with each update, and the rows themselves need not be compared.
 */
export function findingsFingerprint(orgId: string, ids: RawBuilder<unknown>): RawBuilder<string> {
  const written = (table: string) => sql`count(*), coalesce(sum(${sql.ref(`${table}.xmin`)}::text::bigint), 0)`;
  return sql<string>`(
    with own as materialized (
      select f.id, f.asset_id, f.xmin::text::bigint as written from (${ids}) own (id) cross join lateral (select f.id, f.asset_id, f.xmin from findings f where f.org_id = ${orgId} and f.id = own.id offset 0) f
    )
    select concat_ws(' ', (select (count(*), sum(written)) from own),
      (select (${written('s')}) from own join sightings s on s.org_id = ${orgId} and s.finding_id = own.id),
      (select (${written('h')}) from own join finding_history h on h.org_id = ${orgId} and h.finding_id = own.id),
      (select (${written('d')}) from own join decisions d on d.org_id = ${orgId} and d.finding_id = own.id),
      (select (${written('c')}) from source_coverage c where c.org_id = ${orgId} and c.asset_id in (select asset_id from own))))`;
}
