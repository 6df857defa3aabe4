import { Button } from '@mantine/core';
import type { Ticket } from '@rrs/client';
import { Link } from '@tanstack/react-router';
import { useChange } from '../../../api/client.ts';
import { useMay } from '../../../api/session.ts';
import { SafeLink } from '../../../parts/safe-link.tsx';
import { SimpleTable } from '../../../parts/simple-table.tsx';
import { messageOf } from '../../../parts/states.tsx';
import { StatusMark } from '../../../parts/status.tsx';
import { Time } from '../../../parts/time.tsx';
import { announce } from '../../../parts/toast.tsx';
import { term } from '../../../parts/words.ts';
import css from './ticket-card.module.css';

const problems: Readonly<Record<Ticket['problems'][number], string>> = {
  differs: 'Work item and ticket differ.',
  gone: 'The ticket no longer exists at the vendor.',
  paused: 'Too many writes within an hour. Nothing is written until you repair the ticket.',
  failed: 'The last attempt failed. It is repeated automatically.',
  unread: 'The ticket could not be read.',
  duplicated: 'Other tickets carry the marker of this one.',
};

/** A ticket of a work item: its state at the vendor, what differs, and how to repair it. */
export function TicketCard({ ticket, workItem }: { ticket: Ticket; workItem?: { id: string; title: string } }) {
  const may = useMay('work_items:manage');
  const changes = ['getWorkItem', 'listDriftedTickets', 'listWorkItemTimeline'] as const;
  const repair = useChange('repairTicket', changes, () => announce('The repair is queued.'));
  const unlink = useChange('unlinkTicket', changes, () => announce('The ticket is no longer kept in sync.'));
  const path = { id: ticket.work_item_id, ticket_id: ticket.id };
  const error = repair.error ?? unlink.error;
  const name = ticket.key ?? 'Ticket';
  return (
    <article className={css.ticket} aria-label={name}>
      <div className={css.head}>
        <h3>{ticket.url === null ? name : <SafeLink href={ticket.url}>{name}</SafeLink>}</h3>
        <span className="dim">
          {ticket.connection.name} · {ticket.state_name ?? (ticket.state === null ? 'not read yet' : term(ticket.state))}
          {ticket.assignee === null ? '' : ` · ${ticket.assignee}`}
        </span>
        <StatusMark status={ticket.status} />
      </div>
      {workItem && (
        <p>
          <Link to="/work/$id" params={{ id: workItem.id }} search={{ tab: 'tickets' }}>
            {workItem.title}
          </Link>
        </p>
      )}
      {ticket.problems.length > 0 && (
        <ul className={css.problems}>
          {ticket.problems.map((problem) => (
            <li key={problem}>{problems[problem]}</li>
          ))}
          {ticket.paused_reason !== null && <li>{ticket.paused_reason}</li>}
          {ticket.error !== null && (
            <li className="bad">
              {ticket.error.message}{' '}
              {ticket.retry_at !== null && (
                <>
                  Next attempt <Time at={ticket.retry_at} />.
                </>
              )}
            </li>
          )}
        </ul>
      )}
      {ticket.drift.length > 0 && (
        <SimpleTable
          label={`What differs in ${name}`}
          rows={ticket.drift}
          keyOf={({ field }) => field}
          columns={[
            { label: 'Field', cell: ({ field }) => term(field) },
            { label: 'Work item', cell: ({ ours }) => ours ?? '–' },
            { label: 'Ticket', cell: ({ theirs }) => theirs ?? '–' },
            { label: 'Why', cell: ({ reason }) => <span className="dim">{reason}</span> },
          ]}
        />
      )}
      {ticket.duplicates.length > 0 && (
        <p className="dim">
          Copies:{' '}
          {ticket.duplicates.map(({ key, url }) => (url === null ? <span key={key}>{key} </span> : <SafeLink key={key} href={url}>{`${key} `}</SafeLink>))}
        </p>
      )}
      {ticket.repairing !== null && <p className="dim">A repair is on its way ({ticket.repairing === 'push' ? 'to the ticket' : 'to the work item'}).</p>}
      {error && (
        <p className="bad" role="alert">
          {messageOf(error)}
        </p>
      )}
      {may && (
        <div className={css.buttons}>
          {ticket.problems.length > 0 && (
            <>
              <Button variant="default" onClick={() => repair.mutate({ path, body: { direction: 'push' } })} loading={repair.isPending}>
                Overwrite the ticket
              </Button>
              {ticket.drift.length > 0 && (
                <Button variant="default" onClick={() => repair.mutate({ path, body: { direction: 'pull' } })} loading={repair.isPending}>
                  Take over from the ticket
                </Button>
              )}
            </>
          )}
          <Button variant="subtle" onClick={() => unlink.mutate({ path })} loading={unlink.isPending}>
            Unlink
          </Button>
        </div>
      )}
    </article>
  );
}
