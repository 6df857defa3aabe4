import type { About } from '@rrs/scan-reports';
import { type RawBuilder, sql } from 'kysely';
import { importedAssets } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import type { Resolution } from './resolution.ts';
import type { Staged } from './stage-report.ts';

/** The name of the asset of reports that do not name one. They all share it, so absence from one report proves nothing about another. */
export const UNSPECIFIED = 'unspecified';

/** What may be concluded if a run does not report a finding. */
export interface Absence {
  /** Whether the report lists everything on the assets it covers, and no record was rejected. */
  complete: boolean;
  /** Keys of staged assets that the run covered only in part. */
  partiallyCovered: readonly string[];
  /** Files and folders that the tool did not read. */
  unread: readonly string[];
  /** If a run would close more findings of its source than `count` and more than `share` of them, the closures wait for confirmation. */
  brake: { share: number; count: number };
}

/** Whether the asset of a row `covered` of `importedAssets` is covered only in part, under any of its names. */
export function isPartiallyCovered({ orgId, importId }: Resolution, { partiallyCovered }: Absence): RawBuilder<boolean> {
  if (partiallyCovered.length === 0) return sql`false`;
  return sql`covered.asset_id in (select p.asset_id from ${importedAssets} p where p.org_id = ${orgId} and p.import_id = ${importId} and p.asset_key = any(${partiallyCovered as string[]}::text[]))`;
}

export function isUnread(location: RawBuilder<unknown>, { unread }: Absence): RawBuilder<boolean> {
  if (unread.length === 0) return sql`false`;
  return sql`exists (select from unnest(${unread as string[]}::text[]) as path where ${location}->>'path' = path or starts_with(${location}->>'path', path || '/'))`;
}

/** Reasons not to treat a report as complete although its scope declares it so. */
export function doubtsOf(about: About | null, { rejected }: Staged): string[] {
  return [
    ...(rejected > 0 ? ['the report was not complete because records were rejected'] : []),
    // An empty file in a format that many tools write does not tell which tool's findings are gone.
    ...(about?.tools?.length === 0 ? ['the report does not name the tool that wrote it'] : []),
    ...(about?.finished === false ? ['according to the report, a run of the tool did not succeed'] : []),
  ];
}

/** Notes that explain where a complete run closed nothing. */
export async function withheldNotes(tx: TenantTx, resolution: Resolution, absence: Absence): Promise<string[]> {
  const { orgId, importId, sourceId, seenAt } = resolution;
  const { rows } = await sql<{ assets: number; unnamed: boolean; newer: number }>`
    select count(distinct covered.asset_id)::int as assets, coalesce(bool_or(covered.name = ${UNSPECIFIED} and ${isPartiallyCovered(resolution, absence)}), false) as unnamed,
      count(distinct newer.asset_id)::int as newer
    from ${importedAssets} covered
    left join source_coverage newer on newer.org_id = ${orgId} and newer.source_id = ${sourceId} and newer.asset_id = covered.asset_id and newer.seen_at > ${seenAt}
    where covered.org_id = ${orgId} and covered.import_id = ${importId}`.execute(tx);
  const { assets, unnamed, newer } = rows[0] ?? { assets: 0, unnamed: false, newer: 0 };
  const { unread } = absence;
  return [
    ...(assets === 0 ? ['Nothing was closed: neither the report nor `scan_scope` names an asset.'] : []),
    ...(unnamed ? ['Findings without a named asset were not closed: set `asset` or `name` in `scan_scope`.'] : []),
    ...(newer > 0 ? [`Nothing was closed on ${newer} of ${assets} assets because a newer scan covered them.`] : []),
    ...(unread.length > 0 ? [`Nothing was closed in ${unread.length} files or folders that the tool did not read: ${listed(unread)}.`] : []),
  ];
}

const SHOWN = 5;

function listed(paths: readonly string[]): string {
  return `${paths.slice(0, SHOWN).join(', ')}${paths.length > SHOWN ? ' …' : ''}`;
}
