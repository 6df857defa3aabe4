import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Text, Timestamp, VisibleName } from '../http/schemas.ts';
import { Kind, Values } from './schemas-catalog.ts';

export const syncStatuses = ['never', 'queued', 'running', 'ok', 'partial', 'failing', 'paused'] as const;
export type SyncStatus = (typeof syncStatuses)[number];
export const runStatuses = ['queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled', 'needs_confirmation'] as const;
export const healthStatuses = ['healthy', 'degraded', 'failing', 'stale', 'paused', 'never_synced'] as const;
export type HealthStatus = (typeof healthStatuses)[number];

const count = (description: string) => Type.Integer({ minimum: 0, description, examples: [0] });
const rate = (description: string) => Type.Number({ minimum: 0, maximum: 1, description, examples: [0.02] });
const time = (description: string) => ({ ...Timestamp, description });

const ConnectionId = { ...Id, description: 'Id of the connection (UUIDv7)' };
const RunId = { ...Id, description: 'Id of the run (UUIDv7)' };
const Provider = Type.String({ description: 'Provider id from the catalog', examples: ['snyk'] });
const ConnectionName = Type.String({ description: 'Display name of the connection', examples: ['Snyk, shop team'] });
const Status = OneOf(syncStatuses, {
  description: 'Active run (`queued`, `running`), otherwise the result of the latest run. `never`: no run yet. `paused`: the connection is disabled',
});

export const ConnectionParams = Strict({ id: ConnectionId });
export const RunParams = Strict({ id: ConnectionId, run_id: RunId });

const Schedule = Strict({
  every_minutes: Type.Integer({ minimum: 15, maximum: 44_640, description: 'Minutes between two runs, plus or minus 5 percent', examples: [1440] }),
});

const settings = {
  name: VisibleName(1, 200, { description: 'Display name, unique in your organization. Default: the name of the provider', examples: ['Snyk, shop team'] }),
  config: Values("Settings that match the provider's `config_schema`", { organization_id: '3a6b1e50-5d0c-4b1f-9a55-0f6f0c6d1a01' }),
  credentials: Values("Secrets that match the provider's `credentials_schema`. Stored encrypted and never returned", { token: 'snyk-token-…' }),
  enabled: Type.Boolean({ description: 'Whether the connection runs. Default: true', examples: [true] }),
};

export const ConnectionCreate = Strict(
  {
    provider: Text(1, 100, { description: 'Provider id from the catalog', examples: ['snyk'] }),
    name: Type.Optional(settings.name),
    config: Type.Optional(settings.config),
    credentials: Type.Optional(settings.credentials),
    schedule: Type.Optional(
      Nullable({
        ...Schedule,
        description: 'Default: once a day. null: only on request. Ticketing connections are polled every five minutes regardless of the schedule',
      }),
    ),
    enabled: Type.Optional(settings.enabled),
  },
  {
    examples: [
      {
        provider: 'snyk',
        config: { organization_id: '3a6b1e50-5d0c-4b1f-9a55-0f6f0c6d1a01' },
        credentials: { token: 'snyk-token-…' },
        schedule: { every_minutes: 360 },
      },
    ],
  },
);

const { provider, config, credentials } = ConnectionCreate.properties;
export const ConnectionTestBody = Named(
  'ConnectionTestRequest',
  {
    provider,
    config,
    credentials,
    connection_id: Type.Optional({
      ...ConnectionId,
      description:
        'Connection whose settings are to be changed. `config` and `credentials` are then the changes, as in `PATCH /integrations/{id}`, and other fields have the stored values',
    }),
  },
  { examples: [{ provider: 'snyk', config: { organization_id: '3a6b1e50-5d0c-4b1f-9a55-0f6f0c6d1a01' }, credentials: { token: 'snyk-token-…' } }] },
);

export const ConnectionPatch = Strict({
  name: Type.Optional({ ...settings.name, description: 'Display name, unique in your organization' }),
  config: Type.Optional({ ...settings.config, description: 'Fields to change. null clears a field' }),
  credentials: Type.Optional({
    ...settings.credentials,
    description: 'Secrets to change. null clears a secret. If you change the URL, supply all secrets again',
  }),
  schedule: Type.Optional(Nullable({ ...Schedule, description: 'null: only on request' })),
  enabled: Type.Optional({ ...settings.enabled, description: 'Whether the connection runs' }),
});

const Fault = Named('RunError', {
  kind: OneOf(['credentials', 'configuration', 'rate_limited', 'unavailable', 'invalid_answer', 'incomplete', 'service'] as const, {
    description: 'Cause of the error. `invalid_answer`: the vendor sent an unexpected response. `service`: internal error',
  }),
  message: Type.String({ description: 'What is wrong and what to do', examples: ['Snyk refused the credentials (401). Create new ones: …'] }),
});

const KnowledgeAsOf = (description: string) => Nullable(Type.String({ description, examples: ['2026-11-14'] }));

export const Run = Named('SyncRun', {
  id: RunId,
  connection_id: ConnectionId,
  trigger: OneOf(['manual', 'schedule', 'sync_all'] as const, { description: 'What started the run' }),
  mode: OneOf(['full', 'changes'] as const, {
    description: '`full`: fetches everything, and a complete run closes findings that are missing. `changes`: fetches changes since the previous run',
  }),
  status: OneOf(runStatuses, {
    description:
      '`partial` and `failed` runs close nothing. `needs_confirmation`: the run would close unusually many findings, or some that were last seen with other settings of the connection, and waits for your decision',
  }),
  progress: Named(
    'SyncProgress',
    { pages: count('Pages fetched so far'), records: count('Records fetched so far') },
    { description: 'How far the run has got' },
  ),
  counts: Named(
    'SyncCounts',
    {
      received: count('Records received'),
      created: count('Findings created'),
      updated: count('Findings updated'),
      unchanged: count('Findings seen again without a change'),
      reopened: count('Findings reopened'),
      rejected: count('Records that could not be read'),
      closed: count('Findings closed because the run no longer saw them'),
      learned: count('Vulnerabilities with new data. Enrichment only'),
    },
    { description: 'Results of the run' },
  ),
  requests: Named(
    'SyncRequests',
    { made: count('Requests sent'), failed: count('Requests that failed'), bytes: count('Bytes received') },
    { description: 'Requests to the vendor' },
  ),
  import_id: Nullable({ ...Id, description: 'Import of the collected records, with its rejected records and the stored file' }),
  error: Nullable({ ...Fault, description: 'Why the run failed or is partial' }),
  notes: Type.Array(Type.String({ examples: ['Data as of 2026-11-14.'] }), { description: 'Remarks about the run' }),
  knowledge_as_of: KnowledgeAsOf("Date of the vulnerability data in the vendor's notation. Enrichment only"),
  requested_by: Type.String({ description: 'Who or what requested the run', examples: ['Ada Lovelace'] }),
  created_at: time('When the run was queued'),
  started_at: Nullable(time('When the run started')),
  finished_at: Nullable(time('When the run ended')),
});
export const RunList = PageOf('SyncRunList', Run);
export const RunQuery = Strict(listParameters(['created_at'] as const, '-created_at'));

export const Connection = Named('Connection', {
  id: ConnectionId,
  provider: Provider,
  kind: Kind,
  name: ConnectionName,
  enabled: Type.Boolean({ description: 'Whether the connection runs', examples: [true] }),
  config: settings.config,
  credentials: Type.Unsafe<Record<string, { set: boolean; updated_at: string; hint: string | null }>>({
    type: 'object',
    description: 'The secrets that are set. Their values are never returned',
    additionalProperties: Named('CredentialMark', {
      set: Type.Boolean({ description: 'Always true. A secret that is not set is absent' }),
      updated_at: time('When the secret was last changed'),
      hint: Nullable(Type.String({ description: 'Last characters of the secret. null if it is short' })),
    }),
    examples: [{ token: { set: true, updated_at: '2026-11-15T09:30:00.000Z', hint: '…6789' } }],
  }),
  inbound_url: Nullable(
    Type.String({
      format: 'uri',
      description: 'URL to enter in the vendor’s webhook settings. null if the provider receives no webhooks',
      examples: ['https://rrs.example/api/v1/integrations/019341a0-0000-7000-8000-000000000001/inbound'],
    }),
  ),
  schedule: Nullable(
    Named('Schedule', { every_minutes: Type.Integer({ description: 'Minutes between two runs', examples: [1440] }) }, { description: 'null: only on request' }),
  ),
  sync_status: Status,
  last_run: Nullable({ ...Run, description: 'The latest run' }),
  next_run_at: Nullable(time('When the next run is due')),
  created_by: Type.String({ description: 'Who created the connection', examples: ['Ada Lovelace'] }),
  created_at: time('When the connection was created'),
  updated_at: time('When the connection was last changed'),
  version: Type.Integer({ minimum: 1, description: 'Increases with each change. Also the ETag' }),
});
export const ConnectionList = PageOf('ConnectionList', Connection);
export const ConnectionQuery = Strict({
  ...listParameters(['created_at'] as const, '-created_at'),
  kind: Type.Optional(Type.Array(Kind, { description: 'Connections of any of these kinds' })),
  provider: Type.Optional(Type.Array(Text(1, 100), { description: 'Connections of any of these providers' })),
});

export const SyncQuery = Strict({
  full: Type.Optional(Type.Boolean({ default: false, description: 'Fetch everything instead of changes since the previous run. Default: false' })),
});

export const SyncAll = Named('SyncAllResult', {
  data: Type.Array(
    Named('SyncAllEntry', {
      connection_id: ConnectionId,
      name: ConnectionName,
      provider: Provider,
      run_id: Nullable({ ...RunId, description: 'The queued run' }),
      reason: Nullable(OneOf(['already_running', 'paused'] as const, { description: 'Why no run was queued' })),
    }),
    { description: 'One entry per scanner connection' },
  ),
  queued: count('Number of runs queued'),
});

export const TestResult = Named('ConnectionTest', {
  ok: Type.Boolean({ description: 'Whether the test succeeded' }),
  error: Nullable({ ...Fault, description: 'Why the test failed' }),
  requests: Type.Array(
    Named('TestedRequest', {
      at: time('When the request was sent'),
      method: Type.String({ description: 'HTTP method', examples: ['GET'] }),
      url: Type.String({ description: 'URL without secrets' }),
      status: Nullable(Type.Integer({ description: 'HTTP status. null if there was no response' })),
      bytes: count('Size of the response body in bytes'),
      sha256: Nullable(Type.String({ description: 'SHA-256 of the response body, hexadecimal' })),
      error: Nullable(Type.String({ description: 'Why the request failed' })),
    }),
    { description: 'Requests that the test sent' },
  ),
  seconds: Type.Number({ description: 'Duration in seconds' }),
});

const Rate = Named(
  'ErrorRate',
  { total: count('Total number'), failed: count('Number that failed'), error_rate: rate('`failed` divided by `total`, from 0 to 1') },
  { description: 'Failures within a period' },
);
const Rates = (title: string, description: string) => Named(title, { last_24h: Rate, last_7d: Rate }, { description });
const statusMeanings: Record<HealthStatus, string> = {
  healthy: 'the last run succeeded',
  degraded: 'the last run was partial or awaits confirmation',
  failing: 'the last run failed',
  stale: 'two intervals have passed without a successful run',
  paused: 'the connection is disabled',
  never_synced: 'no run has ended yet',
};

export const Health = Named('IntegrationHealth', {
  summary: Named(
    'IntegrationHealthSummary',
    {
      connections: count('Number of connections'),
      by_status: Named(
        'IntegrationHealthCounts',
        Object.fromEntries(healthStatuses.map((status) => [status, count(`Connections with this status: ${statusMeanings[status]}`)])),
        { description: 'Connections per status' },
      ),
      runs_24h: count('Runs of the last 24 hours'),
      failed_runs_24h: count('Failed or partial runs of the last 24 hours'),
      error_rate_24h: rate('`failed_runs_24h` divided by `runs_24h`, from 0 to 1'),
      checked_at: time('When this summary was computed'),
    },
    { description: 'All connections together' },
  ),
  connections: Type.Array(
    Named('ConnectionHealth', {
      connection_id: ConnectionId,
      provider: Provider,
      kind: Kind,
      name: ConnectionName,
      status: OneOf(healthStatuses, { description: healthStatuses.map((status) => `\`${status}\`: ${statusMeanings[status]}`).join('. ') }),
      sync_status: Status,
      last_success_at: Nullable(time('When the last successful run ended')),
      last_run_at: Nullable(time('When the last run ended')),
      next_run_at: Nullable(time('When the next run is due')),
      staleness: Named(
        'Staleness',
        {
          seconds_since_success: Nullable(Type.Integer({ description: 'Seconds since the last successful run' })),
          every_minutes: Nullable(Type.Integer({ description: 'Scheduled interval in minutes. 5 for ticketing with linked tickets', examples: [1440] })),
          stale: Type.Boolean({ description: 'Whether two intervals have passed without a successful run' }),
        },
        { description: 'How old the data is' },
      ),
      runs: Rates('RunErrorRates', 'Runs. Partial runs count as failed'),
      requests: Rates('RequestErrorRates', 'Requests to the vendor'),
      run_seconds: Named(
        'RunSeconds',
        { median: Nullable(Type.Number({ description: 'Median in seconds' })), p95: Nullable(Type.Number({ description: '95th percentile in seconds' })) },
        { description: 'Duration of the runs of the last 7 days' },
      ),
      findings_seen: count('Records received by the last successful run'),
      knowledge_as_of: KnowledgeAsOf("Date of the data of the last successful run in the vendor's notation. Enrichment only"),
      last_error: Nullable({ ...Fault, description: 'Error of the latest run' }),
      notes: Type.Array(Type.String(), { description: 'Remarks about the latest run' }),
      consecutive_failures: count('Failed runs in a row'),
      circuit: OneOf(['closed', 'open', 'half_open'] as const, {
        description: '`open`: after five failures in a row, runs are spaced out. `half_open`: the next attempt is due or active. `closed`: normal schedule',
      }),
    }),
    { description: 'One entry per connection' },
  ),
});
