import { severities } from '@rrs/scan-reports';
import { type TSchema, Type } from 'typebox';
import type { FindingFilter } from '../findings/list/prepare-filter.ts';
import { assurances, statuses as findingStatuses } from '../findings/status.ts';
import { listParameters, PageOf, range } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, PersonRef, Strict, Text, Timestamp, VisibleName } from '../http/schemas.ts';
import { MAX_FINDINGS } from './items/limits.ts';
import { priorities } from './items/priority.ts';
import { settableStatuses, statuses } from './items/status.ts';
import { Ticket } from './schemas-tickets.ts';

const Status = OneOf(statuses, {
  description: 'Follows from the findings: `verified` if the evidence proves that all of them are fixed. Only people set `blocked` and `cancelled`',
});
const Priority = OneOf(priorities, { description: 'Priority of the work' });
const optional = (example: string | null, description: string) => Nullable(Type.String({ description, examples: [example] }));
const count = (description: string) => Type.Integer({ minimum: 0, description });
const time = (description: string) => ({ ...Timestamp, description });

const WorkItemId = { ...Id, description: 'Id of the work item (UUIDv7)' };
const FindingId = { ...Id, description: 'Id of the finding (UUIDv7)' };
export const WorkItemParams = Strict({ id: WorkItemId });
export const ApprovalParams = Strict({ id: WorkItemId, approval_id: { ...Id, description: 'Id of the approval (UUIDv7)' } });
export const LinkParams = Strict({ id: WorkItemId, finding_id: FindingId });

const actorFields = {
  type: Type.String({ description: 'Kind of actor: `member`, `api_key`, `oidc` or `system`' }),
  id: Nullable(Type.String({ description: 'Id of the actor' })),
  name: Type.String({ description: 'Name of the actor at that time' }),
};

const FindingCounts = Named(
  'WorkItemFindings',
  {
    total: count('All findings'),
    open: count('Open'),
    in_progress: count('In progress'),
    remediated: count('Claimed as remediated: not verified, or verified without a scan or a second person'),
    verified: count('Verified as remediated by a scan or by a second person'),
    excepted: count('Risk accepted, false positive, or withdrawn because of a person, a retired asset or an asset that is gone'),
    aside: count('Withdrawn by their source. They count neither for nor against the work item'),
  },
  {
    description: 'Number of findings by what they contribute to the status. For a closed work item: as of its closing',
    examples: [{ total: 3, open: 1, in_progress: 1, remediated: 0, verified: 1, excepted: 0, aside: 0 }],
  },
);

const listed = {
  id: WorkItemId,
  title: Type.String({ description: 'What is to be done', examples: ['Upgrade log4j in the shop'] }),
  status: Status,
  status_reason: optional(null, 'Reason that a person gave for the status'),
  status_changed_at: time('When the status last changed'),
  assignee: optional('ada@example.com', 'E-mail address of a member, or any other name'),
  assignee_member_id: Nullable({ ...Id, description: 'Id of the assigned member. null if the assignee is not a member' }),
  assignee_name: optional('Ada Lovelace', 'Name of the assigned member. null if the assignee is not a member'),
  priority: Priority,
  due_at: Nullable(time('When the work is due')),
  overdue: Type.Boolean({ description: 'Whether the work item is open and past its due date', examples: [false] }),
  external_ref: optional('OPS-1742', 'Reference in another system, such as a change number'),
  follows: Nullable({ ...Id, description: 'The closed work item whose findings came back', examples: [null] }),
  findings: FindingCounts,
  closed_at: Nullable({ ...time('When the work item was closed'), examples: [null] }),
  created_by: Type.String({ description: 'Who created the work item', examples: ['Ada Lovelace'] }),
  version: Type.Integer({ minimum: 1, description: 'Increases with each change. Also the ETag' }),
  created_at: time('When the work item was created'),
  updated_at: time('When the work item was last changed'),
};

export const ListedWorkItem = Named('ListedWorkItem', listed);
export const WorkItemList = PageOf('WorkItemList', ListedWorkItem);

const Decision = OneOf(['approved', 'rejected'] as const, { description: 'The decision' });

const DIGEST = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const StateDigest = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'Digest of the state that you saw, from `GET /work-items/{id}/state`',
  examples: [DIGEST],
});

export const Approval = Named('Approval', {
  id: { ...Id, description: 'Id of the approval (UUIDv7)' },
  decision: Decision,
  comment: optional('Rolled out to all regions, checked the release.', 'Comment on the decision'),
  by: Type.Object(actorFields, { description: 'Who decided', examples: [{ type: 'member', id: null, name: 'Grace Hopper' }] }),
  person: PersonRef('The person behind the credential'),
  independent: Type.Boolean({
    description: 'Whether the person had no part in the work (creation, assignment, status changes, artifacts, claims), nor anybody who set their password',
    examples: [true],
  }),
  state_digest: { ...StateDigest, description: 'Digest of the state that was decided on' },
  work_item_status: { ...Status, description: 'Status of the work item at that time' },
  work_item_version: Type.Integer({ minimum: 1, description: 'Version of the work item at that time' }),
  occurred_at: time('When the decision was made'),
});

const why = (description: string) => Nullable(Type.String({ description: `${description}: \`null\` if you may, otherwise why not`, examples: [null] }));

const Transition = Named('WorkItemTransition', {
  to: OneOf(settableStatuses, { description: 'The new status' }),
  needs: Type.Array(OneOf(['reason'] as const, { description: 'Name of a field' }), {
    description: 'Fields that `PATCH /work-items/{id}` requires with this status',
    examples: [['reason']],
  }),
  refused: Nullable(Type.String({ description: 'Why you cannot set this status. `null` if you can', examples: [null] })),
});

export const WorkItem = Named('WorkItem', {
  ...listed,
  description: optional('All services on log4j 2.14 move to 2.17.1.', 'Details of the work'),
  followed_by: Nullable({ ...Id, description: 'The work item that received findings that came back', examples: [null] }),
  approvals: Type.Array(Approval, { description: 'The newest 100 approvals, newest first' }),
  tickets: Type.Array(Ticket, { description: 'One ticket per connection that the work item was pushed to' }),
  may: Named(
    'WorkItemAllowances',
    {
      update: why('Change the work item'),
      change_findings: why('Add and remove findings'),
      push_ticket: why('Push the work item to another ticketing system'),
      approve: why('Approve the work item, as far as your own part in the work is known. `GET /work-items/{id}/state` also knows who can use your credential'),
      reject: why('Reject the work item'),
    },
    { description: 'What you may do with the work item' },
  ),
  transitions: Type.Array(Transition, { description: 'The statuses that people can set, in a fixed order' }),
});

const Multi = <T extends Parameters<typeof Type.Array>[0]>(item: T, description: string) => Type.Optional(Type.Array(item, { maxItems: 20, description }));
export const WorkItemQuery = Strict({
  ...listParameters(['created_at', 'updated_at', 'due_at', 'priority'] as const, '-created_at'),
  status: Multi(Status, 'Work items with any of these statuses'),
  assignee: Type.Optional(Text(1, 320, { description: 'Id or e-mail address of a member, or another assignee name', examples: ['ada@example.com'] })),
  priority: Multi(Priority, 'Work items with any of these priorities'),
  overdue: Type.Optional(Type.Boolean({ description: 'true: only overdue work items. false: only others' })),
  finding_id: Type.Optional({ ...Id, description: 'Work items that this finding is linked to' }),
  follows: Type.Optional({ ...Id, description: 'Work items that follow this closed work item' }),
  q: Type.Optional(Text(1, 200, { description: 'Words in title, description or external reference. All must occur' })),
  ...range('created'),
  ...range('updated'),
  ...range('due'),
});

const Title = Type.String({ maxLength: 500, pattern: '\\S', description: 'What is to be done. At most 500 characters' });
const Details = Text(1, 16_000, { description: 'Details of the work' });
const Assignee = VisibleName(1, 320, { description: 'Id or e-mail address of a member, or any other name', pattern: '\\S' });
const DueAt = Type.String({ format: 'date-time', description: 'When the work is due, RFC 3339' });
const Reference = Text(1, 500, { description: 'Reference in another system, such as a change number' });
const FindingIds = Type.Array(Id, { minItems: 1, maxItems: MAX_FINDINGS, description: `Ids of the findings, at most ${MAX_FINDINGS.toLocaleString('en')}` });

export const WorkItemPatch = Named(
  'WorkItemPatch',
  {
    title: Type.Optional(Title),
    description: Type.Optional(Nullable(Details)),
    assignee: Type.Optional(Nullable(Assignee)),
    priority: Type.Optional(Priority),
    due_at: Type.Optional(Nullable(DueAt)),
    external_ref: Type.Optional(Nullable(Reference)),
    status: Type.Optional(OneOf(settableStatuses, { description: 'New status. All other statuses follow from the findings' })),
    reason: Type.Optional(Text(3, 2_000, { description: 'Reason for the status. Required for `blocked`, `awaiting_verification` and `cancelled`' })),
  },
  { minProperties: 1, examples: [{ status: 'in_progress', assignee: 'team-payments' }] },
);

export const ApprovalCreate = Named(
  'ApprovalCreate',
  {
    decision: Decision,
    state_digest: StateDigest,
    comment: Type.Optional(Text(3, 4_000, { description: 'Comment on the decision. Required for a rejection' })),
  },
  { examples: [{ decision: 'approved', state_digest: DIGEST, comment: 'Rolled out to all regions, checked the release.' }] },
);

const stateFields = {
  state_digest: { ...StateDigest, description: 'SHA-256 of the lines, each ended by a line feed, in hexadecimal' },
  lines: Type.Array(
    Type.String({ description: 'Canonical JSON (RFC 8785)', examples: ['{"unlinked":{"id":"01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11","state":"open"}}'] }),
    {
      description: 'The work item and its policy, then each finding, removed finding and artifact, sorted by id',
    },
  ),
};

export const ApprovedState = Named('ApprovedState', stateFields);

export const WorkItemState = Named('WorkItemState', {
  ...stateFields,
  independent: Type.Boolean({
    description: 'Whether your approval would count as that of a second person: neither you nor anybody who can use your credential took part in the work',
    examples: [true],
  }),
});

/** The request bodies that take the filters of the list of findings. */
export function bodiesWith(filter: TSchema) {
  const selection = { finding_ids: Type.Optional(FindingIds), filter: Type.Optional(Type.Unsafe<FindingFilter>(filter)) };
  const WorkItemCreate = Named(
    'WorkItemCreate',
    {
      title: Title,
      description: Type.Optional(Details),
      ...selection,
      assignee: Type.Optional(Assignee),
      priority: Type.Optional({ ...Priority, default: 'medium', description: 'Priority of the work. Default: medium' }),
      due_at: Type.Optional(DueAt),
      external_ref: Type.Optional(Reference),
    },
    {
      description: 'Name the findings with `finding_ids` or `filter`, or add them later',
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
    description: 'Either `finding_ids` or `filter`',
    examples: [{ filter: { component: 'log4j-core', severity: ['critical', 'high'] } }],
  });
  return { WorkItemCreate, LinkBody };
}

type Bodies = ReturnType<typeof bodiesWith>;
export type WorkItemCreate = Bodies['WorkItemCreate'];
export type LinkBody = Bodies['LinkBody'];

export const LinkResult = Named(
  'WorkItemFindingsAdded',
  {
    matched: count('Findings named or matched by the filter'),
    linked: count('Findings added'),
    already_linked: count('Findings that were already on the work item'),
    work_item: ListedWorkItem,
  },
  { description: '`matched` is the sum of `linked` and `already_linked`' },
);

export const LinkedFinding = Named('LinkedFinding', {
  finding_id: FindingId,
  title: Type.String({ description: 'Title of the finding', examples: ['Apache Log4j2 JNDI features do not protect against attacker controlled LDAP'] }),
  status: OneOf(findingStatuses, { description: 'Status of the finding' }),
  assurance: Nullable(OneOf(assurances, { description: 'How well the status is supported' })),
  severity: OneOf(severities, { description: 'Severity of the finding' }),
  risk_score: Type.Number({ minimum: 0, maximum: 100, description: 'Risk score from 0 to 100', examples: [88.5] }),
  asset: Type.Object(
    { id: { ...Id, description: 'Id of the asset (UUIDv7)' }, name: Type.String({ description: 'Name of the asset' }) },
    { description: 'Asset of the finding', examples: [{ id: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11', name: 'registry.example.com/shop:1.4' }] },
  ),
  linked_at: time('When the finding was added to the work item'),
  linked_by: Type.String({ description: 'Who added it', examples: ['Ada Lovelace'] }),
  unlinked_at: Nullable({ ...time('When the finding was removed from the work item'), examples: [null] }),
  unlinked_by: optional(null, 'Who removed it'),
  unlink_reason: optional(null, 'Why it was removed'),
});
export const LinkedFindingList = PageOf('LinkedFindingList', LinkedFinding);
export const LinkedFindingQuery = Strict({
  ...listParameters(['linked_at'] as const, '-linked_at'),
  state: OneOf(['linked', 'unlinked', 'all'] as const, {
    default: 'linked',
    description: 'Findings on the work item now (`linked`), removed from it (`unlinked`), or both (`all`). Default: linked',
  }),
});
export const UnlinkQuery = Strict({ reason: Type.Optional(Text(3, 2_000, { description: 'Why the finding is removed' })) });

const Snapshot = (description: string) => Nullable(Type.Object({}, { additionalProperties: true, description, examples: [{ status: 'in_progress' }] }));
const objectTypes = ['work_item', 'finding'] as const;
export const TimelineEntry = Named('TimelineEntry', {
  id: { ...Id, description: 'Id of the entry (UUIDv7)' },
  occurred_at: time('When it happened'),
  actor: Type.Object(actorFields, { description: 'Who did it', examples: [{ type: 'member', id: null, name: 'Ada Lovelace' }] }),
  person: PersonRef('The person behind the actor. null for scans, connections and the service itself'),
  action: Type.String({ description: 'What happened', examples: ['work_item.status_changed'] }),
  object: Type.Object(
    { type: OneOf(objectTypes, { description: 'Kind of object' }), id: { ...Id, description: 'Id of the object (UUIDv7)' } },
    { description: 'What it happened to', examples: [{ type: 'work_item', id: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11' }] },
  ),
  before: Snapshot('Changed fields before the change'),
  after: Snapshot('Changed fields after the change'),
  reason: optional(null, 'Reason that was given'),
  import_id: Nullable({ ...Id, description: 'The import that changed the finding', examples: [null] }),
});
export const TimelineList = PageOf('TimelineList', TimelineEntry);
export const TimelineQuery = Strict({
  ...listParameters(['occurred_at'] as const, '-occurred_at'),
  object_type: Type.Optional(OneOf(objectTypes, { description: 'Only entries of the work item or of its findings. Default: both' })),
});
