import { Type } from 'typebox';
import { Id, Nullable } from '../../http/schemas.ts';
import { isOutdated } from './acceptance.ts';
import { field } from './field.ts';
import { Justification } from './shapes.ts';

/** Fields that the single finding and the exports have in addition. */
export const detailFields = {
  weakness: field({
    schema: Type.String({ description: 'Identifier of the weakness: a vulnerability id, or the rule of the tool', examples: ['CVE-2021-44228'] }),
    columns: { weakness: null },
    show: ({ weakness }) => weakness,
    csv: { weakness: (weakness) => weakness },
  }),
  decision_outdated: field({
    schema: Type.Boolean({
      description: 'Whether the finding is more severe than when it was decided on, or was listed as exploited since. Such a false positive stays one',
      examples: [false],
    }),
    columns: {},
    show: (row, { decisions }) => isOutdated(row, decisions.get(row.id) ?? []),
  }),
  merged_into: field({
    schema: Nullable({ ...Id, description: 'The finding that this one was merged into. It is no longer listed and does not change', examples: [null] }),
    columns: { merged_into: null },
    show: ({ merged_into }) => merged_into,
  }),
  justification: field({
    schema: Nullable(Justification),
    columns: { justification: null },
    show: ({ justification }) => justification,
    csv: { justification: (justification) => justification },
  }),
};
