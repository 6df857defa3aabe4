import { sql } from 'kysely';
import { countAndSize } from '../../db/any-rows.ts';
import type { TenantTx } from '../../db/database.ts';

export function usedByRuns(tx: TenantTx, orgId: string) {
  return countAndSize(tx, sql`select * from sync_runs where org_id = ${orgId}`);
}
