import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';

/** Deletes a batch of runs, and returns how many there were. The health of a connection depends on its last successful run and on all runs after it. */
export async function deleteOldRuns(tx: TenantTx, orgId: string, days: number, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with old as (
      select run.id from sync_runs run
      where run.org_id = ${orgId} and run.created_at < now() - ${days}::int * interval '1 day' and run.status not in ('queued', 'running', 'needs_confirmation')
        and exists (
          select from sync_runs later where later.org_id = run.org_id and later.connection_id = run.connection_id and later.status = 'succeeded'
            and (later.created_at, later.id) > (run.created_at, run.id)
        )
      limit ${limit}
    ), batches as (
      delete from sync_run_batches where org_id = ${orgId} and run_id in (select id from old)
    )
    delete from sync_runs where org_id = ${orgId} and id in (select id from old)`.execute(tx);
  return Number(numAffectedRows ?? 0);
}
