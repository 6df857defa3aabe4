import { ticketStates } from '@rrs/connectors';
import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Timestamp } from '../http/schemas.ts';
import { statuses } from './items/status.ts';
import { driftFields } from './tickets/fields.ts';
import { repairDirections } from './tickets/repair.ts';

const text = (example: string | null, description?: string) => Nullable(Type.String({ ...(description ? { description } : {}), examples: [example] }));

export const TicketParams = Strict({ id: Id, ticket_id: Id });
const ticketProblems = ['differs', 'gone', 'paused', 'failed', 'unread'] as const;

const shown = {
  id: Id,
  work_item_id: Id,
  connection: Named(
    'TicketConnection',
    { id: Id, name: Type.String(), provider: Type.String() },
    { examples: [{ id: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11', name: 'Jira, shop team', provider: 'jira' }] },
  ),
  status: OneOf(['pushing', 'linked', 'failed', 'paused'] as const, {
    description:
      '`pushing`: it is being made. `failed`: the vendor could not be asked or refused, which `error` explains; it is tried again by itself. `paused`: too many changes within an hour; nothing is written until somebody repairs it',
    examples: ['linked'],
  }),
  key: text('SEC-24', "The vendor's name for it"),
  url: Nullable(Type.String({ format: 'uri', examples: ['https://acme.atlassian.net/browse/SEC-24'] })),
  state: Nullable(
    OneOf(ticketStates, { description: 'As last read. `done` moves the work item to awaiting_verification, never further', examples: ['in_progress'] }),
  ),
  state_name: text('In Progress', "In the vendor's words"),
  assignee: text('Ada Lovelace', "In the vendor's words"),
  problems: Type.Array(OneOf(ticketProblems, { description: '`unread`: the vendor does not tell what changed, so that nobody knows' }), {
    description: 'Why it is not in step; empty when it is',
    examples: [[]],
  }),
  drift: Type.Array(
    Named(
      'TicketDrift',
      {
        field: OneOf(driftFields),
        ours: text('high'),
        theirs: text('low'),
        reason: text(null, 'Why the work item did not follow, where there is more to say'),
      },
      { examples: [{ field: 'priority', ours: 'high', theirs: 'low', reason: null }] },
    ),
    { description: 'Fields in which the two differ', examples: [[]] },
  ),
  paused_reason: text(null),
  error: Nullable(
    Named(
      'TicketError',
      { kind: Type.String(), message: Type.String() },
      { description: 'What the vendor said last, when it could not be done', examples: [null] },
    ),
  ),
  retry_at: Nullable({ ...Timestamp, description: 'When a failed one is tried again', examples: [null] }),
  repairing: Nullable(OneOf(repairDirections, { description: 'A repair that was asked for and is not done yet', examples: [null] })),
  read_at: Nullable(Timestamp),
  written_at: Nullable(Timestamp),
  created_by: Type.String({ examples: ['Ada Lovelace'] }),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const Ticket = Named('Ticket', shown);
export const TicketList = PageOf('TicketList', Ticket);
export const TicketQuery = Strict(listParameters(['created_at'] as const, 'created_at'));

export const TicketCreate = Named(
  'TicketCreate',
  { connection_id: { ...Id, description: 'A connection of kind ticketing' } },
  { examples: [{ connection_id: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11' }] },
);

export const DriftedTicketList = PageOf(
  'DriftedTicketList',
  Named('DriftedTicket', {
    ...shown,
    work_item: Named('DriftedWorkItem', { id: Id, title: Type.String({ examples: ['Upgrade log4j in the shop'] }), status: OneOf(statuses) }),
  }),
);
export const DriftQuery = Strict(listParameters(['created_at'] as const, '-created_at'));

export const TicketRepair = Named(
  'TicketRepair',
  { direction: OneOf(repairDirections, { description: '`push`: the work item is right. `pull`: the ticket is right' }) },
  { examples: [{ direction: 'push' }] },
);
