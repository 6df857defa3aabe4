import type { Settings } from '@rrs/connectors';
import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { deleteRoute, getRoute, listRoute, patchRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import { validationFailed } from '../validation/check.ts';
import {
  changedSettings,
  createConnection,
  deleteConnection,
  listConnections,
  newSettings,
  openCredentials,
  readConnection,
  updateConnection,
} from './connections/connections.ts';
import { readHealth } from './connections/health.ts';
import { providerOf } from './connections/providers.ts';
import { neverSynced, readStatus, readStatuses } from './connections/sync-status.ts';
import { testConnection } from './connections/test-connection.ts';
import type { IntegrationRoutesDeps } from './deps.ts';
import { toConnection, toHealth, toProvider } from './present.ts';
import { runRoutes } from './routes-runs.ts';
import {
  Connection,
  ConnectionCreate,
  ConnectionList,
  ConnectionParams,
  ConnectionPatch,
  ConnectionQuery,
  ConnectionTestBody,
  Health,
  TestResult,
} from './schemas.ts';
import { Catalog } from './schemas-catalog.ts';

const tag = 'Integrations';

export function integrationRoutes(deps: IntegrationRoutesDeps) {
  return (app: App): void => {
    const { db, secret, providers, keys, sender, clock, publicUrl } = deps;

    app.get(
      '/integrations/catalog',
      {
        config: { access: 'public' },
        schema: {
          operationId: 'listIntegrationProviders',
          summary: 'List providers',
          description:
            'Returns every provider that you can connect, with the JSON Schemas of its configuration and credentials. They contain all that a form needs.',
          tags: [tag],
          response: { 200: Catalog },
        },
      },
      async (_request, reply) => reply.send({ data: providers.map((provider) => toProvider(provider, publicUrl())) }),
    );

    listRoute(app, { db, secret }, '/integrations', {
      access: 'integrations:read',
      operationId: 'listConnections',
      summary: 'List connections',
      description: 'Returns the connections of your organization with their latest run, newest first. Credentials are never returned.',
      tag,
      query: ConnectionQuery,
      list: ConnectionList,
      read: async (tx, { actor, query, page }) => {
        const found = await listConnections(tx, actor.orgId, query, page);
        const statuses = await readStatuses(tx, actor.orgId, found.data);
        return presentPage(found, (row) => toConnection(deps, row, statuses.get(row.id) ?? neverSynced));
      },
    });

    app.post(
      '/integrations',
      {
        config: { access: 'integrations:manage' },
        schema: {
          operationId: 'createConnection',
          summary: 'Create a connection',
          description:
            "Creates a connection to a provider. The settings must match the provider's schemas in the catalog. Errors name the field. Credentials are encrypted before they are stored. A connection with a schedule starts its first run within a minute.",
          tags: [tag],
          headers: IdempotencyHeaders,
          body: ConnectionCreate,
          response: { 201: Connection, ...problems('conflict', 'idempotency_key_reused') },
        },
      },
      async (request, reply) => {
        await keys.refresh();
        return answerOnce(deps, request, reply, async (tx) => {
          const row = await createConnection(tx, request.actor, deps, request.body);
          const headers = { location: `/api/v1/integrations/${row.id}`, etag: `"${row.version}"` };
          return { status: 201, headers, body: toConnection(deps, row, row.enabled ? neverSynced : { ...neverSynced, syncStatus: 'paused' }) };
        });
      },
    );

    getRoute(app, { db }, '/integrations/health', {
      access: 'integrations:read',
      operationId: 'getIntegrationHealth',
      summary: 'Get the health of all connections',
      description:
        'Returns status, error rates, staleness and the last error of every connection, and a summary. The values are computed from the runs of the last 7 days. Each poll of a ticketing system counts as a run.',
      tag,
      body: Health,
      read: async (tx, { actor }) => toHealth(await readHealth(tx, actor.orgId), new Date(clock.now())),
    });

    getRoute(app, { db }, '/integrations/:id', {
      access: 'integrations:read',
      operationId: 'getConnection',
      summary: 'Get a connection',
      description: 'Returns one connection with its latest run.',
      tag,
      params: ConnectionParams,
      body: Connection,
      read: async (tx, { actor, params }) => {
        const row = await readConnection(tx, actor.orgId, params.id);
        return toConnection(deps, row, await readStatus(tx, actor.orgId, row));
      },
    });

    patchRoute(app, { db }, '/integrations/:id', {
      access: 'integrations:manage',
      operationId: 'updateConnection',
      summary: 'Update a connection',
      description:
        'Applies a JSON merge patch. Absent fields keep their values, including single fields of `config` and `credentials`. After a change of `config` the next run is a full run. If you change the URL, supply the credentials again.',
      tag,
      params: ConnectionParams,
      problems: ['conflict'],
      patch: ConnectionPatch,
      body: Connection,
      prepare: keys.refresh,
      change: async (tx, { actor, params, patch, check }) => {
        const row = await updateConnection(tx, actor, deps, { id: params.id, patch, check });
        return toConnection(deps, row, await readStatus(tx, actor.orgId, row));
      },
    });

    deleteRoute(app, { db }, '/integrations/:id', {
      access: 'integrations:manage',
      operationId: 'deleteConnection',
      summary: 'Delete a connection',
      description:
        'Deletes a connection, erases its credentials and cancels its active run. Its findings stay as they are. Deleting a connection closes nothing.',
      tag,
      params: ConnectionParams,
      remove: (tx, { actor, params }) => deleteConnection(tx, actor, params.id),
    });

    app.post(
      '/integrations/test',
      {
        config: { access: 'integrations:manage' },
        schema: {
          operationId: 'testNewConnection',
          summary: 'Test settings before saving them',
          description:
            'Sends a small request to the vendor with the given settings and returns the result. Nothing is stored. Takes at most 20 seconds. Settings that `POST /integrations` or `PATCH /integrations/{id}` would refuse are refused.',
          tags: [tag],
          body: ConnectionTestBody,
          response: { 200: TestResult, ...problems('not_found') },
        },
      },
      async (request, reply) => {
        const { connection_id: id, ...given } = request.body;
        if (id === undefined) {
          const { provider, settings } = newSettings(deps, given);
          return reply.send(await testConnection(sender, provider, settings));
        }
        const row = await db.withTenant(request.actor, (tx) => readConnection(tx, request.actor.orgId, id));
        if (row.provider !== given.provider) throw otherProvider(row.provider);
        const { provider, settings } = await changedSettings(deps, row, given);
        return reply.send(await testConnection(sender, provider, settings));
      },
    );

    app.post(
      '/integrations/:id/test',
      {
        config: { access: 'integrations:manage' },
        schema: {
          operationId: 'testConnection',
          summary: 'Test a connection',
          description: 'Sends a small request to the vendor with the stored settings and returns the result. Takes at most 20 seconds.',
          tags: [tag],
          params: ConnectionParams,
          response: { 200: TestResult, ...problems('not_found') },
        },
      },
      async (request, reply) => {
        const row = await db.withTenant(request.actor, (tx) => readConnection(tx, request.actor.orgId, request.params.id));
        const settings = { config: row.config, credentials: await openCredentials(keys, row) } as Settings;
        return reply.send(await testConnection(sender, providerOf(providers, row.provider), settings));
      },
    );

    runRoutes(app, deps);
  };
}

const otherProvider = (stored: string) =>
  validationFailed([{ in: 'body', path: '/provider', code: 'invalid', detail: `must be "${stored}", the provider of the connection` }]);
