import type { Static } from 'typebox';
import type { TenantTx } from '../db/database.ts';
import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { getRoute, listRoute, patchRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import type { Actor } from '../shared/actor.ts';
import { invalidField } from '../shared/errors.ts';
import type { WorkItemDeps } from './deps.ts';
import { createWorkItem } from './items/create.ts';
import { listItems, readItem, readItemDetails, type WorkItemRow } from './items/read.ts';
import { readTimeline } from './items/timeline.ts';
import { updateWorkItem } from './items/update.ts';
import { allowancesOf } from './may.ts';
import { toListed, toTimelineEntry, toWorkItem } from './present.ts';
import { approvalRoutes } from './routes-approvals.ts';
import { linkRoutes } from './routes-findings.ts';
import { ticketRoutes } from './routes-tickets.ts';
import { bodiesWith, TimelineList, TimelineQuery, WorkItem, WorkItemList, WorkItemParams, WorkItemPatch, WorkItemQuery } from './schemas.ts';
import { ticketsOf } from './tickets/tickets.ts';

const tag = 'Work items';

export function workItemRoutes(deps: WorkItemDeps) {
  return (app: App): void => {
    const { db, secret } = deps;
    const { WorkItemCreate, LinkBody } = bodiesWith(deps.findingFilter);

    listRoute(app, { db, secret }, '/work-items', {
      access: 'work_items:read',
      operationId: 'listWorkItems',
      summary: 'List work items',
      description:
        'Returns the work items of your organization, newest first. A work item must match all filters. Several values of one filter are alternatives.',
      tag,
      query: WorkItemQuery,
      list: WorkItemList,
      read: async (tx, { actor, query, page }) => presentPage(await listItems(tx, actor.orgId, query, page), toListed),
    });

    app.post(
      '/work-items',
      {
        config: { access: 'work_items:manage' },
        schema: {
          operationId: 'createWorkItem',
          summary: 'Create a work item',
          description:
            'Creates a remediation task with at most 10,000 findings, named by id or matched by a filter. The status follows from the findings immediately. For example, a work item whose findings are all verified is created as `verified`.',
          tags: [tag],
          headers: IdempotencyHeaders,
          body: WorkItemCreate,
          response: { 201: WorkItem, ...problems('not_found', 'idempotency_key_reused') },
        },
      },
      (request, reply) => {
        const { body } = request;
        if (body.finding_ids !== undefined && body.filter !== undefined)
          throw invalidField({ in: 'body', path: '/filter', code: 'misplaced', detail: 'Give either `finding_ids` or `filter`, not both.' });
        return answerOnce(deps, request, reply, async (tx) => {
          const item = await createWorkItem(tx, request.actor, body);
          const headers = { location: `/api/v1/work-items/${item.id}`, etag: `"${item.version}"` };
          return { status: 201, headers, body: await presentItem(tx, request.actor, item) };
        });
      },
    );

    getRoute(app, { db }, '/work-items/:id', {
      access: 'work_items:read',
      operationId: 'getWorkItem',
      summary: 'Get a work item',
      description: 'Returns one work item with the counts of its findings, its approvals and its tickets. `GET /work-items/{id}/findings` lists the findings.',
      tag,
      params: WorkItemParams,
      body: WorkItem,
      read: async (tx, { actor, params }) => presentItem(tx, actor, await readItem(tx, actor.orgId, params.id)),
    });

    patchRoute(app, { db }, '/work-items/:id', {
      access: 'work_items:manage',
      operationId: 'updateWorkItem',
      summary: 'Update a work item',
      description:
        'Applies a JSON merge patch. Absent fields keep their values, null clears a field. A new status also changes findings: `in_progress` starts the open ones, `awaiting_verification` claims those that are open or in progress as remediated, `open` reopens those in progress. Returns 409 if the new status contradicts the findings. Closed work items cannot be reopened.',
      tag,
      params: WorkItemParams,
      problems: ['conflict', 'invalid_transition'],
      patch: WorkItemPatch,
      body: WorkItem,
      change: async (tx, { actor, params, patch, check }) => presentItem(tx, actor, await updateWorkItem(tx, actor, { id: params.id, patch, check })),
    });

    listRoute(app, { db, secret }, '/work-items/:id/timeline', {
      access: 'work_items:read',
      operationId: 'listWorkItemTimeline',
      summary: 'List the timeline of a work item',
      description: 'Returns the changes, links, approvals and scans of a work item and its findings, newest first.',
      tag,
      params: WorkItemParams,
      problems: ['not_found'],
      query: TimelineQuery,
      list: TimelineList,
      read: async (tx, { actor, params, query, page }) =>
        presentPage(await readTimeline(tx, actor.orgId, { id: params.id, objectType: query.object_type ?? null }, page), toTimelineEntry),
    });

    linkRoutes(app, deps, LinkBody);
    approvalRoutes(app, deps);
    ticketRoutes(app, deps);
  };
}

async function presentItem(tx: TenantTx, actor: Actor, item: WorkItemRow): Promise<Static<typeof WorkItem>> {
  const [details, tickets, allowances] = await Promise.all([
    readItemDetails(tx, actor.orgId, item.id),
    ticketsOf(tx, actor.orgId, item.id),
    allowancesOf(tx, actor, item),
  ]);
  return { ...toWorkItem(item, details, tickets), ...allowances };
}
