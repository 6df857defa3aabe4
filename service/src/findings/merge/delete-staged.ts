import { deleteImportedAssets } from '../../assets/recognize/resolve.ts';
import type { TenantTx } from '../../db/database.ts';

const STAGING_VIEWS = ['tenant_import_rows', 'tenant_import_seen', 'tenant_import_texts', 'tenant_import_groups'] as const;

/** Deletes all staged rows of an import. They belong to one attempt. */
export async function deleteStaged(tx: TenantTx, orgId: string, importId: string): Promise<void> {
  await deleteImportedAssets(tx, orgId, importId);
  await Promise.all(STAGING_VIEWS.map((view) => tx.deleteFrom(view).where('org_id', '=', orgId).where('import_id', '=', importId).execute()));
}
