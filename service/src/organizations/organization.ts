import { isDeepStrictEqual } from 'node:util';
import { recordAudit } from '../audit/record.ts';
import type { SystemTx, TenantTx, Tx } from '../db/database.ts';
import { emit } from '../events/emit.ts';
import { enqueue } from '../jobs/jobs.ts';
import { type Actor, systemActor } from '../shared/actor.ts';
import { AppError } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { applySla } from './jobs.ts';
import { type PolicyPatch, patchPolicy, policyOf } from './policy.ts';

export async function createOrganization(tx: SystemTx, by: string, { slug, name }: { slug: string; name: string }) {
  const created = await tx
    .insertInto('organizations')
    .values({ id: newId(), slug, name })
    .onConflict((conflict) => conflict.column('slug').doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!created) throw new AppError('conflict', `There is already an organization "${slug}".`);
  const actor = systemActor(created.id, by);
  await recordAudit(tx, actor, { action: 'organization.created', objectType: 'organization', objectId: created.id, after: { slug, name } });
  await emit(tx, created.id, { type: 'organization.created', subject: created.id, data: { slug, name } });
  return created;
}

export function listOrganizations(tx: SystemTx) {
  return tx.selectFrom('organizations').selectAll().orderBy('slug').execute();
}

export async function findOrganization(tx: SystemTx, slug: string) {
  const found = await tx.selectFrom('organizations').selectAll().where('slug', '=', slug).executeTakeFirst();
  if (!found) throw new AppError('not_found', `There is no organization "${slug}"; "rrs org list" shows them.`);
  return found;
}

export function readOrganization(tx: TenantTx, orgId: string) {
  return tx.selectFrom('organizations').selectAll().where('id', '=', orgId).executeTakeFirstOrThrow();
}

/**
 * Also the lock that changes to who may do what queue at. NO KEY, because every row that names the organization shares its
 * key: FOR UPDATE would stop them all, and deadlock with a sign-in of the member who is being changed.
 */
export function lockOrganization(tx: Tx, orgId: string, mode: 'exclusive' | 'shared' = 'exclusive') {
  const row = tx.selectFrom('organizations').selectAll().where('id', '=', orgId);
  return (mode === 'exclusive' ? row.forNoKeyUpdate() : row.forShare()).executeTakeFirstOrThrow();
}

export interface OrganizationPatch {
  name?: string;
  policy?: PolicyPatch;
}

export async function updateOrganization(tx: TenantTx, actor: Actor, patch: OrganizationPatch, check: (current: { version: number }) => void) {
  const current = await lockOrganization(tx, actor.orgId);
  check(current);
  const stored = patch.policy === undefined ? current.policy : patchPolicy(current.policy, patch.policy);
  const [was, is] = [policyOf(current.policy), policyOf(stored)];
  const changes = {
    ...(patch.name === undefined || patch.name === current.name ? {} : { name: [current.name, patch.name] }),
    ...(isDeepStrictEqual(was, is) ? {} : { policy: [was, is] }),
  };
  if (Object.keys(changes).length === 0) return current;
  const updated = await tx
    .updateTable('organizations')
    .set({ name: patch.name ?? current.name, policy: JSON.stringify(stored), version: current.version + 1, updated_at: new Date() })
    .where('id', '=', actor.orgId)
    .returningAll()
    .executeTakeFirstOrThrow();
  const side = (at: 0 | 1) => Object.fromEntries(Object.entries(changes).map(([name, pair]) => [name, pair[at]]));
  await recordAudit(tx, actor, { action: 'organization.updated', objectType: 'organization', objectId: actor.orgId, before: side(0), after: side(1) });
  await emit(tx, actor.orgId, { type: 'organization.updated', subject: actor.orgId, data: side(1) });
  if (!isDeepStrictEqual(was.sla, is.sla)) await enqueue(tx, applySla, { org_id: actor.orgId }, { key: `apply_sla ${actor.orgId}` });
  return updated;
}
