import { POLL_EVERY_MINUTES } from '../integrations/sync/polls.ts';
import { enqueueAll, handle, type JobHandler } from '../jobs/jobs.ts';
import { pollTickets, startTicketPolls, syncTicket } from './tickets/jobs.ts';
import { pollableConnections, pollConnection } from './tickets/poll.ts';
import { syncLinkedTicket, type TicketSyncDeps } from './tickets/sync.ts';

export function ticketHandler(deps: TicketSyncDeps): JobHandler {
  return handle(syncTicket, ({ org_id, ticket_id }, context) => syncLinkedTicket(deps, context, org_id, ticket_id));
}

export function pollHandler(deps: TicketSyncDeps): JobHandler {
  return handle(pollTickets, ({ org_id, connection_id }, context) => pollConnection(deps, context, org_id, connection_id));
}

export const ticketPolls = handle(
  startTicketPolls,
  async (_payload, { db }) => {
    await db.withSystem(async (tx) => enqueueAll(tx, pollTickets, await pollableConnections(tx), ({ connection_id }) => `poll tickets ${connection_id}`));
  },
  { schedule: `*/${POLL_EVERY_MINUTES} * * * *` },
);
