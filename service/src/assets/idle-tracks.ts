import { sql } from 'kysely';
import { recordAuditSql } from '../audit/record.ts';
import type { SystemTx, TenantTx } from '../db/database.ts';
import { emitSql } from '../events/emit.ts';
import type { Actor } from '../shared/actor.ts';

/** Tracks whose findings do not count and that nobody has ended: pull requests and branches in development. */
const isOpenBranch = sql`not t.counts and t.kind in ('pull_request', 'development') and t.ended_at is null and t.merged_into is null`;

export async function organizationsWithBranches(tx: SystemTx): Promise<string[]> {
  const { rows } = await sql<{ org_id: string }>`select distinct t.org_id from asset_tracks t where ${isOpenBranch} order by 1`.execute(tx);
  return rows.map(({ org_id }) => org_id);
}

/** The open pull requests and branches in development of the organization, as a derived table. */
export const openBranches = sql<{ org_id: string; asset_id: string; n: number; name: string; created_at: Date }>`(
  select t.org_id, t.asset_id, t.n, t.name, t.created_at from asset_tracks t where ${isOpenBranch})`;

export interface AssetTrack {
  asset_id: string;
  n: number;
}

export function tracksSql(tracks: readonly AssetTrack[]) {
  return sql`unnest(${tracks.map(({ asset_id }) => asset_id)}::uuid[], ${tracks.map(({ n }) => n)}::smallint[]) as ended (asset_id, n)`;
}

/** Ends many tracks. The caller ends what their sources say. */
export async function endTracks(tx: TenantTx, actor: Actor, tracks: readonly AssetTrack[], reason: string): Promise<void> {
  const { orgId } = actor;
  const audited = sql`
    select asset_id::text as object_id, jsonb_build_object('track', name, 'ended', false) as before, jsonb_build_object('track', name, 'ended', true, 'reason', ${reason}::text) as after from over`;
  const events = sql`
    select asset_id::text as subject, jsonb_build_object('from', name, 'track', name, 'ended', true, 'reason', ${reason}::text) as data from over`;
  await sql`
    with over as materialized (
      update asset_tracks t set ended_at = now(), ended_by = ${actor.name}, ended_reason = ${reason} from ${tracksSql(tracks)}
      where t.org_id = ${orgId} and t.asset_id = ended.asset_id and t.n = ended.n returning t.asset_id, t.name
    ), audited as (${recordAuditSql(actor, { action: 'asset.track_ended', objectType: 'asset' }, audited)})
    ${emitSql(orgId, 'asset.track_ended', events)}`.execute(tx);
}
