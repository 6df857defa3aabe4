import { type RawBuilder, sql } from 'kysely';
import type { Static } from 'typebox';
import type { TenantTx } from '../db/database.ts';
import { fetchPage, type PageRequest, presentPage, type SortColumns } from '../db/pages.ts';
import type { AssetRow } from './assets.ts';
import type { AssetQuery } from './schemas.ts';

export interface FindingCounts {
  active: number;
  critical: number;
  high: number;
  overdue: number;
  max_risk: number | null;
}

export type CountedAsset = AssetRow & { findings: FindingCounts };

const NONE: FindingCounts = { active: 0, critical: 0, high: 0, overdue: 0, max_risk: null };

/** The sort orders and filters that need the counts of all assets. Other lists count only the findings of the page. */
const isCounted = ({ sort, has_findings }: Filter): boolean => has_findings !== undefined || /^-?(active|max_risk)$/.test(sort);

type Filter = Static<typeof AssetQuery>;
type ListedRow = AssetRow & { sort_name: string; active: number; sort_risk: number };

export async function listAssets(tx: TenantTx, orgId: string, filter: Filter, page: PageRequest) {
  let query = tx
    .selectFrom(listedAssets(orgId, isCounted(filter)).as('assets'))
    .selectAll()
    .where('org_id', '=', orgId);
  const { type, criticality, exposure, retired } = filter;
  if (type) query = query.where('type', 'in', type);
  if (criticality) query = query.where('criticality', 'in', criticality);
  if (exposure) query = query.where('exposure', 'in', exposure);
  if (retired !== undefined) query = query.where('retired_at', retired ? 'is not' : 'is', null);
  for (const condition of conditionsOf(filter)) query = query.where(condition);
  const columns: SortColumns<ListedRow> = {
    created_at: { column: 'created_at', type: 'timestamptz' },
    name: { column: 'sort_name', type: 'text' },
    active: { column: 'active', type: 'integer' },
    max_risk: { column: 'sort_risk', type: 'real' },
  };
  const found = await fetchPage(tx, query, columns, page);
  const counts = await countFindings(
    tx,
    orgId,
    found.data.map(({ id }) => id),
  );
  return presentPage(found, (asset): CountedAsset => ({ ...asset, findings: counts.get(asset.id) ?? NONE }));
}

/** The index is on the name in lower case with the collation "C", so sorting and searching must use the same expression. */
function listedAssets(orgId: string, counted: boolean): RawBuilder<ListedRow> {
  const counts = counted ? sql`coalesce(counts.active, 0) as active, coalesce(counts.max_risk, -1)::real as sort_risk` : sql`0 as active, 0::real as sort_risk`;
  return sql<ListedRow>`(
    select assets.*, lower(assets.name) collate "C" as sort_name, ${counts} from tenant_assets assets
    ${counted ? sql`left join asset_findings counts on counts.org_id = ${orgId} and counts.asset_id = assets.id` : sql``}
    where assets.org_id = ${orgId} and assets.merged_into is null)`;
}

function conditionsOf({ name, tag, owner, q, has_findings }: Filter): RawBuilder<boolean>[] {
  const escaped = (text: string): string => text.toLowerCase().replaceAll(/[\\%_]/g, '\\$&');
  return [
    ...(name === undefined ? [] : [sql<boolean>`sort_name like ${`${escaped(name)}%`}`]),
    ...(tag ? [sql<boolean>`tags && ${tag}::text[]`] : []),
    ...(owner ? [sql<boolean>`lower(owner) = any(${owner.map((one) => one.toLowerCase())}::text[])`] : []),
    ...(q === undefined ? [] : [sql<boolean>`(sort_name like ${`%${escaped(q)}%`} or lower(owner) like ${`%${escaped(q)}%`})`]),
    ...(has_findings === undefined ? [] : [has_findings ? sql<boolean>`active > 0` : sql<boolean>`active = 0`]),
  ];
}

/** The active findings of assets. */
async function countFindings(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<Map<string, FindingCounts>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<FindingCounts & { asset_id: string }>`
    select asset_id, active, critical, high, overdue, max_risk from asset_findings where org_id = ${orgId} and asset_id = any(${ids as string[]}::uuid[])`.execute(
    tx,
  );
  return new Map(rows.map(({ asset_id, ...counts }) => [asset_id, counts]));
}

export async function withFindings(tx: TenantTx, asset: AssetRow): Promise<CountedAsset> {
  return { ...asset, findings: (await countFindings(tx, asset.org_id, [asset.id])).get(asset.id) ?? NONE };
}
