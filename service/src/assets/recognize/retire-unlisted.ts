import { sql } from 'kysely';
import { recordAuditSql } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emitSql } from '../../events/emit.ts';
import { systemActor } from '../../shared/actor.ts';

/** An asset, and when the last source that has it left it out for the second time. */
export interface Unlisted {
  id: string;
  gone_at: Date;
}

/** Retires assets that no source lists any more, as of the run that left them out. The next import that names them puts them back in use. */
export async function retireUnlistedAssets(tx: TenantTx, { orgId, importId }: { orgId: string; importId: string }, assets: readonly Unlisted[]): Promise<void> {
  if (assets.length === 0) return;
  const [ids, times] = [assets.map(({ id }) => id), assets.map(({ gone_at }) => gone_at)];
  const after = sql`jsonb_build_object('retired', true, 'reason_code', 'asset_gone', 'import_id', ${importId}::text)`;
  const audited = sql`select id::text as object_id, jsonb_build_object('retired', false) as before, ${after} as after from unlisted`;
  const events = sql`select id::text as subject, ${after} as data from unlisted`;
  await sql`
    with unlisted as materialized (
      select a.id, gone.at from assets a join unnest(${ids}::uuid[], ${times}::timestamptz[]) as gone (id, at) using (id)
      where a.org_id = ${orgId} and a.retired_at is null and a.merged_into is null
    ), audited as (
      ${recordAuditSql(systemActor(orgId, 'import'), { action: 'asset.updated', objectType: 'asset' }, audited)}
    ), emitted as (
      ${emitSql(orgId, 'asset.updated', events)}
    )
    update assets a set retired_at = unlisted.at, version = a.version + 1, updated_at = now() from unlisted where a.org_id = ${orgId} and a.id = unlisted.id`.execute(
    tx,
  );
}

/** Moves when assets were retired, if that was when the source was thought to have left them out. */
export async function moveRetirement(tx: TenantTx, orgId: string, assets: readonly { id: string; from: Date; to: Date }[]): Promise<void> {
  if (assets.length === 0) return;
  const [ids, known, times] = [assets.map(({ id }) => id), assets.map(({ from }) => from), assets.map(({ to }) => to)];
  await sql`
    update assets a set retired_at = moved.at from unnest(${ids}::uuid[], ${known}::timestamptz[], ${times}::timestamptz[]) as moved (id, known, at)
    where a.org_id = ${orgId} and a.id = moved.id and a.retired_at = moved.known`.execute(tx);
}
