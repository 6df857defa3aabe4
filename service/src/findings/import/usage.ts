import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { countAndSize } from '../../db/rows.ts';

interface StoredFiles {
  count: number;
  files: number;
  bytes: number;
}

export function usedByFindings(tx: TenantTx, orgId: string) {
  return countAndSize(tx, sql`select * from findings where org_id = ${orgId}`);
}

/** Uploaded reports, and the records of runs of connections. Equal files are counted once. */
export async function usedByImports(tx: TenantTx, orgId: string): Promise<{ uploaded: StoredFiles; records: StoredFiles }> {
  const { rows } = await sql<StoredFiles & { collected: boolean }>`
    select collected, sum(imports)::float8 as count, count(*) filter (where stored)::float8 as files, coalesce(sum(bytes) filter (where stored), 0)::float8 as bytes
    from (
      select connection_id is not null as collected, sha256, file_deleted_at is null as stored, count(*) as imports, max(bytes) as bytes
      from imports where org_id = ${orgId} group by 1, 2, 3
    ) files
    group by collected`.execute(tx);
  const of = (wanted: boolean): StoredFiles => {
    const { count, files, bytes } = rows.find(({ collected }) => collected === wanted) ?? { count: 0, files: 0, bytes: 0 };
    return { count, files, bytes };
  };
  return { uploaded: of(false), records: of(true) };
}
