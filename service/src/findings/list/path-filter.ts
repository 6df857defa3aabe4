import { type RawBuilder, sql } from 'kysely';
import { normalPath, SPELLINGS, WORKSPACES } from '../identity/paths.ts';
import { escapeLike } from './filtered-assets.ts';

/** A file, or everything below a folder, from the root of the repository or image, at any of the places of the finding. */
export function pathSql(orgId: string, path: string): RawBuilder<boolean> {
  const asked = normalPath(path).toLowerCase();
  const last = asked.slice(asked.lastIndexOf('/', asked.length - 2) + 1);
  // Comparing normal paths takes long, and few paths have the name at all.
  const isBelow = (stored: RawBuilder<unknown>) => sql`case when lower(${stored}) like ${`%${escapeLike(last)}%`}
    then lower(${normalPathSql(stored)}) like ${`/${escapeLike(asked)}/%`} else false end`;
  return sql`(${isBelow(sql`findings.location->>'path'`)}
    or exists (select from occurrences o where o.org_id = ${orgId} and o.finding_id = findings.id and ${isBelow(sql`o.location->>'path'`)} offset 0))`;
}

/** `normalPath` in SQL, between slashes. */
export function normalPathSql(path: RawBuilder<unknown>): RawBuilder<string> {
  const steps: (readonly [RegExp, string])[] = [
    ...SPELLINGS,
    ...WORKSPACES.map((root) => [root, ''] as const),
    [/^/, '/'],
    [/$/, '/'],
    [/\/(?:\.?\/)+/g, '/'],
    [/^\/(?:[A-Za-z]:\/)+/, '/'],
  ];
  return steps.reduce(
    (text, [{ source, global }, by]) => sql`regexp_replace(${text}, ${sql.lit(source)}, ${sql.lit(by.replace('$', '\\'))}, ${sql.lit(global ? 'g' : '')})`,
    sql<string>`${path}`,
  );
}
