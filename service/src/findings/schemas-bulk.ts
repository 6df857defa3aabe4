import { Type } from 'typebox';
import { Id, Named, Nullable, Strict, Text } from '../http/schemas.ts';
import { Severity } from './fields/shapes.ts';
import { FindingPatch, filters, Tag } from './schemas.ts';

const { status, reason, owner, expires_at, justification } = FindingPatch.properties;
const Tags = Type.Optional(Type.Array(Tag, { maxItems: 50, uniqueItems: true }));

export const FilterBody = Strict(filters, { minProperties: 1, description: 'The filters of the list' });

export const BulkBody = Named(
  'BulkChange',
  {
    ids: Type.Optional(Type.Array(Id, { minItems: 1, maxItems: 10_000 })),
    filter: Type.Optional(FilterBody),
    change: Strict(
      {
        status,
        severity: Type.Optional(Nullable(Severity)),
        reason,
        owner,
        expires_at,
        justification,
        add_tags: Tags,
        remove_tags: Tags,
        work_item_id: Type.Optional({ ...Id, description: 'The work item to put them on' }),
      },
      { minProperties: 1 },
    ),
    dry_run: Type.Optional(Type.Boolean({ default: false, description: 'Only say what would change' })),
  },
  {
    description: 'Either `ids` or `filter` says which findings',
    examples: [{ filter: { severity: ['low'], component: 'log4j-core' }, change: { status: 'remediated', reason: 'upgraded to 2.17.1 in release 1.5' } }],
  },
);

const count = Type.Integer({ minimum: 0 });
export const BulkAnswer = Named('BulkResult', {
  dry_run: Type.Boolean({ examples: [false] }),
  counts: Named(
    'BulkCounts',
    { matched: count, changed: count, unchanged: count, refused: count },
    {
      description: 'matched = changed + unchanged + refused; an id that is not known is refused',
      examples: [{ matched: 12, changed: 10, unchanged: 1, refused: 1 }],
    },
  ),
  refused: Type.Array(Type.Object({ id: Id, code: Text(1, 100), detail: Type.String() }), {
    description: 'The first 1,000, each with the code and words that a change of this one alone would be refused with',
    examples: [
      [
        {
          id: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11',
          code: 'invalid_transition',
          detail: 'A finding that is verified cannot become remediated; from here it may become open.',
        },
      ],
    ],
  }),
});
