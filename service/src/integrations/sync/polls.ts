import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import { systemActor } from '../../shared/actor.ts';
import { newId } from '../../shared/ids.ts';
import type { ConnectionRow } from '../connections/connections.ts';
import { announceOutcome, backOff, type RunFault } from './conclude.ts';
import type { RequestCounts } from './request-log.ts';

/** Ticketing systems are polled at a fixed interval, regardless of the connection's schedule. */
export const POLL_EVERY_MINUTES = 5;
/** A vendor that keeps failing is still polled once an hour, because people wait for their tickets. */
const PACE = { every: POLL_EVERY_MINUTES, most: 60 };
/** Longer than the seven days that health covers. */
const RETENTION = '8 days';

export interface Poll {
  connection: Pick<ConnectionRow, 'org_id' | 'id' | 'name' | 'provider'>;
  tookMs: number;
  pages: number;
  records: number;
  requests: RequestCounts;
  fault: RunFault | null;
}

/** Records a poll as a run. Emits an event only if the status differs from that of the previous poll. */
export async function recordPoll(tx: TenantTx, { connection, tookMs, pages, records, requests, fault }: Poll): Promise<void> {
  const { org_id: orgId, id } = connection;
  const runId = newId();
  const status = fault === null ? 'succeeded' : pages > 0 ? 'partial' : 'failed';
  const { type, id: actorId, name } = systemActor(orgId, 'schedule');
  const { rows } = await sql<{ before: string | null }>`
    with poll as (
      insert into sync_runs (org_id, id, connection_id, trigger, mode, status, attempt, batches, records, requests, failed_requests, response_bytes, error_kind, error, requested_by, actor,
        created_at, started_at, finished_at)
      select ${orgId}, ${runId}, ${id}, 'schedule', 'changes', ${status}, 1, ${pages}, ${records}, ${requests.requests}, ${requests.failed}, ${requests.bytes},
        ${fault?.kind ?? null}, ${fault?.message ?? null}, ${name}, ${JSON.stringify({ type, id: actorId, name })}::jsonb, began.at, began.at, now()
      from (select now() - ${tookMs} * interval '1 millisecond' as at) began
    )
    select (select status from sync_runs where org_id = ${orgId} and connection_id = ${id} order by created_at desc, id desc limit 1) as before`.execute(tx);
  if (status === 'failed') await backOff(tx, orgId, id, PACE);
  if (status === 'succeeded') {
    await sql`update connections set next_run_at = null where org_id = ${orgId} and id = ${id} and next_run_at > now()`.execute(tx);
    await sql`delete from sync_runs where org_id = ${orgId} and connection_id = ${id} and created_at < now() - ${RETENTION}::interval`.execute(tx);
  }
  if (rows[0]?.before !== status) await announceOutcome(tx, connection, runId, { status, counts: {}, error: fault?.message ?? null });
}

/** The next poll of a ticketing system. Null if it has no tickets. */
export function nextPollAt({ pausedUntil, isPolled }: { pausedUntil: Date | null; isPolled: boolean }, now: Date): Date | null {
  if (!isPolled) return null;
  const every = POLL_EVERY_MINUTES * 60_000;
  const from = Math.max(now.getTime() + 1, pausedUntil?.getTime() ?? 0);
  return new Date(Math.ceil(from / every) * every);
}
