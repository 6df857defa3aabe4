import type { PolicyVersion } from '@rrs/evidence-format';
import type { TenantTx } from '../../../db/database.ts';
import { readPolicyHistory } from '../../../organizations/policy-history.ts';
import type { ToPerson } from './persons.ts';

/** The policies that were in force since `from`, oldest first. */
export async function readPolicies(tx: TenantTx, orgId: string, from: Date, toPerson: ToPerson): Promise<PolicyVersion[]> {
  const history = await readPolicyHistory(tx, orgId);
  const first = history.findLastIndex(({ effective_from }) => effective_from <= from);
  return history.slice(Math.max(first, 0)).map(({ effective_from, policy: { sla, four_eyes, brake, source_ranking, retention }, changed_by }) => ({
    effective_from: effective_from.toISOString(),
    changed_by: changed_by && toPerson(changed_by),
    sla,
    four_eyes,
    brake: { findings: brake.count, share: brake.share },
    source_ranking,
    retention: { reports: retention.report_days, runs: retention.run_days },
  }));
}
