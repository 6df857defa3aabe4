import { sql } from 'kysely';
import { recordAuditSql } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import { systemActor } from '../../shared/actor.ts';

interface Run {
  orgId: string;
  importId: string;
  at: Date;
}

/** Retires assets that no source lists any more, as of the run that left them out. The next import that names them puts them back in use. */
export async function retireUnlistedAssets(tx: TenantTx, { orgId, importId, at }: Run, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const after = sql`jsonb_build_object('retired', true, 'reason_code', 'asset_gone', 'import_id', ${importId}::text)`;
  const audited = sql`select id::text as object_id, jsonb_build_object('retired', false) as before, ${after} as after from unlisted`;
  const events = sql`select id::text as subject, ${after} as data from unlisted`;
  await sql`
    with unlisted as materialized (
      select a.id from assets a where a.org_id = ${orgId} and a.id = any(${ids as string[]}::uuid[]) and a.retired_at is null and a.merged_into is null
    ), audited as (
      ${recordAuditSql(systemActor(orgId, 'import'), { action: 'asset.updated', objectType: 'asset' }, audited)}
    ), emitted as (
      ${emitSql(orgId, 'asset.updated', events)}
    )
    update assets a set retired_at = ${at}, version = a.version + 1, updated_at = now() from unlisted where a.org_id = ${orgId} and a.id = unlisted.id`.execute(
    tx,
  );
}
