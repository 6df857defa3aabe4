import { connectorKinds } from '@rrs/connectors';
import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Text, Timestamp } from '../http/schemas.ts';
import { healthStatuses, syncStatuses } from './connections/health.ts';

const Kind = OneOf(connectorKinds);
const count = Type.Integer({ minimum: 0, examples: [0] });
const Values = (description: string, example: Record<string, unknown>) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description, examples: [example] });

export const ConnectionParams = Strict({ id: Id });
export const RunParams = Strict({ id: Id, run_id: Id });

export const Catalog = Named('IntegrationCatalog', {
  data: Type.Array(
    Named('IntegrationProvider', {
      id: Type.String({ examples: ['snyk'] }),
      kind: Kind,
      name: Type.String({ examples: ['Snyk'] }),
      version: Type.Integer({ examples: [1] }),
      description: Type.String(),
      documentation: Type.String({ format: 'uri', description: "The vendor's own description of its interface", examples: ['https://docs.snyk.io/snyk-api'] }),
      permissions: Type.String({ description: 'What the credentials must be allowed to do' }),
      capabilities: Type.Array(Type.String({ examples: ['sync'] })),
      config_schema: Values('JSON Schema 2020-12 of `config`: every field with a title and help', { type: 'object' }),
      credentials_schema: Values('JSON Schema 2020-12 of `credentials`; secrets are `writeOnly`', { type: 'object' }),
    }),
  ),
});

const Schedule = Strict({
  every_minutes: Type.Integer({
    minimum: 15,
    maximum: 44_640,
    description: 'A run each time so many minutes have passed, give or take a twentieth',
    examples: [1440],
  }),
});

const settings = {
  name: Text(1, 200, { description: 'As people will see it; the name of the provider unless told', examples: ['Snyk, shop team'] }),
  config: Values("As the provider's `config_schema` says", { organization_id: '3a6b1e50-5d0c-4b1f-9a55-0f6f0c6d1a01' }),
  credentials: Values("As the provider's `credentials_schema` says. Stored encrypted and never shown again", { token: 'snyk-token-…' }),
  enabled: Type.Boolean({ description: 'False: paused; nothing runs' }),
};

export const ConnectionCreate = Strict(
  {
    provider: Text(1, 100, { description: 'Id from the catalog', examples: ['snyk'] }),
    name: Type.Optional(settings.name),
    config: Type.Optional(settings.config),
    credentials: Type.Optional(settings.credentials),
    schedule: Type.Optional(
      Nullable({
        ...Schedule,
        description: 'Once a day unless told; null: only when somebody asks. Ticketing systems are asked every five minutes all the same',
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

export const ConnectionPatch = Strict({
  name: Type.Optional(settings.name),
  config: Type.Optional({ ...settings.config, description: 'The fields to change; null clears one' }),
  credentials: Type.Optional({
    ...settings.credentials,
    description: 'The fields to change; the others stay as they are, unless the address changes: then every secret has to be given again. null clears one',
  }),
  schedule: Type.Optional(Nullable({ ...Schedule, description: 'null: only when somebody asks' })),
  enabled: Type.Optional(settings.enabled),
});

const Fault = Named('RunError', {
  kind: OneOf(['credentials', 'configuration', 'rate_limited', 'unavailable', 'invalid_answer', 'incomplete', 'service'] as const),
  message: Type.String({ description: 'What is wrong and what to do', examples: ['Snyk refused the credentials (401). Create new ones: …'] }),
});

const KnowledgeAsOf = (description: string) => Nullable(Type.String({ description, examples: ['2026-11-14'] }));

export const Run = Named('SyncRun', {
  id: Id,
  connection_id: Id,
  trigger: OneOf(['manual', 'schedule', 'sync_all'] as const),
  mode: OneOf(['full', 'changes'] as const, {
    description: '`full`: everything; what is missing is closed if the run is complete. `changes`: what changed since the last run',
  }),
  status: OneOf(['queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled', 'needs_confirmation'] as const, {
    description: '`partial` and `failed` close nothing. `needs_confirmation`: it would close suspiciously many findings and waits for a person',
  }),
  progress: Named('SyncProgress', { pages: count, records: count }),
  counts: Named('SyncCounts', {
    received: count,
    created: count,
    updated: count,
    unchanged: count,
    reopened: count,
    rejected: count,
    closed: count,
    learned: { ...count, description: 'Vulnerabilities of which more is known, for enrichment' },
  }),
  requests: Named('SyncRequests', { made: count, failed: count, bytes: count }),
  import_id: Nullable({ ...Id, description: 'What the run brought, as an import with rejected records and the stored file' }),
  error: Nullable(Fault),
  notes: Type.Array(Type.String({ examples: ['Knowledge of 2026-11-14.'] })),
  knowledge_as_of: KnowledgeAsOf('For enrichment: the date of what was learned, as the vendor gives it'),
  requested_by: Type.String({ examples: ['Ada Lovelace'] }),
  created_at: Timestamp,
  started_at: Nullable(Timestamp),
  finished_at: Nullable(Timestamp),
});
export const RunList = PageOf('SyncRunList', Run);
export const RunQuery = Strict(listParameters(['created_at'] as const, '-created_at'));

export const Connection = Named('Connection', {
  id: Id,
  provider: Type.String({ examples: ['snyk'] }),
  kind: Kind,
  name: Type.String({ examples: ['Snyk, shop team'] }),
  enabled: Type.Boolean({ examples: [true] }),
  config: settings.config,
  credentials: Type.Unsafe<Record<string, { set: boolean; updated_at: string; hint: string | null }>>({
    type: 'object',
    description: 'Which are set, never what they are',
    additionalProperties: Named('CredentialMark', {
      set: Type.Boolean(),
      updated_at: Timestamp,
      hint: Nullable(Type.String({ description: 'Its last characters' })),
    }),
    examples: [{ token: { set: true, updated_at: '2026-11-15T09:30:00.000Z', hint: '…6789' } }],
  }),
  schedule: Nullable(Named('Schedule', { every_minutes: Type.Integer({ examples: [1440] }) })),
  sync_status: OneOf(syncStatuses),
  last_run: Nullable(Run),
  next_run_at: Nullable(Timestamp),
  created_by: Type.String({ examples: ['Ada Lovelace'] }),
  created_at: Timestamp,
  updated_at: Timestamp,
  version: Type.Integer({ minimum: 1, description: 'Grows with each change; also the ETag' }),
});
export const ConnectionList = PageOf('ConnectionList', Connection);
export const ConnectionQuery = Strict({
  ...listParameters(['created_at'] as const, '-created_at'),
  kind: Type.Optional(Type.Array(Kind, { description: 'Any of these' })),
  provider: Type.Optional(Type.Array(Text(1, 100), { description: 'Any of these' })),
});

export const SyncQuery = Strict({
  full: Type.Optional(Type.Boolean({ default: false, description: 'Everything, though changes since the last run would do' })),
});

export const SyncAll = Named('SyncAllResult', {
  data: Type.Array(
    Named('SyncAllEntry', {
      connection_id: Id,
      name: Type.String(),
      provider: Type.String(),
      run_id: Nullable(Id),
      reason: Nullable(OneOf(['already_running', 'paused'] as const, { description: 'Why no run was queued' })),
    }),
  ),
  queued: count,
});

export const TestResult = Named('ConnectionTest', {
  ok: Type.Boolean(),
  error: Nullable(Fault),
  requests: Type.Array(
    Named('TestedRequest', {
      at: Timestamp,
      method: Type.String({ examples: ['GET'] }),
      url: Type.String({ description: 'Without secrets' }),
      status: Nullable(Type.Integer()),
      bytes: count,
      sha256: Nullable(Type.String()),
      error: Nullable(Type.String()),
    }),
  ),
  seconds: Type.Number(),
});

const Rate = Named('ErrorRate', { total: count, failed: count, error_rate: Type.Number({ minimum: 0, maximum: 1, examples: [0.02] }) });
const Rates = (title: string, description: string) => Named(title, { last_24h: Rate, last_7d: Rate }, { description });

export const Health = Named('IntegrationHealth', {
  summary: Named('IntegrationHealthSummary', {
    connections: count,
    by_status: Named('IntegrationHealthCounts', Object.fromEntries(healthStatuses.map((status) => [status, count]))),
    runs_24h: count,
    failed_runs_24h: count,
    error_rate_24h: Type.Number({ minimum: 0, maximum: 1 }),
    checked_at: Timestamp,
  }),
  connections: Type.Array(
    Named('ConnectionHealth', {
      connection_id: Id,
      provider: Type.String({ examples: ['snyk'] }),
      kind: Kind,
      name: Type.String(),
      status: OneOf(healthStatuses, { description: '`degraded`: the last run was not whole; `stale`: no success for twice the time of the schedule' }),
      sync_status: OneOf(syncStatuses),
      last_success_at: Nullable(Timestamp),
      last_run_at: Nullable(Timestamp),
      next_run_at: Nullable(Timestamp),
      staleness: Named('Staleness', {
        seconds_since_success: Nullable(Type.Integer()),
        every_minutes: Nullable(Type.Integer({ description: 'As scheduled; for ticketing 5 while there are tickets to ask about', examples: [1440] })),
        stale: Type.Boolean(),
      }),
      runs: Rates('RunErrorRates', 'Runs that failed or were not whole'),
      requests: Rates('RequestErrorRates', 'Requests to the vendor that failed'),
      run_seconds: Named('RunSeconds', { median: Nullable(Type.Number()), p95: Nullable(Type.Number()) }),
      findings_seen: { ...count, description: 'By the last run that succeeded' },
      knowledge_as_of: KnowledgeAsOf('For enrichment: the date of what the last run that succeeded learned, as the vendor gives it'),
      last_error: Nullable(Fault),
      notes: Type.Array(Type.String()),
      consecutive_failures: count,
      circuit: OneOf(['closed', 'open', 'half_open'] as const, { description: '`open`: after five failures in a row it is asked less often' }),
    }),
  ),
});
