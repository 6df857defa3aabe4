import { sql } from 'kysely';
import { recordAudit } from '../../audit/record.ts';
import type { SystemTx, TenantTx } from '../../db/database.ts';
import { fetchPage, type PageRequest } from '../../db/pages.ts';
import { emit } from '../../events/emit.ts';
import type { FindingFollower } from '../../findings/follower.ts';
import { confirmImport, discardImport } from '../../findings/import/manage-imports.ts';
import { enqueueAll } from '../../jobs/jobs.ts';
import { type Actor, systemActor } from '../../shared/actor.ts';
import { AppError, notFound } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { readConnection } from '../connections/connections.ts';
import { runSync } from '../jobs.ts';

/** Changes do not show what is missing, so a full run is due after this time. */
const FULL_AFTER = '7 days';

export interface QueuedRun {
  connection_id: string;
  run_id: string | null;
  /** Why no run was queued. */
  reason: 'already_running' | 'paused' | null;
}

interface RunRequest {
  trigger: 'manual' | 'schedule' | 'sync_all';
  /** Fetch everything even if fetching changes would be possible. */
  full?: boolean;
}

/** Queues a run of each connection that has no active run. Concurrent callers cannot queue two. */
async function queueRuns(tx: TenantTx, actor: Actor, connectionIds: readonly string[], { trigger, full = false }: RunRequest): Promise<QueuedRun[]> {
  const wanted = connectionIds.map((id) => ({ id, run_id: newId() }));
  const { rows } = await sql<{ connection_id: string; id: string }>`
    insert into sync_runs (org_id, id, connection_id, trigger, mode, requested_by, actor)
    select c.org_id, w.run_id, c.id, ${trigger}, case when ${full} or c.cursor is null or c.full_at is null or c.full_at < now() - ${FULL_AFTER}::interval then 'full' else 'changes' end,
      ${actor.name}, ${JSON.stringify({ type: actor.type, id: actor.id, name: actor.name })}::jsonb
    from connections c join unnest(${wanted.map(({ id }) => id)}::uuid[], ${wanted.map(({ run_id }) => run_id)}::uuid[]) as w (id, run_id) on w.id = c.id
    where c.org_id = ${actor.orgId} and c.deleted_at is null and c.enabled
    on conflict (org_id, connection_id) where status in ('queued', 'running') do nothing
    returning connection_id, id`.execute(tx);
  await enqueueAll(
    tx,
    runSync,
    rows.map(({ id }) => ({ org_id: actor.orgId, run_id: id })),
  );
  const queued = new Map(rows.map((row) => [row.connection_id, row.id]));
  return connectionIds.map((id) => ({ connection_id: id, run_id: queued.get(id) ?? null, reason: queued.has(id) ? null : 'already_running' }));
}

export async function syncOne(tx: TenantTx, actor: Actor, id: string, { full }: { full: boolean }): Promise<RunRow> {
  const connection = await readConnection(tx, actor.orgId, id);
  if (connection.kind === 'ticketing') throw new AppError('conflict', 'Ticketing connections sync automatically and cannot be synced on request.');
  if (!connection.enabled) throw new AppError('conflict', `The connection "${connection.name}" is paused. Enable it first.`);
  const queue = async (): Promise<string | null> => (await queueRuns(tx, actor, [id], { trigger: 'manual', full }))[0]?.run_id ?? null;
  let runId = await queue();
  if (runId === null) {
    const active = await activeRunOf(tx, actor.orgId, id);
    // The run that was in the way may have ended meanwhile.
    runId = active === null ? await queue() : null;
    if (runId === null)
      throw new AppError('conflict', `The connection "${connection.name}" already has an active run. Wait for it to end, or cancel it.`, {
        headers: active === null ? {} : { location: `/api/v1/integrations/${id}/runs/${active}` },
      });
  }
  await recordAudit(tx, actor, { action: 'sync.requested', objectType: 'connection', objectId: id, after: { run_id: runId, full } });
  return readRun(tx, actor.orgId, id, runId);
}

async function activeRunOf(tx: TenantTx, orgId: string, connectionId: string): Promise<string | null> {
  const row = await tx
    .selectFrom('sync_runs')
    .select('id')
    .where('org_id', '=', orgId)
    .where('connection_id', '=', connectionId)
    .where('status', 'in', ['queued', 'running'])
    .executeTakeFirst();
  return row?.id ?? null;
}

/** Queues runs of all scanner connections. Paused and active connections are reported, not refused. */
export async function syncAll(tx: TenantTx, actor: Actor): Promise<(QueuedRun & { name: string; provider: string })[]> {
  const connections = await tx
    .selectFrom('connections')
    .select(['id', 'name', 'provider', 'enabled'])
    .where('org_id', '=', actor.orgId)
    .where('kind', '=', 'scanner')
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  const enabled = connections.filter((connection) => connection.enabled).map(({ id }) => id);
  const queued = new Map((await queueRuns(tx, actor, enabled, { trigger: 'sync_all' })).map((run) => [run.connection_id, run]));
  await recordAudit(tx, actor, { action: 'sync.requested', objectType: 'organization', objectId: actor.orgId, after: { connections: enabled.length } });
  return connections.map(({ id, name, provider }) => ({
    ...(queued.get(id) ?? { connection_id: id, run_id: null, reason: 'paused' as const }),
    name,
    provider,
  }));
}

/** Returns due connections of all organizations by organization and schedules their next run, with some jitter to spread the load. */
export async function claimDueConnections(tx: SystemTx): Promise<Map<string, string[]>> {
  const { rows } = await sql<{ org_id: string; id: string }>`
    with due as (
      select org_id, id from connections where enabled and deleted_at is null and next_run_at <= now() and kind <> 'ticketing'
      order by next_run_at limit 1000 for update skip locked
    )
    update connections c set next_run_at = now() + c.every_minutes * interval '1 minute' * (0.95 + random() / 10)
    from due where c.org_id = due.org_id and c.id = due.id returning c.org_id, c.id`.execute(tx);
  const byOrg = new Map<string, string[]>();
  for (const { org_id, id } of rows) byOrg.set(org_id, [...(byOrg.get(org_id) ?? []), id]);
  return byOrg;
}

export function queueScheduled(tx: TenantTx, orgId: string, ids: readonly string[]): Promise<QueuedRun[]> {
  return queueRuns(tx, systemActor(orgId, 'schedule'), ids, { trigger: 'schedule' });
}

export async function readRun(tx: TenantTx, orgId: string, connectionId: string, id: string) {
  const row = await tx
    .selectFrom('sync_runs')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('connection_id', '=', connectionId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row) throw notFound('run', id);
  return row;
}

export type RunRow = Awaited<ReturnType<typeof readRun>>;

export async function listRuns(tx: TenantTx, orgId: string, connectionId: string, page: PageRequest) {
  await readConnection(tx, orgId, connectionId);
  const query = tx.selectFrom('sync_runs').selectAll().where('org_id', '=', orgId).where('connection_id', '=', connectionId);
  return fetchPage(tx, query, { created_at: { column: 'created_at', type: 'timestamptz' } }, page);
}

/** A queued run ends immediately. A running one is flagged, and its worker stops within about a second. */
export async function cancelRun(tx: TenantTx, actor: Actor, connectionId: string, id: string): Promise<RunRow> {
  const run = await readRun(tx, actor.orgId, connectionId, id);
  if (run.status !== 'queued' && run.status !== 'running')
    throw new AppError('conflict', `The run "${id}" is ${run.status}. Only a queued or running run can be cancelled.`);
  await sql`
    update sync_runs set cancel_requested = true, status = case when status = 'queued' then 'cancelled' else status end,
      finished_at = case when status = 'queued' then now() end
    where org_id = ${actor.orgId} and id = ${id} and status in ('queued', 'running')`.execute(tx);
  await recordAudit(tx, actor, { action: 'sync.cancelled', objectType: 'sync_run', objectId: id, before: { status: run.status } });
  return readRun(tx, actor.orgId, connectionId, id);
}

/** Resolves a run whose closures were withheld: closes the findings that it no longer saw, or leaves them open. */
export async function resolveWithheldRun(
  tx: TenantTx,
  actor: Actor,
  { connectionId, runId, decision }: RunDecision,
  follower: FindingFollower,
): Promise<RunRow> {
  const run = await readRun(tx, actor.orgId, connectionId, runId);
  if (run.status !== 'needs_confirmation' || run.import_id === null)
    throw new AppError('conflict', `The run "${runId}" is ${run.status}. Only a run that needs confirmation can be confirmed or discarded.`);
  const imported = decision === 'confirm' ? await confirmImport(tx, actor, run.import_id, follower) : await discardImport(tx, actor, run.import_id);
  const counts = { ...(run.counts as Record<string, number>), closed: imported.closed };
  await tx
    .updateTable('sync_runs')
    .set({ status: decision === 'confirm' ? 'succeeded' : 'partial', counts: JSON.stringify(counts) })
    .where('org_id', '=', actor.orgId)
    .where('id', '=', runId)
    .execute();
  await emit(tx, actor.orgId, {
    type: `sync.${decision === 'confirm' ? 'confirmed' : 'discarded'}`,
    subject: runId,
    data: { connection_id: connectionId, ...counts },
  });
  return readRun(tx, actor.orgId, connectionId, runId);
}

interface RunDecision {
  connectionId: string;
  runId: string;
  decision: 'confirm' | 'discard';
}
