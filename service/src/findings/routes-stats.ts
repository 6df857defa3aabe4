import { COUNT_LIMIT } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { getRoute } from '../http/resource.ts';
import { facetNames, readFacets } from './counts/facets.ts';
import type { FindingDeps } from './deps.ts';
import { readStats } from './list/stats.ts';
import { FilterFields } from './schemas-filter.ts';
import { FacetQuery, FindingFacets, FindingStats } from './schemas-stats.ts';

export function statsRoutes(app: App, { db }: FindingDeps): void {
  getRoute(app, { db }, '/findings/stats', {
    access: 'findings:read',
    operationId: 'getFindingStats',
    summary: 'Get finding statistics',
    description:
      'Returns counts of findings by severity, status, source and age, the number of overdue findings, findings opened and closed per day, and the mean time to remediate. Filters restrict the findings as in the list.',
    tag: 'Findings',
    query: FilterFields,
    body: FindingStats,
    read: (tx, { actor, query }) => readStats(tx, actor.orgId, query),
  });

  getRoute(app, { db }, '/findings/facets', {
    access: 'findings:read',
    operationId: 'getFindingFacets',
    summary: 'Count findings by the values of filters',
    description: `Returns how many findings match for each value of the filters in \`by\`, for example to show a count next to each choice. Each count is the total of \`GET /findings\` with this value and all other filters of the request: the value replaces what the request states for the same filter. Counting stops at ${COUNT_LIMIT.toLocaleString('en')} findings for each value.`,
    tag: 'Findings',
    query: FacetQuery,
    body: FindingFacets,
    read: (tx, { actor, query }) => {
      const { by = facetNames, ...filter } = query;
      return readFacets(tx, actor.orgId, { filter, by });
    },
  });
}
