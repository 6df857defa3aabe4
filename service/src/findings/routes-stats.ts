import type { App } from '../http/app.ts';
import { getRoute } from '../http/resource.ts';
import type { FindingDeps } from './deps.ts';
import { readStats } from './list/stats.ts';
import { FilterFields } from './schemas-filter.ts';
import { FindingStats } from './schemas-stats.ts';

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
}
