import { type RawBuilder, sql } from 'kysely';

/** A pattern is `*` for all events, a type such as `finding.created`, or a prefix such as `finding.*`. */
export function matches(patterns: readonly string[], type: string): boolean {
  return patterns.some((pattern) => pattern === '*' || pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1))));
}

/** The same test in SQL. */
export function matchesSql(patterns: RawBuilder<unknown>, type: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from unnest(${patterns}) pattern
    where pattern = '*' or pattern = ${type} or (pattern like '%.*' and starts_with(${type}, left(pattern, -1)))
  )`;
}
