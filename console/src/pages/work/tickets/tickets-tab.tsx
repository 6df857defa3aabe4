import { Button, NativeSelect } from '@mantine/core';
import type { WorkItem } from '@rrs/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useApi, useChange } from '../../../api/client.ts';
import { useMay } from '../../../api/session.ts';
import { useProviderNames } from '../../../api/source-names.ts';
import { Dialog, field } from '../../../parts/dialog.tsx';
import { Section } from '../../../parts/page.tsx';
import { Boundary, Empty } from '../../../parts/states.tsx';
import { announce } from '../../../parts/toast.tsx';
import { TicketCard } from './ticket-card.tsx';

export function TicketsTab({ item }: { item: WorkItem }) {
  const [isPushing, setPushing] = useState(false);
  const mayRead = useMay('integrations:read');
  const connections = useApi('listConnections', { query: { kind: ['ticketing'], limit: 100 } }, { enabled: mayRead && item.may.push_ticket === null });
  const others = (connections.data?.data ?? []).filter(({ id }) => item.tickets.every(({ connection }) => connection.id !== id));
  return (
    <Section title="Tickets" actions={others.length > 0 && <Button onClick={() => setPushing(true)}>Create a ticket</Button>}>
      {item.tickets.map((ticket) => (
        <Boundary key={ticket.id}>
          <TicketCard ticket={ticket} />
        </Boundary>
      ))}
      {item.tickets.length === 0 && (
        <Empty title="No tickets" actions={connections.data?.data.length === 0 && <Link to="/integrations">Connect a ticketing system</Link>}>
          {item.may.push_ticket ?? 'A ticket of Jira, GitHub or another system is kept in sync with this work item.'}
        </Empty>
      )}
      {isPushing && <Push item={item} connections={others} onClose={() => setPushing(false)} />}
    </Section>
  );
}

function Push({ item, connections, onClose }: { item: WorkItem; connections: readonly { id: string; name: string; provider: string }[]; onClose: () => void }) {
  const nameOf = useProviderNames();
  const push = useChange('pushTicket', ['getWorkItem', 'listWorkItemTimeline'], () => {
    announce('The ticket is being created.');
    onClose();
  });
  const submit = (data: FormData) => push.mutate({ path: { id: item.id }, body: { connection_id: field(data, 'connection') ?? '' } });
  return (
    <Dialog title="Create a ticket" action="Create the ticket" onClose={onClose} onSubmit={submit} isBusy={push.isPending} error={push.error}>
      <NativeSelect
        data-autofocus
        name="connection"
        label="System"
        data={connections.map(({ id, name, provider }) => ({ value: id, label: `${name} (${nameOf(provider)})` }))}
      />
      <p className="dim">The work item owns title, text, priority and due date. The ticket owns state and assignee.</p>
    </Dialog>
  );
}
