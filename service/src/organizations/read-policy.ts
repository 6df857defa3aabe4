import type { TenantTx } from '../db/database.ts';
import { type OrganizationPolicy, policyOf } from './policy.ts';

export async function readPolicy(tx: TenantTx, orgId: string): Promise<OrganizationPolicy> {
  const { policy } = await tx.selectFrom('organizations').select('policy').where('id', '=', orgId).executeTakeFirstOrThrow();
  return policyOf(policy);
}
