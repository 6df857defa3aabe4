import { type TSchema, Type } from 'typebox';
import type { App } from '../http/app.ts';
import { readPage } from '../http/paging.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { problems } from '../http/schemas.ts';
import { invalidField } from '../shared/errors.ts';
import type { WorkItemDeps } from './deps.ts';
import { linkFindings, listLinked, type Selection, selectFindings, unlinkFinding } from './items/links.ts';
import { readItem } from './items/read.ts';
import { toLinked, toListed } from './present.ts';
import { LinkedFindingList, LinkedFindingQuery, LinkParams, LinkResult, UnlinkQuery, WorkItemParams } from './schemas.ts';

export function linkRoutes(app: App, deps: WorkItemDeps, body: TSchema): void {
  const { db, secret } = deps;

  app.get(
    '/work-items/:id/findings',
    {
      config: { access: 'work_items:read' },
      schema: {
        operationId: 'listWorkItemFindings',
        summary: 'List the findings of a work item',
        description:
          'The findings that are on the work item, or were, and who put them there. More filters and sorts are those of `GET /findings?work_item_id=`.',
        tags: ['Work items'],
        params: WorkItemParams,
        querystring: LinkedFindingQuery,
        response: { 200: LinkedFindingList, ...problems('not_found', 'invalid_cursor') },
      },
    },
    async (request, reply) => {
      const { orgId } = request.actor;
      const { id } = request.params;
      const linked = await readPage({ db, secret }, request, reply, (tx, page) => listLinked(tx, orgId, { id, state: request.query.state }, page));
      return reply.send({ data: linked.data.map(toLinked), page: linked.page });
    },
  );

  app.post(
    '/work-items/:id/findings',
    {
      config: { access: 'work_items:manage' },
      schema: {
        operationId: 'addWorkItemFindings',
        summary: 'Put findings on a work item',
        description:
          'Those named by `finding_ids` or found by `filter`; one item can have 10,000. Those that are on it already stay as they are. A closed item takes none.',
        tags: ['Work items'],
        params: WorkItemParams,
        headers: IdempotencyHeaders,
        body,
        response: { 200: LinkResult, ...problems('not_found', 'conflict', 'idempotency_key_reused') },
      },
    },
    (request, reply) => {
      const { orgId } = request.actor;
      const { id } = request.params;
      const selection = request.body as Selection;
      if ((selection.finding_ids === undefined) === (selection.filter === undefined)) {
        throw invalidField({
          in: 'body',
          path: '/finding_ids',
          code: 'required',
          detail: 'Either finding_ids or filter says which findings: give one of them.',
        });
      }
      return answerOnce(deps, request, reply, async (tx) => {
        await readItem(tx, orgId, id);
        const result = await linkFindings(tx, request.actor, id, await selectFindings(tx, orgId, selection));
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
        summary: 'Take a finding off a work item',
        description:
          'The finding stays as it is. That it was on the item stays on record: `GET /work-items/{id}/findings?state=unlinked`. A closed item gives none away.',
        tags: ['Work items'],
        params: LinkParams,
        querystring: UnlinkQuery,
        response: { 204: Type.Null({ description: 'Taken off' }), ...problems('not_found', 'conflict') },
      },
    },
    async (request, reply) => {
      const { id, finding_id: findingId } = request.params;
      await db.withTenant(request.actor, (tx) => unlinkFinding(tx, request.actor, id, { findingId, reason: request.query.reason ?? null }));
      return reply.code(204).send(null);
    },
  );
}
