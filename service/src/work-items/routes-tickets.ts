import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { deleteRoute, listRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import type { WorkItemDeps } from './deps.ts';
import { WorkItemParams } from './schemas.ts';
import { DriftedTicketList, DriftQuery, Ticket, TicketCreate, TicketList, TicketParams, TicketQuery, TicketRepair } from './schemas-tickets.ts';
import { toDrifted, toTicket } from './tickets/present.ts';
import { listDrift, listTickets, pushTicket, repairTicket, unlinkTicket } from './tickets/tickets.ts';

const tag = 'Work items';

export function ticketRoutes(app: App, deps: WorkItemDeps): void {
  const { db, secret } = deps;

  app.post(
    '/work-items/:id/tickets',
    {
      config: { access: 'work_items:manage' },
      schema: {
        operationId: 'pushTicket',
        summary: 'Push a work item to a ticketing system',
        description:
          'Creates a ticket for the work item and keeps both in sync. The work item owns title, text, priority and due date. The ticket owns state and assignee. Returns immediately with status `pushing`, and a job creates the ticket. There is one ticket per work item and connection: a repeated request returns the same ticket and retries a failed one immediately.',
        tags: [tag],
        params: WorkItemParams,
        headers: IdempotencyHeaders,
        body: TicketCreate,
        response: { 202: Ticket, ...problems('not_found', 'conflict', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce(deps, request, reply, async (tx) => {
        const ticket = await pushTicket(tx, request.actor, request.params.id, request.body.connection_id);
        return { status: 202, body: toTicket(ticket) };
      }),
  );

  listRoute(app, { db, secret }, '/work-items/:id/tickets', {
    access: 'work_items:read',
    operationId: 'listTickets',
    summary: 'List the tickets of a work item',
    description: 'Returns one ticket per connection that the work item was pushed to, with its state and problems.',
    tag,
    params: WorkItemParams,
    problems: ['not_found'],
    query: TicketQuery,
    list: TicketList,
    read: async (tx, { actor, params, page }) => presentPage(await listTickets(tx, actor.orgId, params.id, page), toTicket),
  });

  deleteRoute(app, { db }, '/work-items/:id/tickets/:ticket_id', {
    access: 'work_items:manage',
    operationId: 'unlinkTicket',
    summary: 'Unlink a ticket',
    description:
      "Stops the sync between work item and ticket. The vendor's ticket does not change. If you push the work item again, it is linked to the same ticket.",
    tag,
    params: TicketParams,
    remove: (tx, { actor, params }) => unlinkTicket(tx, actor, params.id, params.ticket_id),
  });

  app.post(
    '/work-items/:id/tickets/:ticket_id/repair',
    {
      config: { access: 'work_items:manage' },
      schema: {
        operationId: 'repairTicket',
        summary: 'Resolve ticket drift',
        description:
          'Queues a repair in one direction. `push` writes title, text, priority, due date and the state that corresponds to the work item into the ticket. If the ticket is gone, it creates a new one. `pull` copies title, priority, due date and state of the ticket to the work item. Changes that the rules of work items do not allow, and the state of a rejected ticket, remain listed as drift. Both directions end a pause.',
        tags: [tag],
        params: TicketParams,
        headers: IdempotencyHeaders,
        body: TicketRepair,
        response: { 202: Ticket, ...problems('not_found', 'conflict', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce(deps, request, reply, async (tx) => {
        const { id: itemId, ticket_id: id } = request.params;
        const ticket = await repairTicket(tx, request.actor, { itemId, id, direction: request.body.direction });
        return { status: 202, body: toTicket(ticket) };
      }),
  );

  listRoute(app, { db, secret }, '/tickets/drift', {
    access: 'work_items:read',
    operationId: 'listDriftedTickets',
    summary: 'List tickets that are out of sync',
    description:
      'Returns all tickets of your organization that differ from their work items, are gone, paused or failed, or whose vendor cannot be polled. Each ticket lists the differing fields with both values.',
    tag,
    query: DriftQuery,
    list: DriftedTicketList,
    read: async (tx, { actor, page }) => presentPage(await listDrift(tx, actor.orgId, page), toDrifted),
  });
}
