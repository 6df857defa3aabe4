import { sql } from 'kysely';
import type { TenantTx } from '../db/database.ts';
import { countAndSize } from '../db/rows.ts';

export function usedByEvents(tx: TenantTx, orgId: string) {
  return countAndSize(tx, sql`select * from events where org_id = ${orgId}`);
}

export function usedByDeliveries(tx: TenantTx, orgId: string) {
  return countAndSize(tx, sql`select * from webhook_deliveries where org_id = ${orgId}`);
}
