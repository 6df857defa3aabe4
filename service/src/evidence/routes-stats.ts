import type { App } from '../http/app.ts';
import { getRoute } from '../http/resource.ts';
import type { EvidenceDeps } from './deps.ts';
import { readEvidenceStats } from './packages/stats.ts';
import { EvidenceStats } from './schemas-stats.ts';

export function evidenceStatsRoutes(app: App, { db }: EvidenceDeps): void {
  getRoute(app, { db }, '/riskops-evidence/stats', {
    access: 'evidence:read',
    operationId: 'getEvidenceStats',
    summary: 'Get evidence statistics',
    description:
      'Returns the number of packages, their completeness, the closed work items without a package, the generation time, and the number of downloads and verifications.',
    tag: 'Evidence',
    body: EvidenceStats,
    read: async (tx, { actor }) => {
      const { last_package, ...stats } = await readEvidenceStats(tx, actor.orgId);
      return { ...stats, last_package: last_package && { ...last_package, generated_at: last_package.generated_at.toISOString() } };
    },
  });
}
