import { sql } from 'kysely';
import type { TenantTx } from '../../db/database.ts';
import type { HealthStatus, SyncStatus } from '../schemas.ts';
import { CIRCUIT_OPENS_AT } from '../sync/conclude.ts';
import { POLL_EVERY_MINUTES } from '../sync/polls.ts';

/** One statement over the runs of all connections. */
export async function readHealth(tx: TenantTx, orgId: string): Promise<HealthRow[]> {
  const done = sql`('succeeded', 'partial', 'failed', 'needs_confirmation')`;
  const { rows } = await sql<HealthRow>`
    select c.id, c.provider, c.kind, c.name, c.enabled, c.next_run_at,
      case when c.kind <> 'ticketing' then c.every_minutes
        when exists (select from tickets t where t.org_id = c.org_id and t.connection_id = c.id and t.unlinked_at is null) then ${POLL_EVERY_MINUTES}::int end as every_minutes,
      active.status as active_status, latest.status as latest_status, latest.error as latest_error, latest.error_kind, latest.finished_at as latest_at, latest.notes as latest_notes,
      good.finished_at as last_success_at, coalesce(failing.n, 0) as consecutive_failures, failing.since as failing_since,
      coalesce(w.runs_24h, 0) as runs_24h, coalesce(w.failed_24h, 0) as failed_24h, coalesce(w.runs_7d, 0) as runs_7d, coalesce(w.failed_7d, 0) as failed_7d,
      coalesce(w.requests_24h, 0) as requests_24h, coalesce(w.failed_requests_24h, 0) as failed_requests_24h, coalesce(w.requests_7d, 0) as requests_7d,
      coalesce(w.failed_requests_7d, 0) as failed_requests_7d, w.median_seconds, w.p95_seconds,
      coalesce((good.counts->>'received')::int, 0) as findings_seen, good.knowledge_as_of
    from connections c
    left join lateral (select status from sync_runs r where r.org_id = c.org_id and r.connection_id = c.id and r.status in ('queued', 'running')) active on true
    left join lateral (
      select status, error, error_kind, finished_at, notes from sync_runs r where r.org_id = c.org_id and r.connection_id = c.id and r.status in ${done} order by r.created_at desc, r.id desc limit 1
    ) latest on true
    left join lateral (
      select created_at, finished_at, counts, knowledge_as_of from sync_runs r where r.org_id = c.org_id and r.connection_id = c.id and r.status in ('succeeded', 'needs_confirmation') order by r.created_at desc, r.id desc limit 1
    ) good on true
    left join lateral (
      select count(*)::int as n, min(r.finished_at) as since from sync_runs r
      where r.org_id = c.org_id and r.connection_id = c.id and r.status = 'failed'
        and r.created_at > coalesce((select max(s.created_at) from sync_runs s where s.org_id = c.org_id and s.connection_id = c.id and s.status in ('succeeded', 'partial', 'needs_confirmation')), '-infinity')
    ) failing on true
    left join lateral (
      select count(*) filter (where r.created_at > now() - interval '1 day')::int as runs_24h,
        count(*) filter (where r.created_at > now() - interval '1 day' and r.status in ('failed', 'partial'))::int as failed_24h,
        count(*)::int as runs_7d, count(*) filter (where r.status in ('failed', 'partial'))::int as failed_7d,
        coalesce(sum(r.requests) filter (where r.created_at > now() - interval '1 day'), 0)::int as requests_24h,
        coalesce(sum(r.failed_requests) filter (where r.created_at > now() - interval '1 day'), 0)::int as failed_requests_24h,
        coalesce(sum(r.requests), 0)::int as requests_7d, coalesce(sum(r.failed_requests), 0)::int as failed_requests_7d,
        percentile_cont(0.5) within group (order by extract(epoch from r.finished_at - r.started_at)) as median_seconds,
        percentile_cont(0.95) within group (order by extract(epoch from r.finished_at - r.started_at)) as p95_seconds
      from sync_runs r where r.org_id = c.org_id and r.connection_id = c.id and r.status in ${done} and r.created_at > now() - interval '7 days'
    ) w on true
    where c.org_id = ${orgId} and c.deleted_at is null
    order by c.created_at, c.id`.execute(tx);
  return rows;
}

export interface HealthRow {
  id: string;
  provider: string;
  kind: 'scanner' | 'ticketing' | 'enrichment';
  name: string;
  enabled: boolean;
  /** Null for a connection without a schedule, and for a ticketing connection without linked tickets. */
  every_minutes: number | null;
  next_run_at: Date | null;
  active_status: 'queued' | 'running' | null;
  latest_status: 'succeeded' | 'partial' | 'failed' | 'needs_confirmation' | null;
  latest_error: string | null;
  latest_notes: string[] | null;
  error_kind: string | null;
  latest_at: Date | null;
  last_success_at: Date | null;
  consecutive_failures: number;
  failing_since: Date | null;
  runs_24h: number;
  failed_24h: number;
  runs_7d: number;
  failed_7d: number;
  requests_24h: number;
  failed_requests_24h: number;
  requests_7d: number;
  failed_requests_7d: number;
  median_seconds: number | null;
  p95_seconds: number | null;
  findings_seen: number;
  knowledge_as_of: string | null;
}

export function syncStatusOf({ enabled, active_status, latest_status }: Pick<HealthRow, 'enabled' | 'active_status' | 'latest_status'>): SyncStatus {
  if (active_status) return active_status;
  if (!enabled) return 'paused';
  if (latest_status === null) return 'never';
  return latest_status === 'succeeded' ? 'ok' : latest_status === 'failed' ? 'failing' : 'partial';
}

/** A connection is stale after two intervals without a successful run. Without a schedule it never becomes stale. */
const STALE_AFTER_INTERVALS = 2;

export function healthOf(row: HealthRow, now: Date) {
  const staleSeconds = row.last_success_at ? Math.max(0, Math.round((now.getTime() - row.last_success_at.getTime()) / 1000)) : null;
  const isStale = staleSeconds !== null && row.every_minutes !== null && staleSeconds > row.every_minutes * 60 * STALE_AFTER_INTERVALS;
  return {
    status: statusOf(row, isStale),
    sync_status: syncStatusOf(row),
    circuit:
      row.consecutive_failures < CIRCUIT_OPENS_AT
        ? ('closed' as const)
        : row.active_status || (row.next_run_at && row.next_run_at <= now)
          ? ('half_open' as const)
          : ('open' as const),
    staleSeconds,
    isStale,
    error: row.latest_error === null ? null : errorWithSince(row),
  };
}

function statusOf(row: HealthRow, isStale: boolean): HealthStatus {
  if (!row.enabled) return 'paused';
  if (row.latest_status === null) return 'never_synced';
  if (row.latest_status === 'failed') return 'failing';
  if (isStale) return 'stale';
  return row.latest_status === 'succeeded' ? 'healthy' : 'degraded';
}

function errorWithSince({ latest_error, failing_since, consecutive_failures }: HealthRow): string {
  if (!failing_since || consecutive_failures < 2) return latest_error ?? '';
  return `${latest_error} (${consecutive_failures} failed runs in a row since ${failing_since.toISOString().slice(0, 16).replace('T', ' ')} UTC)`;
}
