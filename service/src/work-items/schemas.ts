import { severities } from '@rrs/scan-reports';
import { type TSchema, Type } from 'typebox';
import { assurances, statuses as findingStatuses } from '../findings/status.ts';
import { listParameters, PageOf, range } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict, Text, Timestamp } from '../http/schemas.ts';
import { MAX_FINDINGS } from './items/links.ts';
import { priorities } from './items/priority.ts';
import { askable, statuses } from './items/status.ts';
import { Ticket } from './schemas-tickets.ts';

const Status = OneOf(statuses, { description: 'Follows its findings; `blocked` and `cancelled` are set by people alone' });
const Priority = OneOf(priorities);
const optional = (example: string | null, description?: string) => Nullable(Type.String({ ...(description ? { description } : {}), examples: [example] }));
const count = Type.Integer({ minimum: 0 });

export const WorkItemParams = Strict({ id: Id });
export const LinkParams = Strict({ id: Id, finding_id: Id });

const FindingCounts = Named(
  'WorkItemFindings',
  {
    total: count,
    open: count,
    in_progress: count,
    remediated: { ...count, description: 'Claimed, not proven' },
    verified: count,
    excepted: { ...count, description: 'Risk accepted, false positive or withdrawn' },
  },
  {
    description: 'How its findings stand; for a closed item, how they stood when it was closed',
    examples: [{ total: 3, open: 1, in_progress: 1, remediated: 0, verified: 1, excepted: 0 }],
  },
);

const listed = {
  id: Id,
  title: Type.String({ examples: ['Upgrade log4j in the shop'] }),
  status: Status,
  status_reason: optional(null, 'What a person said about it'),
  status_changed_at: Timestamp,
  assignee: optional('ada@example.com', 'E-mail of a member, or a name'),
  assignee_member_id: Nullable(Id),
  priority: Priority,
  due_at: Nullable(Timestamp),
  overdue: Type.Boolean({ examples: [false] }),
  external_ref: optional('OPS-1742'),
  follows: Nullable({ ...Id, description: 'The closed work item whose findings came back', examples: [null] }),
  findings: FindingCounts,
  closed_at: Nullable({ ...Timestamp, examples: [null] }),
  created_by: Type.String({ examples: ['Ada Lovelace'] }),
  version: Type.Integer({ minimum: 1, description: 'Grows with each change; also the ETag' }),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const ListedWorkItem = Named('ListedWorkItem', listed);
export const WorkItemList = PageOf('WorkItemList', ListedWorkItem);

export const Approval = Named('Approval', {
  id: Id,
  decision: OneOf(['approved', 'rejected'] as const),
  comment: optional('Rolled out to all regions, checked the release.'),
  by: Type.Object(
    { type: Type.String(), id: Nullable(Type.String()), name: Type.String() },
    { examples: [{ type: 'member', id: null, name: 'Grace Hopper' }] },
  ),
  independent: Type.Boolean({ description: 'Neither opened the item, nor is its assignee, nor claimed one of its findings', examples: [true] }),
  work_item_status: { ...Status, description: 'The status that was decided on' },
  work_item_version: Type.Integer({ minimum: 1 }),
  occurred_at: Timestamp,
});

export const WorkItem = Named('WorkItem', {
  ...listed,
  description: optional('All services on log4j 2.14 move to 2.17.1.'),
  followed_by: Nullable({ ...Id, description: 'The work item that findings which came back went to', examples: [null] }),
  approvals: Type.Array(Approval, { description: 'The newest 100, newest first' }),
  tickets: Type.Array(Ticket, { description: 'One for each connection that it was pushed to' }),
});

const Multi = <T extends Parameters<typeof Type.Array>[0]>(item: T) => Type.Optional(Type.Array(item, { maxItems: 20 }));
export const WorkItemQuery = Strict({
  ...listParameters(['created_at', 'updated_at', 'due_at', 'priority'] as const, '-created_at'),
  status: Multi(Status),
  assignee: Type.Optional(Text(1, 320, { description: 'Id or e-mail of a member, or the name given', examples: ['ada@example.com'] })),
  priority: Multi(Priority),
  overdue: Type.Optional(Type.Boolean()),
  finding_id: Type.Optional({ ...Id, description: 'That this finding is on' }),
  follows: Type.Optional({ ...Id, description: 'That follows this closed work item' }),
  q: Type.Optional(Text(1, 200, { description: 'Words in title, description and external reference; all must occur' })),
  ...range('created'),
  ...range('updated'),
  ...range('due'),
});

const Title = Type.String({ maxLength: 500, pattern: '\\S', description: 'More than white space' });
const Assignee = Text(1, 320, { description: 'Id or e-mail of a member, or a name for whoever is no member', pattern: '\\S' });
const DueAt = Type.String({ format: 'date-time' });
const Reference = Text(1, 500, { description: 'What it is called elsewhere: a ticket, a change' });
const FindingIds = Type.Array(Id, { minItems: 1, maxItems: MAX_FINDINGS });

export const WorkItemPatch = Named(
  'WorkItemPatch',
  {
    title: Type.Optional(Title),
    description: Type.Optional(Nullable(Text(1, 16_000))),
    assignee: Type.Optional(Nullable(Assignee)),
    priority: Type.Optional(Priority),
    due_at: Type.Optional(Nullable(DueAt)),
    external_ref: Type.Optional(Nullable(Reference)),
    status: Type.Optional(OneOf(askable, { description: 'The other statuses follow from the findings' })),
    reason: Type.Optional(Text(3, 2_000, { description: 'With `blocked`, `awaiting_verification` and `cancelled` it is required' })),
  },
  { minProperties: 1, examples: [{ status: 'in_progress', assignee: 'team-payments' }] },
);

export const ApprovalCreate = Named(
  'ApprovalCreate',
  {
    decision: OneOf(['approved', 'rejected'] as const),
    comment: Type.Optional(Text(3, 4_000, { description: 'Required for a rejection' })),
  },
  { examples: [{ decision: 'approved', comment: 'Rolled out to all regions, checked the release.' }] },
);

/** The filters are those of the list of findings, which the bodies take as they are. */
export function bodiesWith(filter: TSchema) {
  const selection = { finding_ids: Type.Optional(FindingIds), filter: Type.Optional(filter) };
  const WorkItemCreate = Named(
    'WorkItemCreate',
    {
      title: Title,
      description: Type.Optional(Text(1, 16_000)),
      ...selection,
      assignee: Type.Optional(Assignee),
      priority: Type.Optional({ ...Priority, default: 'medium' }),
      due_at: Type.Optional(DueAt),
      external_ref: Type.Optional(Reference),
    },
    {
      description: 'Its findings are named by `finding_ids` or found by `filter`, or come later',
      examples: [
        {
          title: 'Upgrade log4j in the shop',
          filter: { component: 'log4j-core', severity: ['critical', 'high'] },
          assignee: 'team-payments',
          priority: 'high',
          external_ref: 'OPS-1742',
        },
      ],
    },
  );
  const LinkBody = Named('WorkItemFindingsAdd', selection, {
    description: 'Either `finding_ids` or `filter` says which findings',
    examples: [{ filter: { component: 'log4j-core', severity: ['critical', 'high'] } }],
  });
  return { WorkItemCreate, LinkBody };
}

export const LinkResult = Named(
  'WorkItemFindingsAdded',
  { matched: count, linked: count, already_linked: count, work_item: ListedWorkItem },
  { description: 'matched = linked + already_linked' },
);

export const LinkedFinding = Named('LinkedFinding', {
  finding_id: Id,
  title: Type.String({ examples: ['Apache Log4j2 JNDI features do not protect against attacker controlled LDAP'] }),
  status: OneOf(findingStatuses),
  assurance: Nullable(OneOf(assurances)),
  severity: OneOf(severities),
  risk_score: Type.Number({ minimum: 0, maximum: 100, examples: [88.5] }),
  asset: Type.Object({ id: Id, name: Type.String() }, { examples: [{ id: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11', name: 'registry.example.com/shop:1.4' }] }),
  linked_at: Timestamp,
  linked_by: Type.String({ examples: ['Ada Lovelace'] }),
  unlinked_at: Nullable({ ...Timestamp, examples: [null] }),
  unlinked_by: optional(null),
  unlink_reason: optional(null),
});
export const LinkedFindingList = PageOf('LinkedFindingList', LinkedFinding);
export const LinkedFindingQuery = Strict({
  ...listParameters(['linked_at'] as const, '-linked_at'),
  state: OneOf(['linked', 'unlinked', 'all'] as const, { default: 'linked', description: 'On the work item now, taken off it, or both' }),
});
export const UnlinkQuery = Strict({ reason: Type.Optional(Text(3, 2_000, { description: 'Why it does not belong there' })) });

const Snapshot = Nullable(Type.Object({}, { additionalProperties: true, examples: [{ status: 'in_progress' }] }));
export const TimelineEntry = Named('TimelineEntry', {
  id: Id,
  occurred_at: Timestamp,
  actor: Type.Object(
    { type: Type.String(), id: Nullable(Type.String()), name: Type.String() },
    { examples: [{ type: 'member', id: null, name: 'Ada Lovelace' }] },
  ),
  action: Type.String({ examples: ['work_item.status_changed'] }),
  object: Type.Object(
    { type: OneOf(['work_item', 'finding'] as const), id: Id },
    { examples: [{ type: 'work_item', id: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11' }] },
  ),
  before: Snapshot,
  after: Snapshot,
  reason: optional(null),
  import_id: Nullable({ ...Id, description: 'The import that changed the finding', examples: [null] }),
});
export const TimelineList = PageOf('TimelineList', TimelineEntry);
export const TimelineQuery = Strict({
  ...listParameters(['occurred_at'] as const, '-occurred_at'),
  object_type: Type.Optional(OneOf(['work_item', 'finding'] as const, { description: 'Both, if absent' })),
});
