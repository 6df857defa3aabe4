import type { Static } from 'typebox';
import type { App } from '../http/app.ts';
import type { EvidenceDeps } from './deps.ts';
import { readEvidenceStats } from './packages/stats.ts';
import { EvidenceStats } from './schemas-stats.ts';

export function evidenceStatsRoutes(app: App, { db }: EvidenceDeps): void {
  app.get(
    '/riskops-evidence/stats',
    {
      config: { access: 'evidence:read' },
      schema: {
        operationId: 'getEvidenceStats',
        summary: 'Get statistics of evidence packages',
        description:
          'How many packages there are, how complete they are, which closed work has none, how long they take, and how often they were downloaded and verified.',
        tags: ['Evidence'],
        response: { 200: EvidenceStats },
      },
    },
    async (request, reply) => {
      const { last_package, ...stats } = await db.withTenant(request.actor, (tx) => readEvidenceStats(tx, request.actor.orgId));
      const last = last_package && { ...last_package, generated_at: last_package.generated_at.toISOString() };
      return reply.send({ ...stats, last_package: last as Static<typeof EvidenceStats>['last_package'] });
    },
  );
}
