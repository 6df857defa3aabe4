import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { SyncStatus } from '../schemas.ts';
import type { RunRow } from '../sync/runs.ts';
import type { ConnectionRow } from './connections.ts';
import { syncStatusOf } from './health.ts';

export interface ConnectionStatus {
  syncStatus: SyncStatus;
  lastRun: RunRow | null;
}

/** The latest run and the sync status of each connection. */
export async function readStatuses(
  tx: TenantTx,
  orgId: string,
  connections: readonly Pick<ConnectionRow, 'id' | 'enabled'>[],
): Promise<Map<string, ConnectionStatus>> {
  const { rows } = await sql<RunRow & { latest_status: Parameters<typeof syncStatusOf>[0]['latest_status'] }>`
    select r.*, (select d.status from sync_runs d where d.org_id = ${orgId} and d.connection_id = r.connection_id and d.status not in ('queued', 'running', 'cancelled')
        order by d.created_at desc, d.id desc limit 1) as latest_status
    from unnest(${connections.map(({ id }) => id)}::uuid[]) as wanted (id)
    join lateral (select * from sync_runs s where s.org_id = ${orgId} and s.connection_id = wanted.id order by s.created_at desc, s.id desc limit 1) r on true`.execute(
    tx,
  );
  const latest = new Map(rows.map((row) => [row.connection_id, row]));
  return new Map(
    connections.map(({ id, enabled }) => {
      const run = latest.get(id) ?? null;
      const active = run?.status === 'queued' || run?.status === 'running' ? run.status : null;
      return [id, { syncStatus: syncStatusOf({ enabled, active_status: active, latest_status: run?.latest_status ?? null }), lastRun: run }];
    }),
  );
}

export async function readStatus(tx: TenantTx, orgId: string, connection: Pick<ConnectionRow, 'id' | 'enabled'>): Promise<ConnectionStatus> {
  return (await readStatuses(tx, orgId, [connection])).get(connection.id) ?? neverSynced;
}

export const neverSynced: ConnectionStatus = { syncStatus: 'never', lastRun: null };
