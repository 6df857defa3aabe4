import { COUNT_LIMIT } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { getRoute, listRoute } from '../http/resource.ts';
import { facetNames, readFacets } from './counts/facets.ts';
import { listGroups, readTop } from './counts/groups.ts';
import { readStats } from './counts/stats.ts';
import { suggest } from './counts/suggest.ts';
import { readTags } from './counts/tags.ts';
import type { FindingDeps } from './deps.ts';
import {
  FacetQuery,
  FindingFacets,
  FindingGroupList,
  FindingStats,
  FindingTop,
  GroupQuery,
  StatsQuery,
  Suggestions,
  SuggestQuery,
  TagQuery,
  Tags,
  TopQuery,
} from './schemas-stats.ts';

export function statsRoutes(app: App, { db, secret }: FindingDeps): void {
  getRoute(app, { db }, '/findings/stats', {
    access: 'findings:read',
    operationId: 'getFindingStats',
    summary: 'Get finding statistics',
    description:
      'Returns counts of findings by severity, status, source and age, the number of overdue findings, the mean time to remediate, and for each interval what was opened, closed and due. Filters restrict the findings as in the list.',
    tag: 'Findings',
    query: StatsQuery,
    body: FindingStats,
    read: (tx, { actor, query }) => {
      const { days = 30, interval = 'day', ...filter } = query;
      return readStats(tx, actor.orgId, filter, { days, interval });
    },
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

  listRoute(app, { db, secret }, '/findings/groups', {
    access: 'findings:read',
    operationId: 'listFindingGroups',
    summary: 'List groups of findings',
    description:
      'Returns the findings that match, grouped by asset, component, vulnerability or CWE, highest risk first by default. Findings without one are in no group. All findings that match are read, which takes longer than a list if there are many.',
    tag: 'Findings',
    query: GroupQuery,
    list: FindingGroupList,
    read: (tx, { actor, query, page }) => {
      const { limit: _limit, cursor: _cursor, sort: _sort, total: _total, by = 'vulnerability', ...filter } = query;
      return listGroups(tx, actor.orgId, { by, filter }, page);
    },
  });

  getRoute(app, { db }, '/findings/top', {
    access: 'findings:read',
    operationId: 'getTopFindings',
    summary: 'Get the groups with the most active findings',
    description: 'Returns the assets, components, vulnerabilities or CWEs with the most active findings among those that match.',
    tag: 'Findings',
    query: TopQuery,
    body: FindingTop,
    read: async (tx, { actor, query }) => {
      const { by = 'vulnerability', limit = 10, ...filter } = query;
      return { data: await readTop(tx, actor.orgId, { by, filter, limit }) };
    },
  });

  getRoute(app, { db }, '/findings/suggest', {
    access: 'findings:read',
    operationId: 'suggestFilterValues',
    summary: 'Suggest values of a filter',
    description:
      'Returns values of a filter of `GET /findings` that begin with a text, to complete what somebody types. Components are completed by their name without the group.',
    tag: 'Findings',
    query: SuggestQuery,
    body: Suggestions,
    read: async (tx, { actor, query: { field, prefix = '', limit = 20 } }) => ({ data: await suggest(tx, actor.orgId, { field, prefix, limit }) }),
  });

  getRoute(app, { db }, '/tags', {
    access: 'findings:read',
    operationId: 'listTags',
    summary: 'List tags',
    description: 'Returns the tags of findings and assets in alphabetical order, with the number of findings and assets that have each.',
    tag: 'Findings',
    query: TagQuery,
    body: Tags,
    read: async (tx, { actor, query: { prefix = '', limit = 100 } }) => ({ data: await readTags(tx, actor.orgId, { prefix, limit }) }),
  });
}
