import { type RawBuilder, sql } from 'kysely';
import { compareVersions } from '../../assets/names/version-name.ts';
import type { TenantTx } from '../../db/database.ts';
import { lastSeenSql, seenImportSql } from '../merge/group-records.ts';
import type { Resolution } from '../merge/resolution.ts';
import type { Absence } from './absence.ts';

/**
 * Whether the tool itself no longer has the check of the finding `f`: this run and an earlier one that did not have it either are of newer versions of the
 * tool than the one that saw the finding. In the same version, somebody has disabled the check.
 */
export async function isCheckRetired(tx: TenantTx, { orgId, sourceId }: Resolution, { checks, toolVersion }: Absence): Promise<RawBuilder<unknown>> {
  if (checks === null || toolVersion === null) return sql`false`;
  const versionOf = (importId: RawBuilder<unknown>) => sql`(select i.run->>'tool_version' from imports i where i.org_id = ${orgId} and i.id = ${importId})`;
  const { rows } = await sql<{ version: string }>`
    select distinct run->>'tool_version' as version from imports where org_id = ${orgId} and source_id = ${sourceId} and run ? 'tool_version'`.execute(tx);
  const versions = rows.map(({ version }) => version);
  const isNewer = (one: string, other: string): boolean => (compareVersions(one, other) ?? 0) > 0;
  const steps = versions
    .filter((seen) => isNewer(toolVersion, seen))
    .flatMap((seen) => versions.filter((missed) => isNewer(missed, seen)).map((missed) => [seen, missed] as const));
  if (steps.length === 0) return sql`false`;
  return sql`coalesce(s.missed_because @> '{check_disabled}' and s.missed_at > ${lastSeenSql} and s.missed_at < a.started_at
    and (${versionOf(seenImportSql)}, ${versionOf(sql`s.missed_import_id`)}) in (
      select * from unnest(${steps.map(([seen]) => seen)}::text[], ${steps.map(([, missed]) => missed)}::text[])), false)`;
}
