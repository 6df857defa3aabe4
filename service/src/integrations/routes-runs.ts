import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { getRoute, listRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import type { IntegrationRoutesDeps } from './deps.ts';
import { toRun } from './present.ts';
import { ConnectionParams, Run, RunList, RunParams, RunQuery, SyncAll, SyncQuery } from './schemas.ts';
import { cancelRun, listRuns, readRun, resolveWithheldRun, syncAll, syncOne } from './sync/runs.ts';

const tag = 'Integrations';

export function runRoutes(app: App, { db, secret, follower }: Pick<IntegrationRoutesDeps, 'db' | 'secret' | 'follower'>): void {
  app.post(
    '/integrations/sync-all',
    {
      config: { access: 'integrations:sync' },
      schema: {
        operationId: 'syncAllConnections',
        summary: 'Sync all scanners',
        description: 'Queues a run of every scanner connection. Returns the run of each connection, or why none was queued. Skips enrichment and ticketing.',
        tags: [tag],
        response: { 202: SyncAll },
      },
    },
    async (request, reply) => {
      const data = await db.withTenant(request.actor, (tx) => syncAll(tx, request.actor));
      return reply.code(202).send({ data, queued: data.filter(({ run_id }) => run_id !== null).length });
    },
  );

  app.post(
    '/integrations/:id/sync',
    {
      config: { access: 'integrations:sync' },
      schema: {
        operationId: 'syncConnection',
        summary: 'Sync a connection',
        description:
          'Queues a run. Returns 409 if the connection is paused, already has an active run, or is a ticketing connection. `Location` is then the active run, if there is one.',
        tags: [tag],
        params: ConnectionParams,
        querystring: SyncQuery,
        response: { 202: Run, ...problems('not_found', 'conflict') },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const run = await db.withTenant(request.actor, (tx) => syncOne(tx, request.actor, id, { full: request.query.full ?? false }));
      return reply.code(202).header('location', `/api/v1/integrations/${id}/runs/${run.id}`).send(toRun(run));
    },
  );

  listRoute(app, { db, secret }, '/integrations/:id/runs', {
    access: 'integrations:read',
    operationId: 'listRuns',
    summary: 'List the runs of a connection',
    description: 'Returns the runs of a connection with counts, requests and errors, newest first. Polls of ticketing systems are kept for eight days.',
    tag,
    params: ConnectionParams,
    problems: ['not_found'],
    query: RunQuery,
    list: RunList,
    read: async (tx, { actor, params, page }) => presentPage(await listRuns(tx, actor.orgId, params.id, page), toRun),
  });

  getRoute(app, { db }, '/integrations/:id/runs/:run_id', {
    access: 'integrations:read',
    operationId: 'getRun',
    summary: 'Get a run',
    description: 'Returns the progress or the result of a run.',
    tag,
    params: RunParams,
    body: Run,
    read: async (tx, { actor, params }) => toRun(await readRun(tx, actor.orgId, params.id, params.run_id)),
  });

  app.post(
    '/integrations/:id/runs/:run_id/cancel',
    {
      config: { access: 'integrations:sync' },
      schema: {
        operationId: 'cancelRun',
        summary: 'Cancel a run',
        description: 'Cancels a run. A queued run ends immediately, a running one within seconds. A cancelled run imports nothing and closes nothing.',
        tags: [tag],
        params: RunParams,
        response: { 200: Run, ...problems('not_found', 'conflict') },
      },
    },
    async (request, reply) => {
      const run = await db.withTenant(request.actor, (tx) => cancelRun(tx, request.actor, request.params.id, request.params.run_id));
      return reply.send(toRun(run));
    },
  );

  const decisions = {
    confirm: {
      summary: 'Confirm a withheld run',
      description: 'Closes the findings that the run no longer saw. Applies to a run with status `needs_confirmation`.',
    },
    discard: {
      summary: 'Discard a withheld run',
      description:
        'Keeps the findings open that the run no longer saw. Findings that it did see stay imported. Applies to a run with status `needs_confirmation`.',
    },
  };
  for (const decision of ['confirm', 'discard'] as const) {
    app.post(
      `/integrations/:id/runs/:run_id/${decision}`,
      {
        config: { access: 'integrations:sync' },
        schema: {
          operationId: `${decision}Run`,
          ...decisions[decision],
          tags: [tag],
          params: RunParams,
          response: { 200: Run, ...problems('not_found', 'conflict') },
        },
      },
      async (request, reply) => {
        const { id, run_id: runId } = request.params;
        const run = await db.withTenant(request.actor, (tx) => resolveWithheldRun(tx, request.actor, { connectionId: id, runId, decision }, follower));
        return reply.send(toRun(run));
      },
    );
  }
}
