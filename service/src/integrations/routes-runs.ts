import type { App } from '../http/app.ts';
import { readPage } from '../http/paging.ts';
import { problems } from '../http/schemas.ts';
import type { IntegrationRoutesDeps } from './deps.ts';
import { toRun } from './present.ts';
import { ConnectionParams, Run, RunList, RunParams, RunQuery, SyncAll, SyncQuery } from './schemas.ts';
import { cancelRun, decideHeld, listRuns, readRun, syncAll, syncOne } from './sync/runs.ts';

const TAGS = ['Integrations'];

export function runRoutes({ db, secret, follower }: Pick<IntegrationRoutesDeps, 'db' | 'secret' | 'follower'>) {
  return (app: App): void => {
    app.post(
      '/integrations/sync-all',
      {
        config: { access: 'integrations:sync' },
        schema: {
          operationId: 'syncAllConnections',
          summary: 'Sync all scanners',
          description: 'Queues a run of every scanner connection and says for each which run, or why none. Enrichment and ticketing are not touched.',
          tags: TAGS,
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
          description: 'Queues a run now. One run of a connection at a time: while one is under way this is answered with 409.',
          tags: TAGS,
          params: ConnectionParams,
          querystring: SyncQuery,
          response: { 202: Run, ...problems('not_found', 'conflict') },
        },
      },
      async (request, reply) => {
        const { id } = request.params;
        const run = await db.withTenant(request.actor, (tx) => syncOne(tx, request.actor, id, request.query.full ?? false));
        return reply.code(202).header('location', `/api/v1/integrations/${id}/runs/${run.id}`).send(toRun(run));
      },
    );

    app.get(
      '/integrations/:id/runs',
      {
        config: { access: 'integrations:read' },
        schema: {
          operationId: 'listRuns',
          summary: 'List the runs of a connection',
          description: 'Newest first, with counts, requests and errors. Those of a ticketing system, of which there are many, are kept for eight days.',
          tags: TAGS,
          params: ConnectionParams,
          querystring: RunQuery,
          response: { 200: RunList, ...problems('not_found', 'invalid_cursor') },
        },
      },
      async (request, reply) => {
        const { orgId } = request.actor;
        const { id } = request.params;
        const runs = await readPage({ db, secret }, request, reply, (tx, page) => listRuns(tx, orgId, id, page));
        return reply.send({ data: runs.data.map(toRun), page: runs.page });
      },
    );

    app.get(
      '/integrations/:id/runs/:run_id',
      {
        config: { access: 'integrations:read' },
        schema: {
          operationId: 'getRun',
          summary: 'Get a run',
          description: 'How far it is, or how it ended.',
          tags: TAGS,
          params: RunParams,
          response: { 200: Run, ...problems('not_found') },
        },
      },
      async (request, reply) => {
        const run = await db.withTenant(request.actor, (tx) => readRun(tx, request.actor.orgId, request.params.id, request.params.run_id));
        return reply.send(toRun(run));
      },
    );

    app.post(
      '/integrations/:id/runs/:run_id/cancel',
      {
        config: { access: 'integrations:sync' },
        schema: {
          operationId: 'cancelRun',
          summary: 'Cancel a run',
          description: 'One that is queued ends at once, one that runs within moments. Nothing of it is imported and nothing is closed.',
          tags: TAGS,
          params: RunParams,
          response: { 200: Run, ...problems('not_found', 'conflict') },
        },
      },
      async (request, reply) => {
        const run = await db.withTenant(request.actor, (tx) => cancelRun(tx, request.actor, request.params.id, request.params.run_id));
        return reply.send(toRun(run));
      },
    );

    for (const decision of ['confirm', 'discard'] as const) {
      app.post(
        `/integrations/:id/runs/:run_id/${decision}`,
        {
          config: { access: 'integrations:sync' },
          schema: {
            operationId: `${decision}Run`,
            summary: decision === 'confirm' ? 'Confirm a held run' : 'Discard a held run',
            description:
              decision === 'confirm'
                ? 'The run would close suspiciously many findings, and somebody has looked: what it no longer saw is closed.'
                : 'What the run no longer saw stays open; what it did see stays too.',
            tags: TAGS,
            params: RunParams,
            response: { 200: Run, ...problems('not_found', 'conflict') },
          },
        },
        async (request, reply) => {
          const { id, run_id } = request.params as { id: string; run_id: string };
          const run = await db.withTenant(request.actor, (tx) => decideHeld(tx, request.actor, { connectionId: id, id: run_id, decision }, follower));
          return reply.send(toRun(run));
        },
      );
    }
  };
}
