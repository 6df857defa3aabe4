import type { Static } from 'typebox';
import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { listRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import type { FindingDeps } from './deps.ts';
import { showSource } from './fields/names.ts';
import { SourceDetails, SourceList, SourceParams, SourceQuery, SourceRetirement } from './schemas-sources.ts';
import { listSources, reactivateSource, retireSource, type SourceRow } from './sources/sources.ts';

export function sourceRoutes(app: App, deps: FindingDeps): void {
  listRoute(app, deps, '/sources', {
    access: 'findings:read',
    operationId: 'listSources',
    summary: 'List sources',
    description: 'Returns what reports findings: tools whose reports are uploaded, connections, and people. It shows when each source last scanned something.',
    tag: 'Findings',
    query: SourceQuery,
    list: SourceList,
    read: async (tx, { actor, query, page }) => {
      const { retired, stale } = query;
      const filter = { ...(retired === undefined ? {} : { retired }), ...(stale === undefined ? {} : { stale }) };
      return presentPage(await listSources(tx, actor.orgId, filter, page), toSource);
    },
  });

  app.post(
    '/sources/:id/retire',
    {
      config: { access: 'findings:triage' },
      schema: {
        operationId: 'retireSource',
        summary: 'Retire a source',
        description:
          'Retires a source that will not scan again. Findings that no other source still sees are verified if another source has proven that they are gone, and withdrawn otherwise: the end of a source proves nothing. Returns 409 if the source is already retired.',
        tags: ['Findings'],
        params: SourceParams,
        headers: IdempotencyHeaders,
        body: SourceRetirement,
        response: { 200: SourceDetails, ...problems('not_found', 'conflict', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce(deps, request, reply, async (tx) => {
        const { actor, params, body } = request;
        return { status: 200, body: toSource(await retireSource(tx, actor, deps.follower, { id: params.id, reason: body.reason })) };
      }),
  );

  app.post(
    '/sources/:id/reactivate',
    {
      config: { access: 'findings:triage' },
      schema: {
        operationId: 'reactivateSource',
        summary: 'Put a source back in use',
        description: 'Puts a retired source back in use. Its findings come back with its next scan. Returns 409 if the source is not retired.',
        tags: ['Findings'],
        params: SourceParams,
        headers: IdempotencyHeaders,
        response: { 200: SourceDetails, ...problems('not_found', 'conflict', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce(deps, request, reply, async (tx) => ({ status: 200, body: toSource(await reactivateSource(tx, request.actor, request.params.id)) })),
  );
}

function toSource({
  first_scan,
  last_scan,
  retired_at,
  created_at,
  open_findings,
  stale,
  path,
  retired_by,
  retired_reason,
  ...source
}: SourceRow): Static<typeof SourceDetails> {
  return {
    ...showSource(source),
    path,
    first_scan: first_scan?.toISOString() ?? null,
    last_scan: last_scan?.toISOString() ?? null,
    open_findings,
    stale,
    retired_at: retired_at?.toISOString() ?? null,
    retired_by,
    retired_reason,
    created_at: created_at.toISOString(),
  };
}
