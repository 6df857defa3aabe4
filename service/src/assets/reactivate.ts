import { type RawBuilder, sql } from 'kysely';
import { recordAuditSql } from '../audit/record.ts';
import type { TenantTx } from '../db/database.ts';
import { emitSql } from '../events/emit.ts';
import { systemActor } from '../shared/actor.ts';

/** Puts retired assets back in use that an import saw after they were retired. A report about an earlier scan changes nothing. */
export function reactivateSeen(tx: TenantTx, orgId: string, importId: string): Promise<void> {
  const isSeen = sql`exists (
    select from tenant_import_assets staged
    where staged.org_id = ${orgId} and staged.import_id = ${importId} and staged.asset_id = a.id and staged.ended_at > a.retired_at)`;
  return reactivate(tx, { orgId, importId, where: isSeen });
}

/** Puts retired assets back in use that an import turns out to have listed before they were retired. */
export function reactivateListed(tx: TenantTx, { orgId, importId }: { orgId: string; importId: string }, ids: readonly string[]): Promise<void> {
  return reactivate(tx, { orgId, importId, where: sql`a.id = any(${ids as string[]}::uuid[])` });
}

/** `where` selects assets `a`. */
async function reactivate(tx: TenantTx, { orgId, importId, where }: { orgId: string; importId: string; where: RawBuilder<unknown> }): Promise<void> {
  const audited = sql`select id::text as object_id, jsonb_build_object('retired', true) as before, jsonb_build_object('retired', false, 'import_id', ${importId}::text) as after from seen`;
  const events = sql`select id::text as subject, jsonb_build_object('retired', false, 'retired_at', retired_at, 'import_id', ${importId}::text) as data from seen`;
  await sql`
    with seen as materialized (
      select a.id, a.retired_at from assets a where a.org_id = ${orgId} and a.retired_at is not null and ${where}
    ), audited as (
      ${recordAuditSql(systemActor(orgId, 'import'), { action: 'asset.reactivated', objectType: 'asset' }, audited)}
    ), emitted as (
      ${emitSql(orgId, 'asset.reactivated', events)}
    )
    update assets a set retired_at = null, version = a.version + 1, updated_at = now() from seen where a.org_id = ${orgId} and a.id = seen.id`.execute(tx);
}
