import { asForm, type Connector } from '@rrs/connectors';
import type { Static } from 'typebox';
import type { ConnectionRow } from './connections/connections.ts';
import { type HealthRow, healthOf } from './connections/health.ts';
import { type Providers, providerOf, strict } from './connections/providers.ts';
import type { ConnectionStatus } from './connections/sync-status.ts';
import { type Connection, type Health, type HealthStatus, healthStatuses, type Run } from './schemas.ts';
import type { Catalog } from './schemas-catalog.ts';
import type { RunFault } from './sync/conclude.ts';
import { nextPollAt } from './sync/polls.ts';
import type { RunRow } from './sync/runs.ts';

export function toProvider(connector: Connector, publicUrl: string): Static<typeof Catalog>['data'][number] {
  const { id, kind, name, version, description, documentation, permissions, config, credentials } = connector;
  const dialect = { $schema: 'https://json-schema.org/draft/2020-12/schema' };
  return {
    id,
    kind,
    name,
    version,
    description,
    documentation,
    permissions,
    capabilities: capabilitiesOf(kind),
    inbound_url: inboundUrlOf(connector, publicUrl, '{connection_id}'),
    config_schema: { ...dialect, ...strict(asForm(config, 'config')) },
    credentials_schema: { ...dialect, ...strict(asForm(credentials, 'credentials')) },
  };
}

/** Where the vendor sends its webhooks. Null if it has none. */
function inboundUrlOf(connector: Connector, publicUrl: string, connectionId: string): string | null {
  return connector.kind === 'ticketing' && connector.inbound ? `${publicUrl}/api/v1/integrations/${connectionId}/inbound` : null;
}

function capabilitiesOf(kind: Connector['kind']): string[] {
  return { scanner: ['test', 'sync'], enrichment: ['test', 'sync'], ticketing: ['test', 'tickets'] }[kind];
}

interface Presentation {
  providers: Providers;
  publicUrl: () => string;
}

export function toConnection({ providers, publicUrl }: Presentation, row: ConnectionRow, { syncStatus, lastRun }: ConnectionStatus): Static<typeof Connection> {
  const marks = row.credential_marks as Record<string, { updated_at: string; hint: string | null }>;
  return {
    id: row.id,
    provider: row.provider,
    kind: row.kind,
    name: row.name,
    enabled: row.enabled,
    config: row.config as Record<string, unknown>,
    credentials: Object.fromEntries(Object.entries(marks).map(([field, mark]) => [field, { set: true, ...mark }])),
    inbound_url: inboundUrlOf(providerOf(providers, row.provider), publicUrl(), row.id),
    schedule: row.every_minutes === null ? null : { every_minutes: row.every_minutes },
    sync_status: syncStatus,
    last_run: lastRun && toRun(lastRun),
    next_run_at: nextRunAt(row, lastRun !== null, new Date()),
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    version: row.version,
  };
}

function nextRunAt({ enabled, kind, next_run_at }: Pick<ConnectionRow, 'enabled' | 'kind' | 'next_run_at'>, isPolled: boolean, now: Date): string | null {
  if (!enabled) return null;
  return (kind === 'ticketing' ? nextPollAt({ pausedUntil: next_run_at, isPolled }, now) : next_run_at)?.toISOString() ?? null;
}

const outcomes = ['received', 'created', 'updated', 'unchanged', 'reopened', 'rejected', 'closed', 'learned'] as const;

function faultKind(stored: string | null): RunFault['kind'] {
  return (stored ?? 'service') as RunFault['kind'];
}

export function toRun(run: RunRow): Static<typeof Run> {
  const counts = run.counts as Record<string, number>;
  return {
    id: run.id,
    connection_id: run.connection_id,
    trigger: run.trigger,
    mode: run.mode,
    status: run.status,
    progress: { pages: run.batches, records: run.records },
    counts: Object.fromEntries(outcomes.map((name) => [name, counts[name] ?? 0])) as Record<(typeof outcomes)[number], number>,
    requests: { made: run.requests, failed: run.failed_requests, bytes: Number(run.response_bytes) },
    import_id: run.import_id,
    error: run.error === null ? null : { kind: faultKind(run.error_kind), message: run.error },
    notes: run.notes as string[],
    knowledge_as_of: run.knowledge_as_of,
    requested_by: run.requested_by,
    created_at: run.created_at.toISOString(),
    started_at: run.started_at?.toISOString() ?? null,
    finished_at: run.finished_at?.toISOString() ?? null,
  };
}

const rate = (failed: number, all: number): number => (all === 0 ? 0 : Math.round((failed / all) * 1000) / 1000);
const seconds = (value: number | null): number | null => (value === null ? null : Math.round(value * 1000) / 1000);

export function toHealth(rows: readonly HealthRow[], now: Date): Static<typeof Health> {
  const connections = rows.map((row) => {
    const { status, sync_status, circuit, staleSeconds, isStale, error } = healthOf(row, now);
    return {
      connection_id: row.id,
      provider: row.provider,
      kind: row.kind,
      name: row.name,
      status,
      sync_status,
      last_success_at: row.last_success_at?.toISOString() ?? null,
      last_run_at: row.latest_at?.toISOString() ?? null,
      next_run_at: nextRunAt(row, row.every_minutes !== null, now),
      staleness: { seconds_since_success: staleSeconds, every_minutes: row.every_minutes, stale: isStale },
      runs: {
        last_24h: { total: row.runs_24h, failed: row.failed_24h, error_rate: rate(row.failed_24h, row.runs_24h) },
        last_7d: { total: row.runs_7d, failed: row.failed_7d, error_rate: rate(row.failed_7d, row.runs_7d) },
      },
      requests: {
        last_24h: { total: row.requests_24h, failed: row.failed_requests_24h, error_rate: rate(row.failed_requests_24h, row.requests_24h) },
        last_7d: { total: row.requests_7d, failed: row.failed_requests_7d, error_rate: rate(row.failed_requests_7d, row.requests_7d) },
      },
      run_seconds: { median: seconds(row.median_seconds), p95: seconds(row.p95_seconds) },
      findings_seen: row.findings_seen,
      knowledge_as_of: row.knowledge_as_of,
      last_error: error === null ? null : { kind: faultKind(row.error_kind), message: error },
      notes: row.latest_notes ?? [],
      consecutive_failures: row.consecutive_failures,
      circuit,
    };
  });
  const failed = rows.reduce((sum, row) => sum + row.failed_24h, 0);
  const total = rows.reduce((sum, row) => sum + row.runs_24h, 0);
  return {
    summary: {
      connections: connections.length,
      by_status: Object.fromEntries(
        healthStatuses.map((status) => [status, connections.filter((connection) => connection.status === status).length]),
      ) as Record<HealthStatus, number>,
      runs_24h: total,
      failed_runs_24h: failed,
      error_rate_24h: rate(failed, total),
      checked_at: now.toISOString(),
    },
    connections,
  };
}
