import type { TenantTx } from '../db/database.ts';
import type { App } from '../http/app.ts';
import { readPage } from '../http/paging.ts';
import { assertVersion, expectedVersions, IfMatchHeaders, setETag } from '../http/requests/conditions.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { problems } from '../http/schemas.ts';
import { invalidField } from '../shared/errors.ts';
import type { WorkItemDeps } from './deps.ts';
import { createWorkItem, type NewWorkItem } from './items/create.ts';
import { listItems, readItem, readMore, type WorkItemFilter, type WorkItemRow } from './items/read.ts';
import { readTimeline } from './items/timeline.ts';
import { type WorkItemPatch as Patch, updateWorkItem } from './items/update.ts';
import { toListed, toTimelineEntry, toWorkItem } from './present.ts';
import { approvalRoutes } from './routes-approvals.ts';
import { linkRoutes } from './routes-findings.ts';
import { ticketRoutes } from './routes-tickets.ts';
import { bodiesWith, TimelineList, TimelineQuery, WorkItem, WorkItemList, WorkItemParams, WorkItemPatch, WorkItemQuery } from './schemas.ts';
import { ticketsOf } from './tickets/tickets.ts';

export function workItemRoutes(deps: WorkItemDeps) {
  return (app: App): void => {
    const { db, secret } = deps;
    const { WorkItemCreate, LinkBody } = bodiesWith(deps.findingFilter);

    app.get(
      '/work-items',
      {
        config: { access: 'work_items:read' },
        schema: {
          operationId: 'listWorkItems',
          summary: 'List work items',
          description: 'The remediation work of your organization, newest first. Filters are combined; several values of one filter are alternatives.',
          tags: ['Work items'],
          querystring: WorkItemQuery,
          response: { 200: WorkItemList, ...problems('invalid_cursor') },
        },
      },
      async (request, reply) => {
        const { orgId } = request.actor;
        const items = await readPage({ db, secret }, request, reply, (tx, page) => listItems(tx, orgId, request.query as WorkItemFilter, page));
        return reply.send({ data: items.data.map(toListed), page: items.page });
      },
    );

    app.post(
      '/work-items',
      {
        config: { access: 'work_items:manage' },
        schema: {
          operationId: 'createWorkItem',
          summary: 'Create a work item',
          description:
            'A remediation task, with findings that are named or found by a filter, 10,000 at the most. Its status follows from them at once: an item of findings that are all verified is verified.',
          tags: ['Work items'],
          headers: IdempotencyHeaders,
          body: WorkItemCreate,
          response: { 201: WorkItem, ...problems('not_found', 'idempotency_key_reused') },
        },
      },
      (request, reply) => {
        const body = request.body as NewWorkItem;
        if (body.finding_ids !== undefined && body.filter !== undefined) {
          throw invalidField({ in: 'body', path: '/filter', code: 'misplaced', detail: 'Either finding_ids or filter says which findings: give one of them.' });
        }
        return answerOnce(deps, request, reply, async (tx) => {
          const item = await createWorkItem(tx, request.actor, body);
          const headers = { location: `/api/v1/work-items/${item.id}`, etag: `"${item.version}"` };
          return { status: 201, headers, body: toWorkItem(item, { approvals: [], followedBy: null }, []) };
        });
      },
    );

    app.get(
      '/work-items/:id',
      {
        config: { access: 'work_items:read' },
        schema: {
          operationId: 'getWorkItem',
          summary: 'Get a work item',
          description:
            'One work item with how its findings stand, who approved it, and its tickets. Its findings are listed by `GET /work-items/{id}/findings`.',
          tags: ['Work items'],
          params: WorkItemParams,
          response: { 200: WorkItem, ...problems('not_found') },
        },
      },
      async (request, reply) => {
        const { orgId } = request.actor;
        const { id } = request.params;
        const [item, shown] = await db.withTenant(request.actor, async (tx) => {
          const found = await readItem(tx, orgId, id);
          return [found, await shownItem(tx, orgId, found)] as const;
        });
        setETag(reply, item);
        return reply.send(shown);
      },
    );

    app.patch(
      '/work-items/:id',
      {
        config: { access: 'work_items:manage' },
        schema: {
          operationId: 'updateWorkItem',
          summary: 'Change a work item',
          description:
            'A JSON merge patch: what is absent stays, null clears. `in_progress` takes the open findings along, `awaiting_verification` claims those that are open or in progress as remediated, `open` gives those in progress back. What the findings contradict is answered with 409. A closed item stays closed.',
          tags: ['Work items'],
          params: WorkItemParams,
          headers: IfMatchHeaders,
          body: WorkItemPatch,
          response: { 200: WorkItem, ...problems('not_found', 'conflict', 'invalid_transition', 'stale_version') },
        },
      },
      async (request, reply) => {
        const { orgId } = request.actor;
        const expected = expectedVersions(request);
        const { id } = request.params;
        const [item, shown] = await db.withTenant(request.actor, async (tx) => {
          const updated = await updateWorkItem(tx, request.actor, { id, patch: request.body as Patch, check: (current) => assertVersion(current, expected) });
          return [updated, await shownItem(tx, orgId, updated)] as const;
        });
        setETag(reply, item);
        return reply.send(shown);
      },
    );

    app.get(
      '/work-items/:id/timeline',
      {
        config: { access: 'work_items:read' },
        schema: {
          operationId: 'listWorkItemTimeline',
          summary: 'List the timeline of a work item',
          description: 'What happened to the work item and to its findings, newest first: changes, links, approvals, scans.',
          tags: ['Work items'],
          params: WorkItemParams,
          querystring: TimelineQuery,
          response: { 200: TimelineList, ...problems('not_found', 'invalid_cursor') },
        },
      },
      async (request, reply) => {
        const { orgId } = request.actor;
        const { id } = request.params;
        const which = { id, objectType: request.query.object_type ?? null };
        const timeline = await readPage({ db, secret }, request, reply, (tx, page) => readTimeline(tx, orgId, which, page));
        return reply.send({ data: timeline.data.map(toTimelineEntry), page: timeline.page });
      },
    );

    linkRoutes(app, deps, LinkBody);
    approvalRoutes(app, deps);
    ticketRoutes(app, deps);
  };
}

async function shownItem(tx: TenantTx, orgId: string, item: WorkItemRow) {
  return toWorkItem(item, await readMore(tx, orgId, item.id), await ticketsOf(tx, orgId, item.id));
}
