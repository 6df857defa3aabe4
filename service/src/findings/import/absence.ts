import type { About } from '@rrs/scan-reports';
import { type RawBuilder, sql } from 'kysely';
import { importedAssets } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import type { Resolution } from './resolution.ts';
import type { Staged } from './stage-report.ts';

/** The name of what a report is about when nothing says it: all such reports share it, and one says nothing about another. */
export const UNSPECIFIED = 'unspecified';

/** What may be concluded from what a run does not report. */
export interface Absence {
  /** The run says all there is on the assets it covers, and nothing of it was lost on the way. */
  complete: boolean;
  /** Keys of staged assets for which that does not hold. */
  partly: readonly string[];
  /** Files, and folders with all that is below them, for which it does not hold. */
  unread: readonly string[];
  /** More than so many of a source, and more than such a share of them, are not closed before a person has looked. */
  brake: { share: number; count: number };
}

/** Of a row of `tenant_import_assets` named `covered`, whatever other name of the asset it is staged by. */
export function isPartly({ orgId, importId }: Resolution, { partly }: Absence): RawBuilder<boolean> {
  if (partly.length === 0) return sql`false`;
  return sql`covered.asset_id in (select p.asset_id from ${importedAssets} p where p.org_id = ${orgId} and p.import_id = ${importId} and p.asset_key = any(${partly as string[]}::text[]))`;
}

export function isUnread(location: RawBuilder<unknown>, { unread }: Absence): RawBuilder<boolean> {
  if (unread.length === 0) return sql`false`;
  return sql`exists (select from unnest(${unread as string[]}::text[]) as place where ${location}->>'path' = place or starts_with(${location}->>'path', place || '/'))`;
}

/** Why a report that is said to be complete is not taken for it. */
export function doubtsOf(about: About | null, { rejected }: Staged): string[] {
  return [
    ...(rejected > 0 ? ['the report was not complete because records were rejected'] : []),
    // An empty file of a format that many tools write does not say whose findings are gone.
    ...(about?.tools?.length === 0 ? ['the report does not name the tool that wrote it'] : []),
    ...(about?.finished === false ? ['according to the report, a run of the tool did not succeed'] : []),
  ];
}

/** Of a complete run: where it concludes nothing all the same, in words for whoever wonders why nothing was closed. */
export async function sparedBy(tx: TenantTx, resolution: Resolution, absence: Absence): Promise<string[]> {
  const { orgId, importId, sourceId, seenAt } = resolution;
  const { rows } = await sql<{ assets: number; unnamed: boolean; newer: number }>`
    select count(distinct covered.asset_id)::int as assets, coalesce(bool_or(covered.name = ${UNSPECIFIED} and ${isPartly(resolution, absence)}), false) as unnamed,
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

function listed(places: readonly string[]): string {
  return `${places.slice(0, SHOWN).join(', ')}${places.length > SHOWN ? ' …' : ''}`;
}
