import { type RawBuilder, sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { Resolution } from './resolution.ts';

/** Longer lists are not stored. A report that arrives late then cannot be judged by the run. */
const MAX_STORED = 20_000;

/** A run that lists fewer files than this share of an earlier one may have been restricted to some of them. */
export const FILES_SHARE = 0.8;

interface RunLists {
  checks: readonly string[] | null;
  files: readonly string[] | null;
  components: readonly string[];
  /** Whether the run was restricted in another way. */
  isRestricted: boolean;
}

/** The first 32 bits of a hash: a list of 20,000 entries has a false match once in 200,000 searches. */
function hashSql(text: RawBuilder<unknown>): RawBuilder<number> {
  return sql`('x' || left(md5(${text}), 8))::bit(32)::integer`;
}

/** How a component in one version is listed. `name` is in lower case. */
export function componentEntry(name: string, version: string): string {
  return `${name}@${version}`;
}

/** Keeps what the run lists for reports of older scans that arrive later. */
export async function recordLists(tx: TenantTx, { orgId, importId }: Resolution, { checks, files, components, isRestricted }: RunLists): Promise<void> {
  const lists = { checks, files, components: components.length > 0 ? components : null };
  const stored = Object.entries(lists).flatMap(([kind, entries]) => (entries && entries.length <= MAX_STORED ? [{ kind, entries }] : []));
  const isTooLong = Object.values(lists).some((entries) => entries !== null && entries.length > MAX_STORED);
  for (const { kind, entries } of stored) {
    await sql`
      insert into run_lists (org_id, import_id, kind, entries)
      select ${orgId}, ${importId}, ${kind}, array_agg(distinct ${hashSql(sql`entry`)}) from unnest(${entries as string[]}::text[]) as entry`.execute(tx);
  }
  if (isRestricted || isTooLong) await tx.insertInto('run_lists').values({ org_id: orgId, import_id: importId, kind: 'other', entries: [] }).execute();
}

/**
 * Whether the run of the import `later` would have found the record `r` of a report of an older scan, as far as lists of checks and files tell. A file that
 * the list does not have was removed, unless the older scan had read many more.
 */
export function wouldShowSql({ orgId, files }: Resolution, later: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`coalesce((
    select bool_and(case list.kind
      when 'checks' then r.rule is null or ${hashSql(sql`r.rule`)} = any(list.entries)
      when 'files' then not r.location ? 'path' or ${hashSql(sql`r.location->>'path'`)} = any(list.entries) or cardinality(list.entries) >= ${FILES_SHARE}::float8 * ${files}::int
      else false end)
    from run_lists list where list.org_id = ${orgId} and list.import_id = ${later} and list.kind <> 'components'), false)`;
}

/** Whether the run of the import `later` lists a component in a version. */
export function listsComponentSql(orgId: string, later: RawBuilder<unknown>, { component, version }: Record<'component' | 'version', RawBuilder<unknown>>) {
  return sql<boolean>`exists (
    select from run_lists list where list.org_id = ${orgId} and list.import_id = ${later} and list.kind = 'components'
      and ${hashSql(sql`${component} || '@' || ${version}`)} = any(list.entries))`;
}
