import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { countAndSize } from '../../db/rows.ts';

export function usedByRuns(tx: TenantTx, orgId: string) {
  return countAndSize(tx, sql`select * from sync_runs where org_id = ${orgId}`);
}
