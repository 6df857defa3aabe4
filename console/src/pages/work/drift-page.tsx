import { Link } from '@tanstack/react-router';
import { useApi } from '../../api/client.ts';
import { Page } from '../../parts/page.tsx';
import { Boundary, Empty, Show } from '../../parts/states.tsx';
import { TicketCard } from './tickets/ticket-card.tsx';

/** Tickets that differ from their work items, field by field. */
export function DriftPage() {
  const tickets = useApi('listDriftedTickets', { query: { limit: 100 } });
  return (
    <Page
      title="Ticket drift"
      info={tickets.data && tickets.data.data.length > 0 ? 'Tickets that are out of sync' : undefined}
      actions={<Link to="/work">All work items</Link>}
    >
      <Show query={tickets} rows={5}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="All tickets are in sync">A ticket appears here if it differs from its work item, is gone, or could not be written.</Empty>
          ) : (
            data.map((ticket) => (
              <Boundary key={ticket.id}>
                <TicketCard ticket={ticket} workItem={ticket.work_item} />
              </Boundary>
            ))
          )
        }
      </Show>
    </Page>
  );
}
