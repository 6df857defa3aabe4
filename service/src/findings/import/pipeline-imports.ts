import { readAsset } from '../../assets/assets.ts';
import type { TenantTx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, notFound } from '../../shared/errors.ts';
import { type ImportRow, readImport } from './manage-imports.ts';
import type { ImportFields } from './upload-fields.ts';

/** A pipeline that is trusted for one asset imports reports on this asset, whatever it states. */
export async function limitToTrust(tx: TenantTx, { orgId, pipeline }: Actor, fields: ImportFields): Promise<ImportFields> {
  const assetId = pipeline?.trust.asset_id ?? null;
  if (assetId === null) return fields;
  const { merged_into } = await readAsset(tx, orgId, assetId);
  const { type, name } = await readAsset(tx, orgId, merged_into ?? assetId);
  const { asset, assets = [] } = fields.scan_scope;
  const isOther = asset !== undefined && (typeof asset !== 'object' || asset.type !== type || asset.name !== name);
  if (isOther || assets.length > 0)
    throw new AppError('forbidden', `This pipeline is trusted for the ${type} "${name}" only. Leave out \`scan_scope.asset\` and \`scan_scope.assets\`.`);
  return { ...fields, scan_scope: { ...fields.scan_scope, asset: { type, name } } };
}

/** A pipeline that is trusted for one asset sees the imports of its trust only. */
export async function readOwnImport(tx: TenantTx, { orgId, id: actorId, pipeline }: Actor, id: string): Promise<ImportRow> {
  const row = await readImport(tx, orgId, id);
  const { id: uploader } = row.actor as { id?: string | null };
  if (pipeline !== undefined && pipeline.trust.asset_id !== null && uploader !== actorId) throw notFound('import', id);
  return row;
}
