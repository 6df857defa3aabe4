import { Type } from 'typebox';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, PersonRef, Strict, Text, Timestamp, VisibleName } from '../http/schemas.ts';
import { DecisionScope, Justification, Severity, Status, Tag } from './fields/shapes.ts';
import { LONGEST_ACCEPTANCE_DAYS } from './status.ts';
import { neededFields } from './triage/needed.ts';

export const FindingPatch = Named(
  'FindingPatch',
  {
    status: Type.Optional({
      ...Status,
      description: 'New status. Under the four-eyes policy, `risk_accepted` leaves the status and requests the approval of a second person',
    }),
    severity: Type.Optional(Nullable({ ...Severity, description: 'New severity. Survives later scans. `null` restores the severity of the sources' })),
    reason: Type.Optional(Text(3, 2_000, { description: 'Reason for the change. Required for most changes, and only allowed together with one' })),
    owner: Type.Optional(VisibleName(1, 200, { description: 'With `risk_accepted`: who is responsible for the risk' })),
    expires_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description: `With \`risk_accepted\`: end of the acceptance, at most ${LONGEST_ACCEPTANCE_DAYS} days (two years) from now`,
      }),
    ),
    compensating_control: Type.Optional(
      Nullable(
        Text(3, 2_000, {
          pattern: '[\\p{L}\\p{N}\\p{P}\\p{S}]',
          description:
            'With `risk_accepted`: what lowers the risk while it is accepted. A new acceptance of the same finding keeps it if it is left out. `null` removes it',
        }),
      ),
    ),
    justification: Type.Optional(Justification),
    scope: Type.Optional({
      ...DecisionScope,
      description:
        'With `risk_accepted` and `false_positive`: whether the decision covers the `places` where the finding is known now, or the whole `finding` wherever it is reported later. Default: `places`',
    }),
    tags: Type.Optional(Type.Array(Tag, { maxItems: 50, uniqueItems: true, description: 'All tags of the finding. Replaces the current ones' })),
  },
  { minProperties: 1, examples: [{ status: 'remediated', reason: 'upgraded to 2.17.1 in release 1.5' }] },
);

export const AcceptanceApproval = Named(
  'AcceptanceApproval',
  { reason: Type.Optional(Text(3, 2_000, { description: 'Why you approve the acceptance' })) },
  { examples: [{ reason: 'the service is not reachable from outside' }] },
);

export const AcceptanceRejection = Named(
  'AcceptanceRejection',
  { reason: Text(3, 2_000, { description: 'Why you reject the acceptance, or withdraw your own request' }) },
  { examples: [{ reason: 'an update is available' }] },
);

export const HistoryEntry = Named('FindingHistoryEntry', {
  id: Id,
  occurred_at: { ...Timestamp, description: 'When the change happened' },
  actor: Type.Object(
    {
      type: Type.String({ description: 'Kind of credential' }),
      id: Nullable(Type.String({ description: 'Id of the credential' })),
      name: Type.String({ description: 'Name of the credential' }),
    },
    { description: 'Who made the change', examples: [{ type: 'member', id: null, name: 'Ada Lovelace' }] },
  ),
  person: PersonRef('The person behind the actor. null for scans, connections and the service itself'),
  import_id: Nullable({ ...Id, description: 'The import that made the change' }),
  action: Type.String({ description: 'What changed', examples: ['status_changed'] }),
  before: Type.Object({}, { additionalProperties: true, description: 'Changed fields before the change', examples: [{ status: 'open' }] }),
  after: Type.Object({}, { additionalProperties: true, description: 'Changed fields after the change', examples: [{ status: 'remediated' }] }),
  reason: Nullable(Type.String({ description: 'Reason for the change', examples: ['upgraded'] })),
});
export const HistoryList = PageOf('FindingHistoryList', HistoryEntry);
export const HistoryQuery = Strict(listParameters(['occurred_at'] as const, '-occurred_at'));

export const Transition = Named('FindingTransition', {
  to: { ...Status, description: 'The new status' },
  needs: Type.Array(OneOf(neededFields, { description: 'Name of a field' }), {
    description: 'Fields that `PATCH /findings/{id}` requires with this status',
    examples: [['reason']],
  }),
  requests_approval: Type.Boolean({
    description: 'Whether the four-eyes policy applies: the change requests an approval, and the status stays until another person approves',
    examples: [false],
  }),
  refused: Nullable(Type.String({ description: 'Why you cannot make this change. `null` if you can', examples: [null] })),
});
