import type { TenantTx } from '../db/database.ts';
import { type OrganizationPolicy, policyOf } from '../organizations/policy.ts';

export type FindingPolicy = OrganizationPolicy;

export async function readPolicy(tx: TenantTx, orgId: string): Promise<FindingPolicy> {
  const { policy } = await tx.selectFrom('organizations').select('policy').where('id', '=', orgId).executeTakeFirstOrThrow();
  return policyOf(policy);
}
