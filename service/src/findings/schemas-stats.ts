import { severities } from '@rrs/scan-reports';
import { Type } from 'typebox';
import { COUNT_LIMIT } from '../db/pages.ts';
import { listParameters, PageOf } from '../http/paging.ts';
import { Id, Named, Nullable, OneOf, Strict } from '../http/schemas.ts';
import { facetNames } from './counts/facets.ts';
import { groupedBy } from './counts/groups.ts';
import { suggestedFields } from './counts/suggest.ts';
import { intervals } from './counts/trend.ts';
import { Multi, SourceKind } from './fields/shapes.ts';
import type { FindingFilter } from './list/prepare-filter.ts';
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

const dayOf = (description: string) => Type.String({ format: 'date', description, examples: ['2026-11-15'] });
const bySeverity = (description: string) =>
  Type.Object(
    each(severities, (severity) => count(`Severity \`${severity}\``)),
    { description },
  );

const Trend = Named('FindingTrend', {
  from: dayOf('First day of the interval, in UTC. Weeks begin on Monday'),
  to: dayOf('First day after the interval'),
  opened: count('Findings that were created in the interval'),
  closed: count('Findings that were closed in the interval and are still closed'),
  opened_by_severity: bySeverity('Findings that were created in the interval, by their severity now'),
  closed_by_severity: bySeverity('Findings that were closed in the interval, by their severity now'),
  sla: Type.Object(
    {
      due: count('Findings whose deadline is in the interval, without active ones that are suppressed'),
      met: count('Those that were closed by their deadline'),
      missed: count('Those that were not closed by their deadline. The rest is not due yet'),
    },
    { description: 'Deadlines in the interval' },
  ),
  mean_days_to_remediate: meanDays(
    'Mean number of days from first seen to verified, of the findings that were verified in the interval. `null` if there are none',
  ),
});

export const StatsQuery = Strict(
  {
    ...filters,
    days: Type.Optional(Type.Integer({ minimum: 7, maximum: 730, description: 'Number of days of `trend`. Default: 30' })),
    interval: Type.Optional(OneOf(intervals, { description: 'Length of the intervals of `trend`. Default: `day`' })),
  },
  filterRules,
);

const groupKeys = {
  key: Type.String({
    description: 'What the findings have in common: the id of the asset, or the name of the component, vulnerability or CWE',
    examples: ['CVE-2021-44228'],
  }),
  label: Type.String({
    description: 'The key for people: the name of the asset, or the title of the finding with the highest risk',
    examples: ['Apache Log4j2 JNDI features do not protect against attacker controlled LDAP'],
  }),
};
const groupFacts = {
  max_risk: Type.Number({ minimum: 0, maximum: 100, description: 'Highest risk score', examples: [88.5] }),
  assets: count('Number of assets'),
  filter: Type.Unsafe<FindingFilter>(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description: 'The filter that lists the findings, to be added to those of the request',
        examples: [{ cve: ['CVE-2021-44228'] }],
      },
    ),
  ),
};
const By = Type.Optional(
  OneOf(groupedBy, {
    description: 'What the findings of a group have in common. A finding with several CVEs or CWEs is in several groups. Default: `vulnerability`',
  }),
);

const FindingGroup = Named('FindingGroup', {
  ...groupKeys,
  count: count('Findings in the group'),
  active: count('Those that are open, in progress, or remediated and not yet verified'),
  by_severity: bySeverity('Findings by severity'),
  ...groupFacts,
});
export const FindingGroupList = PageOf('FindingGroupList', FindingGroup);
export const GroupQuery = Strict({ ...listParameters(['max_risk', 'count', 'active', 'assets'] as const, '-max_risk'), ...filters, by: By }, filterRules);

export const FindingTop = Named('FindingTop', {
  data: Type.Array(
    Named('FindingTopEntry', {
      ...groupKeys,
      active: count('Active findings'),
      critical: count('Active findings with the severity `critical`'),
      ...groupFacts,
    }),
    { description: 'The groups with the most active findings, the largest first' },
  ),
});
export const TopQuery = Strict(
  { ...filters, by: By, limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: 'Number of groups. Default: 10' })) },
  filterRules,
);

export const SuggestQuery = Strict({
  field: OneOf(suggestedFields, { description: 'The filter whose values are suggested', examples: ['component'] }),
  prefix: Type.Optional(Type.String({ maxLength: 200, description: 'How the values begin, ignoring case. Default: any', examples: ['log4'] })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: 'Number of values. Default: 20' })),
});
export const Suggestions = Named('Suggestions', {
  data: Type.Array(Type.String(), { description: 'Values of the filter, in alphabetical order', examples: [['log4j-api', 'log4j-core']] }),
});

export const TagQuery = Strict({
  prefix: Type.Optional(Type.String({ maxLength: 200, description: 'How the tags begin, ignoring case. Default: any', examples: ['pci'] })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Number of tags. Default: 100' })),
});
export const Tags = Named('Tags', {
  data: Type.Array(
    Named('TagCount', {
      name: Type.String({ description: 'The tag', examples: ['pci'] }),
      findings: count('Findings that have the tag'),
      assets: count('Assets that have the tag'),
    }),
    { description: 'Tags in alphabetical order' },
  ),
});

export const FindingStats = Named('FindingStats', {
  total: count('All findings'),
  active: count('Findings that are open, in progress, or remediated and not yet verified'),
  overdue: count('Active findings past their deadline, without suppressed ones'),
  suppressed: count('Active findings that all sources suppress that still see them'),
  by_status: Named(
    'CountsByStatus',
    each(statuses, (status) => count(`Findings with status \`${status}\``)),
    { description: 'Findings by status' },
  ),
  by_severity: Named(
    'CountsBySeverity',
    each(severities, (severity) =>
      Type.Object(
        { active: count('Active findings'), overdue: count('Active findings past their deadline, without suppressed ones') },
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
      kind: SourceKind,
      provider: Type.String({ description: 'Report format or provider of the connection. `manual` for people', examples: ['trivy'] }),
      name: Type.String({ description: 'Name of the scan. The id of the connection if `kind` is `connection`', examples: [''] }),
      count: count('Findings that the source has reported, in any status'),
    }),
    { description: 'Findings by source, at most 1,000 sources. A finding counts once for each of its sources' },
  ),
  trend: Type.Array(Trend, { description: 'The intervals of the last `days` days, oldest first. The first and the last may be longer than these days' }),
  mean_days_to_remediate: Named(
    'MeanDaysToRemediate',
    { all: meanDays('All severities'), ...each(severities, (severity) => meanDays(`Severity \`${severity}\``)) },
    { description: 'Mean number of days from first seen to verified. `null` if no finding is verified' },
  ),
});
