import { POLL_EVERY_MINUTES } from '../integrations/sync/polls.ts';
import { enqueueAll, handle, type JobHandler } from '../jobs/jobs.ts';
import { pollTickets, startTicketPolls, syncTicket } from './tickets/jobs.ts';
import { pollable, pollConnection } from './tickets/poll.ts';
import { bringInStep, type TicketSyncing } from './tickets/sync.ts';

export function ticketHandler(syncing: TicketSyncing): JobHandler {
  return handle(syncTicket, ({ org_id, ticket_id }, context) => bringInStep(syncing, context, org_id, ticket_id));
}

export function pollHandler(syncing: TicketSyncing): JobHandler {
  return handle(pollTickets, ({ org_id, connection_id }, context) => pollConnection(syncing, context, org_id, connection_id));
}

export const ticketPolls = handle(
  startTicketPolls,
  async (_payload, { db }) => {
    await db.withSystem(async (tx) => enqueueAll(tx, pollTickets, await pollable(tx), ({ connection_id }) => `poll tickets ${connection_id}`));
  },
  `*/${POLL_EVERY_MINUTES} * * * *`,
);
