import type { FaultKind, Json } from '@rrs/connectors';
import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import { importStatuses } from '../../findings/relations.ts';
import { systemActor } from '../../shared/actor.ts';
import type { ClaimedRun } from './sync.ts';

/** Where the next run continues. Absent if this run did not come to its end. */
interface Position {
  cursor: Json;
  /** Everything was requested, under the current settings. */
  full: boolean;
}

/** The result of a run, as it is stored. */
export type Conclusion =
  | { status: 'cancelled' }
  | { status: 'failed'; kind: FaultKind | 'service'; error: string }
  | ({ status: 'partial'; kind: FaultKind | 'service'; error: string; counts: Record<string, number>; notes?: string[] } & Partial<Position>)
  | ({ status: 'succeeded' | 'needs_confirmation'; counts: Record<string, number>; notes?: string[]; knowledgeAsOf?: string } & Position);

export interface RunFault {
  kind: FaultKind | 'service';
  message: string;
}

/** From this many failures in a row on, the time between runs doubles with each failure, up to one day (or the interval, if that is longer). */
export const CIRCUIT_OPENS_AT = 5;

export async function concludeRun(tx: TenantTx, { run, connection }: ClaimedRun, conclusion: Conclusion): Promise<void> {
  const orgId = run.org_id;
  const { status } = conclusion;
  const counts = 'counts' in conclusion ? conclusion.counts : {};
  const { numUpdatedRows } = await tx
    .updateTable('sync_runs')
    .set({
      status,
      counts: JSON.stringify(counts),
      notes: JSON.stringify('notes' in conclusion ? (conclusion.notes ?? []) : []),
      knowledge_as_of: ('knowledgeAsOf' in conclusion && conclusion.knowledgeAsOf) || null,
      error_kind: 'kind' in conclusion ? conclusion.kind : null,
      error: 'error' in conclusion ? conclusion.error : null,
      finished_at: sql<Date>`clock_timestamp()`,
    })
    .where('org_id', '=', orgId)
    .where('id', '=', run.id)
    .where('status', '=', 'running')
    .where('attempt', '=', run.attempt)
    .executeTakeFirst();
  // Another worker has taken over the run and will conclude it.
  if (numUpdatedRows === 0n) return;
  await tx.deleteFrom('sync_run_batches').where('org_id', '=', orgId).where('run_id', '=', run.id).execute();
  if ('cursor' in conclusion && conclusion.cursor !== undefined) {
    await tx
      .updateTable('connections')
      .set({ cursor: JSON.stringify(conclusion.cursor), ...(conclusion.full ? { full_at: run.started_at } : {}) })
      .where('org_id', '=', orgId)
      .where('id', '=', connection.id)
      // If the settings changed during the run, its cursor does not apply to them.
      .where('version', '=', connection.version)
      .execute();
  } else if (status === 'failed') await backOff(tx, orgId, connection.id);
  await announceOutcome(tx, connection, run.id, { status, counts, error: 'error' in conclusion ? conclusion.error : null });
  if ('cursor' in conclusion) await endReplaced(tx, connection);
}

/** Earlier runs no longer wait for confirmation if a newer one replaced their imports, or if somebody decided about the import itself. */
async function endReplaced(tx: TenantTx, { org_id: orgId, id }: Pick<ConnectionRef, 'org_id' | 'id'>): Promise<void> {
  const { rows } = await sql<{ id: string; counts: Record<string, number>; is_confirmed: boolean }>`
    update sync_runs r set status = case i.status when 'discarded' then 'partial' else 'succeeded' end, counts = r.counts || jsonb_build_object('closed', i.closed)
    from ${importStatuses} i
    where r.org_id = ${orgId} and r.connection_id = ${id} and r.status = 'needs_confirmation' and i.org_id = ${orgId} and i.id = r.import_id
      and i.status in ('discarded', 'succeeded')
    returning r.id, r.counts, i.status = 'succeeded' as is_confirmed`.execute(tx);
  for (const { id: subject, counts, is_confirmed } of rows)
    await emit(tx, orgId, { type: `sync.${is_confirmed ? 'confirmed' : 'discarded'}`, subject, data: { connection_id: id, ...counts } });
}

type ConnectionRef = Pick<ClaimedRun['connection'], 'org_id' | 'id' | 'name' | 'provider'>;

/** Writes the audit event and the outgoing event of a run that ended. */
export async function announceOutcome(tx: TenantTx, { org_id: orgId, id, name, provider }: ConnectionRef, runId: string, outcome: Outcome): Promise<void> {
  const data = { connection_id: id, provider, ...outcome };
  const type = `sync.${outcome.status}` as const;
  await recordAudit(tx, systemActor(orgId, name), { action: type, objectType: 'sync_run', objectId: runId, after: data });
  await emit(tx, orgId, { type, subject: runId, data });
}

interface Outcome {
  status: Conclusion['status'];
  counts: Record<string, number>;
  error: string | null;
}

/** Minutes between two runs: normally, and at most after many failures. */
interface Pace {
  every: number;
  most: number;
}

/** Postpones the next run after repeated failures. Without `pace` it uses the connection's schedule and at most one day. */
export async function backOff(tx: TenantTx, orgId: string, connectionId: string, pace: Pace | null = null): Promise<void> {
  await sql`
    with failures as (
      select count(*)::int as n from sync_runs r where r.org_id = ${orgId} and r.connection_id = ${connectionId} and r.status = 'failed'
        and r.created_at > coalesce((select max(s.created_at) from sync_runs s where s.org_id = ${orgId} and s.connection_id = ${connectionId} and s.status in ('succeeded', 'partial', 'needs_confirmation')), '-infinity')
    )
    update connections c set next_run_at = greatest(c.next_run_at, now() + least(pace.every * 2 ^ least(failures.n - ${CIRCUIT_OPENS_AT} + 1, 10), pace.most) * interval '1 minute')
    from failures, (
      select coalesce(${pace?.every ?? null}::int, every_minutes) as every, coalesce(${pace?.most ?? null}::int, greatest(every_minutes, 1440)) as most
      from connections where org_id = ${orgId} and id = ${connectionId}
    ) pace
    where c.org_id = ${orgId} and c.id = ${connectionId} and pace.every is not null and failures.n >= ${CIRCUIT_OPENS_AT}`.execute(tx);
}
