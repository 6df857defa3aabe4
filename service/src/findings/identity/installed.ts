import { type RawBuilder, sql } from 'kysely';

/**
 * The package that is installed, if `location` is in one of a distribution. As in `componentOf`, a package URL counts more than the name: a record that is named
 * `openssl` and has the URL of `libssl3` is about `libssl3`, and does not say that one is built from the other. Regular expressions would take twice as long.
 */
export function installedSql(location: RawBuilder<unknown>): RawBuilder<string | null> {
  const purl = sql`${location}->>'purl'`;
  const inUrl = sql`split_part(split_part(split_part(split_part(${purl}, '?', 1), '#', 1), '@', 1), '/', -1)`;
  const decoded = sql`replace(replace(replace(lower(${inUrl}), '%2b', '+'), '%7e', '~'), '%3a', ':')`;
  return sql`coalesce(case when ${purl} ilike 'pkg:%/%' then nullif(${decoded}, '') end, lower(split_part(${location}->>'component', '/', -1)))`;
}
