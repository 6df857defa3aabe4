import { type RawBuilder, sql } from 'kysely';

/** All events, one by its name, or all whose names begin alike: `*`, `finding.created`, `finding.*`. */
export function matches(patterns: readonly string[], type: string): boolean {
  return patterns.some((pattern) => pattern === '*' || pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1))));
}

/** The same question in the database. */
export function matchesSql(patterns: RawBuilder<unknown>, type: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from unnest(${patterns}) pattern
    where pattern = '*' or pattern = ${type} or (pattern like '%.*' and starts_with(${type}, left(pattern, -1)))
  )`;
}
