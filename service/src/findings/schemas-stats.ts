import { severities } from '@rrs/scan-reports';
import { Type } from 'typebox';
import { COUNT_LIMIT } from '../db/pages.ts';
import { Id, Named, Nullable, OneOf, Strict } from '../http/schemas.ts';
import { facetNames } from './counts/facets.ts';
import { Multi } from './fields/shapes.ts';
import { filterRules, filters } from './schemas-filter.ts';
import { statuses } from './status.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });
const each = <const Key extends string, Value>(keys: readonly Key[], describe: (key: Key) => Value) =>
  Object.fromEntries(keys.map((key) => [key, describe(key)])) as Record<Key, Value>;
const meanDays = (description: string) => Nullable(Type.Number({ minimum: 0, description, examples: [12.5] }));

const Counted = {
  count: count('Findings that match'),
  relation: OneOf(['exact', 'at_least'] as const, {
    description: `\`exact\`: \`count\` is their number. \`at_least\`: counting stopped at ${COUNT_LIMIT.toLocaleString('en')}`,
  }),
};

const FacetValue = Named('FacetValue', {
  value: Type.String({ description: 'Value of the filter', examples: ['critical'] }),
  ...Counted,
});

export const FindingFacets = Named('FindingFacets', {
  total: Type.Object(Counted, { description: 'Findings that match all filters', examples: [{ count: 12, relation: 'exact' }] }),
  data: Named(
    'FacetValues',
    each(facetNames, (name) =>
      Type.Optional(Type.Array(FacetValue, { description: `Findings for each value of the filter \`${name}\`. Absent if not requested` })),
    ),
    { description: 'Findings by the values of filters' },
  ),
});

export const FacetQuery = Strict(
  {
    ...filters,
    by: Multi(OneOf(facetNames, { description: 'Name of a filter' }), 'The filters whose values are counted. Default: all', ['severity', 'status']),
  },
  filterRules,
);

export const FindingStats = Named('FindingStats', {
  total: count('All findings'),
  active: count('Findings that are open, in progress, or remediated and not yet verified'),
  overdue: count('Active findings past their deadline'),
  by_status: Named(
    'CountsByStatus',
    each(statuses, (status) => count(`Findings with status \`${status}\``)),
    { description: 'Findings by status' },
  ),
  by_severity: Named(
    'CountsBySeverity',
    each(severities, (severity) =>
      Type.Object(
        { active: count('Active findings'), overdue: count('Active findings past their deadline') },
        { description: `Findings with severity \`${severity}\`` },
      ),
    ),
    { description: 'Active findings by severity' },
  ),
  by_age: Type.Array(
    Type.Object({
      from_days: count('Minimum age in days'),
      to_days: Nullable(count('Age in days that is no longer included. `null`: no maximum')),
      count: count('Active findings of this age'),
    }),
    {
      description: 'Active findings by the number of days since they were first seen',
      examples: [[{ from_days: 0, to_days: 7, count: 3 }]],
    },
  ),
  by_source: Type.Array(
    Type.Object({
      id: Id,
      kind: OneOf(['manual', 'import', 'connection'] as const, { description: 'A person, uploaded reports, or a connection' }),
      provider: Type.String({ description: 'Report format or provider of the connection. `manual` for people', examples: ['trivy'] }),
      name: Type.String({ description: 'Name of the scan. The id of the connection if `kind` is `connection`', examples: [''] }),
      count: count('Findings that the source has reported, in any status'),
    }),
    { description: 'Findings by source, at most 1,000 sources. A finding counts once for each of its sources' },
  ),
  per_day: Type.Array(
    Type.Object({
      date: Type.String({ format: 'date', description: 'Day in UTC', examples: ['2026-11-15'] }),
      opened: count('Findings that were created on this day'),
      closed: count('Findings that were closed on this day and are still closed'),
    }),
    { description: 'The last 30 days, oldest first' },
  ),
  mean_days_to_remediate: Named(
    'MeanDaysToRemediate',
    { all: meanDays('All severities'), ...each(severities, (severity) => meanDays(`Severity \`${severity}\``)) },
    { description: 'Mean number of days from first seen to verified. `null` if no finding is verified' },
  ),
});
