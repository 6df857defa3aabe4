import type { TenantTx } from '../../db/database.ts';
import { usedByDeliveries, usedByEvents } from '../../events/usage.ts';
import { usedByArtifacts, usedByPackages } from '../../evidence/packages/usage.ts';
import { usedByFindings, usedByImports } from '../../findings/import/usage.ts';
import { usedByResponses } from '../../http/requests/idempotency.ts';
import { usedByRuns } from '../../integrations/sync/usage.ts';
import type { OrganizationUsage } from '../../organizations/schemas-usage.ts';

/** What an organization stores. Each part is one statement, and all are sent in one round trip. */
export async function readUsage(tx: TenantTx, orgId: string): Promise<OrganizationUsage> {
  const [findings, imports, sync_runs, events, deliveries, evidence_packages, artifacts, idempotency_keys] = await Promise.all([
    usedByFindings(tx, orgId),
    usedByImports(tx, orgId),
    usedByRuns(tx, orgId),
    usedByEvents(tx, orgId),
    usedByDeliveries(tx, orgId),
    usedByPackages(tx, orgId),
    usedByArtifacts(tx, orgId),
    usedByResponses(tx, orgId),
  ]);
  const { uploaded, records } = imports;
  return { findings, imports: uploaded, sync_runs, run_records: records, events, deliveries, evidence_packages, artifacts, idempotency_keys };
}
