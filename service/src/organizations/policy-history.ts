import { sql } from 'kysely';
import { auditTrail, type RecordedActor, recordedActor } from '../audit/relations.ts';
import type { TenantTx } from '../db/database.ts';
import { type OrganizationPolicy, policyOf } from './policy.ts';

export interface PolicyVersionRow {
  effective_from: Date;
  policy: OrganizationPolicy;
  /** Null for the policy that the organization started with. */
  changed_by: RecordedActor | null;
}

/** All policies that the organization has had, oldest first, as the audit trail records them. */
export async function readPolicyHistory(tx: TenantTx, orgId: string): Promise<PolicyVersionRow[]> {
  const organization = await tx.selectFrom('organizations').select(['policy', 'created_at']).where('id', '=', orgId).executeTakeFirstOrThrow();
  const { rows } = await sql<{ occurred_at: Date; actor: RecordedActor; before: unknown; after: unknown }>`
    select trail.occurred_at, ${recordedActor('trail')} as actor, trail.before->'policy' as before, trail.after->'policy' as after from ${auditTrail} trail
    where trail.org_id = ${orgId} and trail.object_id = ${orgId} and trail.action = 'organization.updated' and trail.after ? 'policy'
    order by trail.occurred_at, trail.id`.execute(tx);
  const first = { effective_from: organization.created_at, policy: policyOf(rows[0]?.before ?? organization.policy), changed_by: null };
  return [first, ...rows.map(({ occurred_at, actor, after }) => ({ effective_from: occurred_at, policy: policyOf(after), changed_by: actor }))];
}
