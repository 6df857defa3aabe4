import { ticketStates } from '@rrs/connectors';
import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Timestamp } from '../http/schemas.ts';
import { statuses } from './items/status.ts';

const text = (example: string | null, description: string) => Nullable(Type.String({ description, examples: [example] }));
const time = (description: string) => ({ ...Timestamp, description });

const TicketId = { ...Id, description: 'Id of the ticket link (UUIDv7)' };
const WorkItemId = { ...Id, description: 'Id of the work item (UUIDv7)' };
export const TicketParams = Strict({ id: WorkItemId, ticket_id: TicketId });
const ticketProblems = ['differs', 'gone', 'paused', 'failed', 'unread', 'duplicated'] as const;

/** Fields that the work item owns and a ticket can differ in. */
export const ownedFields = ['title', 'priority', 'due_date'] as const;

export const TicketDrift = Named(
  'TicketDrift',
  {
    field: OneOf([...ownedFields, 'state'] as const, { description: 'Field that differs' }),
    ours: text('high', 'Value of the work item'),
    theirs: text('low', 'Value of the ticket'),
    reason: text(null, 'Why the work item did not follow the ticket, if known'),
  },
  { examples: [{ field: 'priority', ours: 'high', theirs: 'low', reason: null }] },
);

const Direction = (description: string) => OneOf(['push', 'pull'] as const, { description });

const properties = {
  id: TicketId,
  work_item_id: WorkItemId,
  connection: Named(
    'TicketConnection',
    {
      id: { ...Id, description: 'Id of the connection (UUIDv7)' },
      name: Type.String({ description: 'Name of the connection' }),
      provider: Type.String({ description: 'Provider id from the catalog' }),
    },
    { description: 'The ticketing connection', examples: [{ id: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11', name: 'Jira, shop team', provider: 'jira' }] },
  ),
  status: OneOf(['pushing', 'linked', 'failed', 'paused'] as const, {
    description:
      '`pushing`: the ticket is being created. `linked`: in sync, except for what `problems` lists. `failed`: the last attempt failed, see `error`; it is retried automatically. `paused`: too many writes within an hour; nothing is written until you repair the ticket',
    examples: ['linked'],
  }),
  key: text('SEC-24', "The vendor's key of the ticket"),
  url: Nullable(Type.String({ format: 'uri', description: 'Link to the ticket', examples: ['https://acme.atlassian.net/browse/SEC-24'] })),
  state: Nullable(
    OneOf(ticketStates, {
      description: 'State when last read. `done` moves the work item to `awaiting_verification`, never further',
      examples: ['in_progress'],
    }),
  ),
  state_name: text('In Progress', "The vendor's name of the state"),
  assignee: text('Ada Lovelace', 'Assignee of the ticket at the vendor'),
  problems: Type.Array(
    OneOf(ticketProblems, {
      description:
        '`differs`: fields differ. `gone`: deleted at the vendor. `paused`, `failed`: see `status`. `unread`: the vendor cannot be polled, so changes may be missing. `duplicated`: other tickets carry the marker of this one, see `duplicates`',
    }),
    { description: 'Why the ticket is out of sync. Empty if it is in sync', examples: [[]] },
  ),
  drift: Type.Array(TicketDrift, { description: 'Fields in which work item and ticket differ', examples: [[]] }),
  duplicates: Type.Array(
    Named(
      'TicketDuplicate',
      {
        key: Type.String({ description: "The vendor's key of the other ticket", examples: ['SEC-25'] }),
        url: Nullable(Type.String({ format: 'uri', description: 'Link to the other ticket', examples: ['https://acme.atlassian.net/browse/SEC-25'] })),
      },
      { examples: [{ key: 'SEC-25', url: 'https://acme.atlassian.net/browse/SEC-25' }] },
    ),
    {
      description:
        'Other tickets of the vendor that carry the marker of this one, for example copies. The service does not sync them. A repair clears the list',
      examples: [[]],
    },
  ),
  paused_reason: text(null, 'Why the ticket is paused'),
  error: Nullable(
    Named(
      'TicketError',
      { kind: Type.String({ description: 'Cause of the error, as in `RunError`' }), message: Type.String({ description: 'What is wrong and what to do' }) },
      { description: 'Error of the last attempt or poll', examples: [null] },
    ),
  ),
  retry_at: Nullable({ ...time('When a failed ticket is retried'), examples: [null] }),
  repairing: Nullable({ ...Direction('Direction of a repair that is requested and not finished'), examples: [null] }),
  read_at: Nullable(time('When the ticket was last read')),
  written_at: Nullable(time('When the ticket was last written')),
  created_by: Type.String({ description: 'Who pushed the work item', examples: ['Ada Lovelace'] }),
  created_at: time('When the work item was pushed'),
  updated_at: time('When the link last changed'),
};

export const Ticket = Named('Ticket', properties);
export const TicketList = PageOf('TicketList', Ticket);
export const TicketQuery = Strict(listParameters(['created_at'] as const, 'created_at'));

export const TicketCreate = Named(
  'TicketCreate',
  { connection_id: { ...Id, description: 'Id of a connection of kind `ticketing`' } },
  { examples: [{ connection_id: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11' }] },
);

export const DriftedTicket = Named('DriftedTicket', {
  ...properties,
  work_item: Named(
    'DriftedWorkItem',
    {
      id: WorkItemId,
      title: Type.String({ description: 'Title of the work item', examples: ['Upgrade log4j in the shop'] }),
      status: OneOf(statuses, { description: 'Status of the work item' }),
    },
    { description: 'The work item' },
  ),
});
export const DriftedTicketList = PageOf('DriftedTicketList', DriftedTicket);
export const DriftQuery = Strict(listParameters(['created_at'] as const, '-created_at'));

export const TicketRepair = Named(
  'TicketRepair',
  { direction: Direction('`push`: overwrite the ticket with the work item. `pull`: overwrite the work item with the ticket') },
  { examples: [{ direction: 'push' }] },
);
