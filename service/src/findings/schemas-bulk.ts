import { Type } from 'typebox';
import { Id, Named, Nullable, OneOf, Strict, Text } from '../http/schemas.ts';
import { Severity, Tag } from './fields/shapes.ts';
import { filterRules, filters } from './schemas-filter.ts';
import { FindingPatch } from './schemas-triage.ts';

const { status, reason, owner, expires_at, compensating_control, justification, scope } = FindingPatch.properties;
const Tags = (description: string) => Type.Optional(Type.Array(Tag, { maxItems: 50, uniqueItems: true, description }));

export const FilterBody = Strict(filters, { ...filterRules, minProperties: 1, description: 'Filters as in the list of findings. All of them must match' });

export const BulkBody = Named(
  'BulkChange',
  {
    ids: Type.Optional(Type.Array(Id, { minItems: 1, maxItems: 10_000, description: 'Ids of the findings to change' })),
    filter: Type.Optional({ ...FilterBody, description: 'Changes all findings that match these filters, at most 100,000' }),
    change: Strict(
      {
        status,
        severity: Type.Optional(Nullable({ ...Severity, description: 'New severity. Survives later scans. `null` restores the severity of the sources' })),
        reason,
        owner,
        expires_at,
        compensating_control,
        justification,
        scope,
        acceptance: Type.Optional(
          OneOf(['approve', 'reject'] as const, {
            description: 'Answers the pending requests to accept the risk. Cannot be combined with another change. `reject` requires a `reason`',
          }),
        ),
        add_tags: Tags('Tags to add'),
        remove_tags: Tags('Tags to remove'),
        work_item_id: Type.Optional({ ...Id, description: 'Work item to link the findings to' }),
      },
      { minProperties: 1, description: 'The change to apply to each finding' },
    ),
    dry_run: Type.Optional(Type.Boolean({ default: false, description: 'Report what would change without changing anything. Default: `false`' })),
  },
  {
    description: 'A change of many findings. Set either `ids` or `filter`',
    examples: [{ filter: { severity: ['low'], component: 'log4j-core' }, change: { status: 'remediated', reason: 'upgraded to 2.17.1 in release 1.5' } }],
  },
);

const count = (description: string) => Type.Integer({ minimum: 0, description });
export const BulkAnswer = Named('BulkResult', {
  dry_run: Type.Boolean({ description: 'Whether the request only reported what would change', examples: [false] }),
  counts: Named(
    'BulkCounts',
    {
      matched: count('Findings that were selected, including unknown ids'),
      changed: count('Findings that were changed'),
      unchanged: count('Findings that already had the requested values'),
      refused: count('Findings that the change is not allowed for, and unknown ids'),
    },
    {
      description: '`matched` is the sum of `changed`, `unchanged` and `refused`',
      examples: [{ matched: 12, changed: 10, unchanged: 1, refused: 1 }],
    },
  ),
  refused: Type.Array(
    Type.Object({
      id: Id,
      code: Text(1, 100, { description: 'Error code, as for a change of this finding alone' }),
      detail: Type.String({ description: 'Why the finding was not changed' }),
    }),
    {
      description: 'The first 1,000 findings that were not changed, with the error that a change of each alone would return',
      examples: [
        [
          {
            id: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11',
            code: 'invalid_transition',
            detail: 'A finding that is verified cannot become remediated. Allowed: open.',
          },
        ],
      ],
    },
  ),
});
