import { vulnerabilityIds } from '@rrs/scan-reports/normalize.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Static } from 'typebox';
import { findByName } from '../../assets/find-by-name.ts';
import { assetTracks } from '../../assets/relations.ts';
import type { TenantTx } from '../../db/database.ts';
import { kept } from '../../db/prepared.ts';
import { aliasesOf } from '../../vulnerabilities/aliases.ts';
import { readSourceGroups, type SourceGroup } from '../fields/source-kinds.ts';
import { isCountedSql, shownApartSql } from '../scan-of.ts';
import type { FilterFields } from '../schemas-filter.ts';
import { filteredAssets } from './filtered-assets.ts';
import type { Alias, AliasesOf } from './lexemes.ts';
import { idsIn, type Match, searchFor } from './search.ts';

/** The filters of the list, the export, the statistics, bulk changes and work items. A filter means the same everywhere. */
export type FindingFilter = Static<typeof FilterFields>;

/** A filter with what has to be looked up before a query can be built from it. */
export interface PreparedFilter {
  filter: FindingFilter;
  search: Match | null;
  aliasesOf: AliasesOf;
  /** The assets that `asset` names in another spelling or with a tag. */
  namedAssets: readonly string[];
  /** All assets that the filter allows, unless they are many or it allows all. */
  fewAssets: readonly string[] | null;
  /** The providers that `not_source` leaves. An index finds their findings, but not those without a provider. */
  otherSources: readonly string[] | null;
  /** The sources of the organization, if the filter names kinds of them. */
  sources: readonly SourceGroup[] | null;
  /** Whether findings match that are not listed otherwise, because only pull requests and branches in development have them. */
  unlisted: boolean;
  /** Findings that were listed and that the pull requests and branches in development of the filter have, although no track that counts has them any more. */
  reintroduced: readonly string[];
}

/** Looks up what a filter refers to. Most filters need no query. */
export async function prepareFilter(tx: TenantTx, orgId: string, filter: FindingFilter): Promise<PreparedFilter> {
  const search = filter.q === undefined ? null : searchFor(filter.q);
  const ids = [...(filter.cve ?? []), ...(filter.not_cve ?? []), ...(search ? idsIn(search) : [])];
  const findAssets = async () => {
    const namedAssets = filter.asset === undefined ? [] : await findByName(tx, orgId, filter.asset);
    return { namedAssets, fewAssets: await readFewAssets(tx, filteredAssets(orgId, filter, namedAssets)) };
  };
  const findApart = async () => {
    const unlisted = await namesUnlisted(tx, orgId, filter);
    return { unlisted, reintroduced: unlisted && filter.track ? await readReintroduced(tx, orgId, filter.track, filter.asset_id) : [] };
  };
  const [aliases, assets, otherSources, sources, apart] = await Promise.all([
    readAliases(tx, orgId, ids.map(canonical)),
    findAssets(),
    filter.not_source === undefined ? null : readOtherSources(tx, orgId, filter.not_source),
    filter.source_kind === undefined ? null : readSourceGroups(tx, orgId),
    findApart(),
  ]);
  return { filter, search, aliasesOf: (id) => aliases.get(canonical(id)) ?? [{ id, sources: null }], ...assets, otherSources, sources, ...apart };
}

/** The aliases that count. What one tool claims counts for findings with the words of its sources. */
async function readAliases(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<Map<string, Alias[]>> {
  const found = await aliasesOf(tx, orgId, ids);
  const claimants = [...found.values()].flatMap((same) => same.flatMap(({ claimant }) => claimant ?? []));
  const words = claimants.length === 0 ? new Map<string, string[]>() : await readWordsOfTools(tx, orgId, [...new Set(claimants)]);
  const aliases = [...found].map(([id, same]) => {
    const counting = same.map(({ id: alias, claimant }) => ({ id: alias, sources: claimant === null ? null : (words.get(claimant) ?? []) }));
    return [id, counting.filter(({ sources }) => sources === null || sources.length > 0)] as const;
  });
  return new Map(aliases);
}

/** The words by which the index finds what tools report. A word that other tools share, because they write the same format, finds too much. */
async function readWordsOfTools(tx: TenantTx, orgId: string, tools: readonly string[]): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ tool: string; words: string[] }>`
    select min(coalesce(nullif(tool, ''), provider)) as tool, array['p:' || provider] as words from sources where org_id = ${orgId}
    group by provider having count(distinct coalesce(nullif(tool, ''), provider)) = 1 and min(coalesce(nullif(tool, ''), provider)) = any(${tools as string[]})`.execute(
    tx,
  );
  return new Map([...Map.groupBy(rows, ({ tool }) => tool)].map(([tool, same]) => [tool, same.flatMap(({ words }) => words)]));
}

const FEW_ASSETS = 300;

async function readFewAssets(tx: TenantTx, assets: RawBuilder<{ id: string }> | null): Promise<string[] | null> {
  if (!assets) return null;
  const query = sql<{ id: string }>`${assets} limit ${sql.lit(FEW_ASSETS + 1)}`.compile(tx);
  const { rows } = await tx.executeQuery<{ id: string }>(kept(query, 'for_values'));
  return rows.length > FEW_ASSETS ? null : rows.map(({ id }) => id);
}

const canonical = (id: string): string => vulnerabilityIds(id)[0] ?? id;

async function readOtherSources(tx: TenantTx, orgId: string, excluded: readonly string[]): Promise<string[]> {
  const names = excluded.map((name) => name.toLowerCase());
  const rows = await tx.selectFrom('sources').select('provider').distinct().where('org_id', '=', orgId).execute();
  return rows.map(({ provider }) => provider).filter((provider) => !names.includes(provider));
}

/** What only pull requests have is not listed, unless the filter names one of them, its build or its import. */
async function namesUnlisted(tx: TenantTx, orgId: string, { track, asset_version, import_id }: FindingFilter): Promise<boolean> {
  if (asset_version !== undefined) return true;
  if (track === undefined && import_id === undefined) return false;
  const scanned = sql`exists (select from run_assets r where r.org_id = ${orgId} and r.import_id = ${import_id ?? null} and r.asset_id = t.asset_id and r.track = t.n)`;
  const { rows } = await sql`
    select from ${assetTracks} t where t.org_id = ${orgId} and not t.counts and ${track ? sql`t.name = any(${track}::text[])` : scanned} limit 1`.execute(tx);
  return rows.length > 0;
}

async function readReintroduced(tx: TenantTx, orgId: string, tracks: readonly string[], assetId: string | undefined): Promise<string[]> {
  const which = sql<boolean>`track.name = any(${tracks}::text[]) ${assetId === undefined ? sql`` : sql`and track.asset_id = ${assetId}`}`;
  const { rows } = await sql<{ id: string }>`
    select distinct f.id from ${shownApartSql(orgId, which)} apart join findings f on f.org_id = ${orgId} and f.id = apart.finding_id and f.asset_id = apart.asset_id
    where f.listed and not ${isCountedSql(orgId, { id: sql`f.id`, asset: sql`f.asset_id` })}`.execute(tx);
  return rows.map(({ id }) => id);
}
