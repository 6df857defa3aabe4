import type { App } from '../http/app.ts';
import type { FindingDeps } from './deps.ts';
import { readStats } from './list/stats.ts';
import { FindingStats } from './schemas-stats.ts';

export function statsRoutes(app: App, { db }: FindingDeps): void {
  app.get(
    '/findings/stats',
    {
      config: { access: 'findings:read' },
      schema: {
        operationId: 'getFindingStats',
        summary: 'Get statistics of findings',
        description: 'Counts by severity, status, source and age, what is overdue, what was opened and closed per day, and how long remediation takes.',
        tags: ['Findings'],
        response: { 200: FindingStats },
      },
    },
    async (request, reply) => reply.send(await db.withTenant(request.actor, (tx) => readStats(tx, request.actor.orgId))),
  );
}
