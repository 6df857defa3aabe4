import type { AssetType } from '@rrs/scan-reports';
import { type SelectQueryBuilder, sql } from 'kysely';
import { recordAudit } from '../audit/record.ts';
import type { TenantTx } from '../db/database.ts';
import { fetchPage, type PageRequest, type SortColumns } from '../db/pages.ts';
import type { DB } from '../db/types.ts';
import { emit } from '../events/emit.ts';
import type { Actor } from '../shared/actor.ts';
import { notFound } from '../shared/errors.ts';

export const criticalities = ['low', 'medium', 'high', 'critical'] as const;
export const exposures = ['internet', 'internal', 'unknown'] as const;

export interface AssetFilter {
  type?: AssetType[];
  name?: string;
  criticality?: (typeof criticalities)[number][];
  exposure?: (typeof exposures)[number][];
  tag?: string[];
  retired?: boolean;
}

export interface AssetPatch {
  criticality?: (typeof criticalities)[number];
  exposure?: (typeof exposures)[number];
  owner?: string | null;
  tags?: string[];
  retired?: boolean;
}

export function listAssets(tx: TenantTx, orgId: string, { type, name, criticality, exposure, tag, retired }: AssetFilter, page: PageRequest) {
  // Names are sorted and searched as the index has them: in lower case, byte by byte.
  const named = sql<AssetRow & { sort_name: string }>`(select *, lower(name) collate "C" as sort_name from tenant_assets where org_id = ${orgId})`.as('assets');
  let query = tx.selectFrom(named).selectAll().where('org_id', '=', orgId);
  if (type) query = query.where('type', 'in', type);
  if (name !== undefined) query = query.where(sql<boolean>`sort_name like ${`${name.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`}`);
  if (criticality) query = query.where('criticality', 'in', criticality);
  if (exposure) query = query.where('exposure', 'in', exposure);
  if (tag) query = query.where(sql<boolean>`tags && ${tag}::text[]`);
  if (retired !== undefined) query = query.where('retired_at', retired ? 'is not' : 'is', null);
  type Row = Awaited<ReturnType<typeof query.executeTakeFirstOrThrow>>;
  const columns: SortColumns<Row> = { created_at: { column: 'created_at', type: 'timestamptz' }, name: { column: 'sort_name', type: 'text' } };
  return fetchPage(tx, query as unknown as SelectQueryBuilder<DB, 'assets', Row>, columns, page);
}

export async function readAsset(tx: TenantTx, orgId: string, id: string) {
  const asset = await tx.selectFrom('assets').selectAll().where('org_id', '=', orgId).where('id', '=', id).executeTakeFirst();
  if (!asset) throw notFound('asset', id);
  return asset;
}

export type AssetRow = Awaited<ReturnType<typeof readAsset>>;

/** What follows from a change of an asset elsewhere, in the same transaction. */
export interface AssetFollower {
  /** Before the asset is locked. */
  prepare(tx: TenantTx, orgId: string): Promise<void>;
  follow(tx: TenantTx, actor: Actor, before: AssetRow, after: AssetRow): Promise<void>;
}

export async function updateAsset(
  tx: TenantTx,
  actor: Actor,
  id: string,
  patch: AssetPatch,
  check: (current: AssetRow) => void,
  follower: AssetFollower,
): Promise<AssetRow> {
  const { orgId } = actor;
  if (patch.criticality !== undefined || patch.exposure !== undefined || patch.retired !== undefined) await follower.prepare(tx, orgId);
  // NO KEY: findings that name the asset share its key meanwhile.
  const current = await tx.selectFrom('assets').selectAll().where('org_id', '=', orgId).where('id', '=', id).forNoKeyUpdate().executeTakeFirst();
  if (!current) throw notFound('asset', id);
  check(current);
  const { before, after } = difference(current, patch);
  if (Object.keys(after).length === 0) return current;
  const { retired, ...columns } = after;
  const updated = await tx
    .updateTable('assets')
    .set({
      ...columns,
      ...(retired === undefined ? {} : { retired_at: retired ? sql<Date>`now()` : null }),
      version: current.version + 1,
      updated_at: sql<Date>`now()`,
    })
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordAudit(tx, actor, { action: 'asset.updated', objectType: 'asset', objectId: id, before, after: { ...after } });
  await emit(tx, orgId, { type: 'asset.updated', subject: id, data: { ...after } });
  await follower.follow(tx, actor, current, updated);
  return updated;
}

/** What the patch really changes, before and after. */
function difference(current: AssetRow, patch: AssetPatch): { before: Record<string, unknown>; after: AssetPatch } {
  const was: Record<string, unknown> = { ...current, retired: current.retired_at !== null };
  const changed = Object.entries(patch).filter(([name, value]) => JSON.stringify(was[name]) !== JSON.stringify(value));
  return { before: Object.fromEntries(changed.map(([name]) => [name, was[name]])), after: Object.fromEntries(changed) };
}
