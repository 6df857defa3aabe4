import { Type } from 'typebox';
import type { App } from '../http/app.ts';
import { readPage } from '../http/paging.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { problems } from '../http/schemas.ts';
import type { WorkItemDeps } from './deps.ts';
import { WorkItemParams } from './schemas.ts';
import { DriftedTicketList, DriftQuery, Ticket, TicketCreate, TicketList, TicketParams, TicketQuery, TicketRepair } from './schemas-tickets.ts';
import { toDrifted, toTicket } from './tickets/present.ts';
import { listDrift, listTickets, pushTicket, repairTicket, unlinkTicket } from './tickets/tickets.ts';

const TAGS = ['Work items'];

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
          'Makes a ticket of the work item and keeps the two in step from then on: title, text, priority and due date are ours, state and assignee are those of the ticket. The answer comes at once with `pushing`; a job does the work. There is one ticket for each work item and connection: asking again answers with the same one, and tries a failed one again at once.',
        tags: TAGS,
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

  app.get(
    '/work-items/:id/tickets',
    {
      config: { access: 'work_items:read' },
      schema: {
        operationId: 'listTickets',
        summary: 'List the tickets of a work item',
        description: 'One for each connection that the work item was pushed to, with how it stands there and what is wrong with it, if anything is.',
        tags: TAGS,
        params: WorkItemParams,
        querystring: TicketQuery,
        response: { 200: TicketList, ...problems('not_found', 'invalid_cursor') },
      },
    },
    async (request, reply) => {
      const { orgId } = request.actor;
      const { id } = request.params;
      const tickets = await readPage({ db, secret }, request, reply, (tx, page) => listTickets(tx, orgId, id, page));
      return reply.send({ data: tickets.data.map(toTicket), page: tickets.page });
    },
  );

  app.delete(
    '/work-items/:id/tickets/:ticket_id',
    {
      config: { access: 'work_items:manage' },
      schema: {
        operationId: 'unlinkTicket',
        summary: 'Unlink a ticket',
        description: "The vendor's ticket stays as it is, and neither side follows the other any more. Pushed again, the work item finds the same ticket.",
        tags: TAGS,
        params: TicketParams,
        response: { 204: Type.Null({ description: 'Unlinked' }), ...problems('not_found') },
      },
    },
    async (request, reply) => {
      await db.withTenant(request.actor, (tx) => unlinkTicket(tx, request.actor, request.params.id, request.params.ticket_id));
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/work-items/:id/tickets/:ticket_id/repair',
    {
      config: { access: 'work_items:manage' },
      schema: {
        operationId: 'repairTicket',
        summary: 'Say which side is right',
        description:
          'With `push` the work item is right: it writes title, text, priority, due date and the state that goes with the work item into the ticket, and makes a new ticket where the old one is gone. With `pull` the ticket is right: its title, priority, due date and state are taken over, as far as the rules of work items allow: what they forbid, and a rejected ticket, stays on the list of what differs. Either way a pause ends. A job does it.',
        tags: TAGS,
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

  app.get(
    '/tickets/drift',
    {
      config: { access: 'work_items:read' },
      schema: {
        operationId: 'listDriftedTickets',
        summary: 'List tickets that are not in step',
        description:
          'All tickets of your organization that differ from their work items, are gone, paused or failed, or whose vendor does not tell what changed; each with what differs, ours and theirs.',
        tags: TAGS,
        querystring: DriftQuery,
        response: { 200: DriftedTicketList, ...problems('invalid_cursor') },
      },
    },
    async (request, reply) => {
      const { orgId } = request.actor;
      const tickets = await readPage({ db, secret }, request, reply, (tx, page) => listDrift(tx, orgId, page));
      return reply.send({ data: tickets.data.map(toDrifted), page: tickets.page });
    },
  );
}
