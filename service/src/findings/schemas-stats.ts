import { severities } from '@rrs/scan-reports';
import { Type } from 'typebox';
import { Id, Named, Nullable, OneOf } from '../http/schemas.ts';
import { statuses } from './status.ts';

const count = Type.Integer({ minimum: 0 });
const each = <const Key extends string, Value>(keys: readonly Key[], value: Value) => Object.fromEntries(keys.map((key) => [key, value])) as Record<Key, Value>;
const meanDays = Nullable(Type.Number({ minimum: 0, examples: [12.5] }));

export const FindingStats = Named('FindingStats', {
  total: count,
  active: { ...count, description: 'Open, in progress, or remediated and not yet proven' },
  overdue: { ...count, description: 'Active ones beyond their deadline' },
  by_status: Named('CountsByStatus', each(statuses, count)),
  by_severity: Named('CountsBySeverity', each(severities, Type.Object({ active: count, overdue: count }))),
  by_age: Type.Array(Type.Object({ from_days: count, to_days: Nullable(count), count }), {
    description: 'Active ones, by the days since they were first seen',
    examples: [[{ from_days: 0, to_days: 7, count: 3 }]],
  }),
  by_source: Type.Array(
    Type.Object({
      id: Id,
      kind: OneOf(['manual', 'import', 'connection'] as const),
      provider: Type.String({ examples: ['trivy'] }),
      name: Type.String({ examples: [''] }),
      count,
    }),
    { description: 'Findings that a source has reported, whatever became of them; one finding may have several sources' },
  ),
  per_day: Type.Array(Type.Object({ date: Type.String({ format: 'date', examples: ['2026-11-15'] }), opened: count, closed: count }), {
    description: 'The last 30 days in UTC, today last',
  }),
  mean_days_to_remediate: Named(
    'MeanDaysToRemediate',
    { all: meanDays, ...each(severities, meanDays) },
    {
      description: 'From first seen to verified; null: none is verified',
    },
  ),
});
