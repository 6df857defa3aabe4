import type { App } from '../http/app.ts';
import { readPage } from '../http/paging.ts';
import { assertVersion, expectedVersions, IfMatchHeaders, setETag } from '../http/requests/conditions.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { problems } from '../http/schemas.ts';
import {
  type ConnectionFilter,
  createConnection,
  deleteConnection,
  listConnections,
  type NewConnection,
  openCredentials,
  type ConnectionPatch as Patch,
  readConnection,
  updateConnection,
} from './connections/connections.ts';
import { readHealth } from './connections/health.ts';
import { providerOf } from './connections/providers.ts';
import { standingsOf } from './connections/standing.ts';
import { tryConnection } from './connections/test-connection.ts';
import type { IntegrationRoutesDeps } from './deps.ts';
import { toConnection, toHealth, toProvider } from './present.ts';
import { runRoutes } from './routes-runs.ts';
import { Catalog, Connection, ConnectionCreate, ConnectionList, ConnectionParams, ConnectionPatch, ConnectionQuery, Health, TestResult } from './schemas.ts';

const TAGS = ['Integrations'];

export function integrationRoutes(deps: IntegrationRoutesDeps) {
  return (app: App): void => {
    const { db, secret, providers, keys, sender, clock } = deps;
    const catalog = { data: providers.map(toProvider) };

    app.get(
      '/integrations/catalog',
      {
        config: { access: 'public' },
        schema: {
          operationId: 'listIntegrationProviders',
          summary: 'List what can be connected',
          description: 'Every provider with the JSON Schemas of its configuration and credentials: enough to draw a form from.',
          tags: TAGS,
          response: { 200: Catalog },
        },
      },
      async (_request, reply) => reply.send(catalog),
    );

    app.get(
      '/integrations',
      {
        config: { access: 'integrations:read' },
        schema: {
          operationId: 'listConnections',
          summary: 'List connections',
          description: 'The configured connections of your organization with their latest run, newest first. Credentials are never shown.',
          tags: TAGS,
          querystring: ConnectionQuery,
          response: { 200: ConnectionList, ...problems('invalid_cursor') },
        },
      },
      async (request, reply) => {
        const { orgId } = request.actor;
        const { data, page, standings } = await readPage({ db, secret }, request, reply, async (tx, page) => {
          const found = await listConnections(tx, orgId, request.query as ConnectionFilter, page);
          return { ...found, standings: await standingsOf(tx, orgId, found.data) };
        });
        return reply.send({ data: data.map((row) => toConnection(row, standings.get(row.id) ?? NEW)), page });
      },
    );

    app.post(
      '/integrations',
      {
        config: { access: 'integrations:manage' },
        schema: {
          operationId: 'createConnection',
          summary: 'Connect a provider',
          description:
            'Settings are held against the schemas of the catalog, every mistake named by its field. Credentials are encrypted before they are stored. A connection with a schedule runs within a minute.',
          tags: TAGS,
          headers: IdempotencyHeaders,
          body: ConnectionCreate,
          response: { 201: Connection, ...problems('conflict', 'idempotency_key_reused') },
        },
      },
      (request, reply) =>
        answerOnce(deps, request, reply, async (tx) => {
          const row = await createConnection(tx, request.actor, deps, request.body as NewConnection);
          const headers = { location: `/api/v1/integrations/${row.id}`, etag: `"${row.version}"` };
          return { status: 201, headers, body: toConnection(row, row.enabled ? NEW : { ...NEW, syncStatus: 'paused' }) };
        }),
    );

    app.get(
      '/integrations/health',
      {
        config: { access: 'integrations:read' },
        schema: {
          operationId: 'getIntegrationHealth',
          summary: 'See how all connections are doing',
          description:
            'Status, error rates, staleness and the last error of every connection, computed from its runs, and a summary over all. What asks a ticketing system for changed tickets is a run too.',
          tags: TAGS,
          response: { 200: Health },
        },
      },
      async (request, reply) => {
        const rows = await db.withTenant(request.actor, (tx) => readHealth(tx, request.actor.orgId));
        return reply.send(toHealth(rows, new Date(clock.now())));
      },
    );

    app.get(
      '/integrations/:id',
      {
        config: { access: 'integrations:read' },
        schema: {
          operationId: 'getConnection',
          summary: 'Get a connection',
          description: 'One connection with its latest run.',
          tags: TAGS,
          params: ConnectionParams,
          response: { 200: Connection, ...problems('not_found') },
        },
      },
      async (request, reply) => {
        const { orgId } = request.actor;
        const { row, standing } = await db.withTenant(request.actor, async (tx) => {
          const row = await readConnection(tx, orgId, request.params.id);
          return { row, standing: (await standingsOf(tx, orgId, [row])).get(row.id) ?? NEW };
        });
        setETag(reply, row);
        return reply.send(toConnection(row, standing));
      },
    );

    app.patch(
      '/integrations/:id',
      {
        config: { access: 'integrations:manage' },
        schema: {
          operationId: 'updateConnection',
          summary: 'Change a connection',
          description:
            'A JSON merge patch: what is absent stays, single fields of `config` and `credentials` too. After a change of `config` the next run brings everything. Who has it ask at another address gives the secrets again.',
          tags: TAGS,
          params: ConnectionParams,
          headers: IfMatchHeaders,
          body: ConnectionPatch,
          response: { 200: Connection, ...problems('not_found', 'conflict', 'stale_version') },
        },
      },
      async (request, reply) => {
        const { orgId } = request.actor;
        const expected = expectedVersions(request);
        const { row, standing } = await db.withTenant(request.actor, async (tx) => {
          const change = { id: request.params.id, patch: request.body as Patch, check: (current: { version: number }) => assertVersion(current, expected) };
          const row = await updateConnection(tx, request.actor, deps, change);
          return { row, standing: (await standingsOf(tx, orgId, [row])).get(row.id) ?? NEW };
        });
        setETag(reply, row);
        return reply.send(toConnection(row, standing));
      },
    );

    app.delete(
      '/integrations/:id',
      {
        config: { access: 'integrations:manage' },
        schema: {
          operationId: 'deleteConnection',
          summary: 'Delete a connection',
          description:
            'Its credentials are erased and a run under way is cancelled. What it brought stays: findings are never closed because nobody looks any more.',
          tags: TAGS,
          params: ConnectionParams,
          response: { 204: { type: 'null', description: 'Deleted' }, ...problems('not_found') },
        },
      },
      async (request, reply) => {
        await db.withTenant(request.actor, (tx) => deleteConnection(tx, request.actor, request.params.id));
        return reply.code(204).send(null);
      },
    );

    app.post(
      '/integrations/:id/test',
      {
        config: { access: 'integrations:manage' },
        schema: {
          operationId: 'testConnection',
          summary: 'Test a connection',
          description: 'Asks the vendor one cheap question with the stored settings and says what came back.',
          tags: TAGS,
          params: ConnectionParams,
          response: { 200: TestResult, ...problems('not_found') },
        },
      },
      async (request, reply) => {
        const row = await db.withTenant(request.actor, (tx) => readConnection(tx, request.actor.orgId, request.params.id));
        const settings = { config: row.config, credentials: await openCredentials(keys, row) } as Parameters<typeof tryConnection>[2];
        return reply.send(await tryConnection(sender, providerOf(providers, row.provider), settings));
      },
    );

    runRoutes(deps)(app);
  };
}

const NEW = { syncStatus: 'never', lastRun: null } as const;
