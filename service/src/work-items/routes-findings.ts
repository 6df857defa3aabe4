import { Type } from 'typebox';
import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { listRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import { invalidField } from '../shared/errors.ts';
import type { WorkItemDeps } from './deps.ts';
import { linkFindings, listLinked, selectFindings, unlinkFinding } from './items/links.ts';
import { readItem } from './items/read.ts';
import { toLinked, toListed } from './present.ts';
import { type LinkBody, LinkedFindingList, LinkedFindingQuery, LinkParams, LinkResult, UnlinkQuery, WorkItemParams } from './schemas.ts';

const tag = 'Work items';

export function linkRoutes(app: App, deps: WorkItemDeps, body: LinkBody): void {
  const { db, secret } = deps;

  listRoute(app, { db, secret }, '/work-items/:id/findings', {
    access: 'work_items:read',
    operationId: 'listWorkItemFindings',
    summary: 'List the findings of a work item',
    description:
      'Returns the current and former findings of a work item and who added them. For more filters and sort orders use `GET /findings?work_item_id=`.',
    tag,
    params: WorkItemParams,
    problems: ['not_found'],
    query: LinkedFindingQuery,
    list: LinkedFindingList,
    read: async (tx, { actor, params, query, page }) => presentPage(await listLinked(tx, actor.orgId, { id: params.id, state: query.state }, page), toLinked),
  });

  app.post(
    '/work-items/:id/findings',
    {
      config: { access: 'work_items:manage' },
      schema: {
        operationId: 'addWorkItemFindings',
        summary: 'Add findings to a work item',
        description:
          'Adds findings, named by `finding_ids` or matched by `filter`. A work item can have 10,000 findings. Findings that are already on it are skipped. Returns 409 if the work item is closed.',
        tags: [tag],
        params: WorkItemParams,
        headers: IdempotencyHeaders,
        body,
        response: { 200: LinkResult, ...problems('not_found', 'conflict', 'idempotency_key_reused') },
      },
    },
    (request, reply) => {
      const { orgId } = request.actor;
      const { id } = request.params;
      const selection = request.body;
      if ((selection.finding_ids === undefined) === (selection.filter === undefined))
        throw invalidField({ in: 'body', path: '/finding_ids', code: 'required', detail: 'Give either `finding_ids` or `filter`.' });
      return answerOnce(deps, request, reply, async (tx) => {
        await readItem(tx, orgId, id);
        const result = await linkFindings(tx, request.actor, id, { ids: await selectFindings(tx, orgId, selection), filter: selection.filter });
        const item = await readItem(tx, orgId, id);
        return { status: 200, headers: { etag: `"${item.version}"` }, body: { ...result, work_item: toListed(item) } };
      });
    },
  );

  app.delete(
    '/work-items/:id/findings/:finding_id',
    {
      config: { access: 'work_items:manage' },
      schema: {
        operationId: 'removeWorkItemFinding',
        summary: 'Remove a finding from a work item',
        description:
          'Removes a finding from a work item. The finding itself does not change, and the former link stays visible in `GET /work-items/{id}/findings?state=unlinked`. Returns 409 if the work item is closed.',
        tags: [tag],
        params: LinkParams,
        querystring: UnlinkQuery,
        response: { 204: Type.Null({ description: 'No content' }), ...problems('not_found', 'conflict') },
      },
    },
    async (request, reply) => {
      const { id, finding_id: findingId } = request.params;
      await db.withTenant(request.actor, (tx) => unlinkFinding(tx, request.actor, id, { findingId, reason: request.query.reason ?? null }));
      return reply.code(204).send(null);
    },
  );
}
