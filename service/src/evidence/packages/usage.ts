import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';

export async function usedByPackages(tx: TenantTx, orgId: string): Promise<{ count: number; bytes: number }> {
  const { rows } = await sql<{ count: number; bytes: number }>`
    select count(*)::float8 as count, coalesce(sum(archive_size), 0)::float8 as bytes from evidence_packages where org_id = ${orgId}`.execute(tx);
  return rows[0] ?? { count: 0, bytes: 0 };
}

export async function usedByArtifacts(tx: TenantTx, orgId: string): Promise<{ count: number; files: number; bytes: number }> {
  const { rows } = await sql<{ count: number; files: number; bytes: number }>`
    select (select count(*) from artifacts where org_id = ${orgId})::float8 as count, count(*)::float8 as files, coalesce(sum(size), 0)::float8 as bytes
    from (
      select sha256, max(size) as size from artifacts artifact
      where org_id = ${orgId} and sha256 is not null
        and not exists (select from artifact_removals removal where removal.org_id = artifact.org_id and removal.artifact_id = artifact.id)
      group by sha256
    ) files`.execute(tx);
  return rows[0] ?? { count: 0, files: 0, bytes: 0 };
}
