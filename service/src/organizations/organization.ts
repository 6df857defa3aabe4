import { isDeepStrictEqual } from 'node:util';
import { withoutHidden } from '@rrs/evidence-format';
import type { Static } from 'typebox';
import { recordAudit } from '../audit/record.ts';
import type { Database, SystemTx, TenantTx, Tx } from '../db/database.ts';
import { emit } from '../events/emit.ts';
import { enqueue } from '../jobs/jobs.ts';
import { type Actor, systemActor } from '../shared/actor.ts';
import { AppError } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { applyRanking, applySla } from './jobs.ts';
import { patchPolicy, policyOf } from './policy.ts';
import type { OrganizationPatch } from './schemas.ts';

export async function createOrganization(tx: SystemTx, by: string, { slug, ...input }: { slug: string; name: string }) {
  const name = withoutHidden(input.name) || slug;
  const created = await tx
    .insertInto('organizations')
    .values({ id: newId(), slug, name })
    .onConflict((conflict) => conflict.column('slug').doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!created) throw new AppError('conflict', `An organization with the slug "${slug}" already exists. Choose another slug.`);
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
  if (!found) throw new AppError('not_found', `There is no organization "${slug}". Run "rrs-server org list" to see all organizations.`);
  return found;
}

export function readOrganization(tx: TenantTx, orgId: string) {
  return tx.selectFrom('organizations').selectAll().where('id', '=', orgId).executeTakeFirstOrThrow();
}

/**
 * Changes to members and keys are serialized by this row lock. NO KEY, because every row that references the organization takes a
 * key-share lock on it: FOR UPDATE would block them all, and deadlock with a sign-in of the member who is being changed.
 */
export function lockOrganization(tx: Tx, orgId: string, mode: 'exclusive' | 'shared' = 'exclusive') {
  const row = tx.selectFrom('organizations').selectAll().where('id', '=', orgId);
  return (mode === 'exclusive' ? row.forNoKeyUpdate() : row.forShare()).executeTakeFirstOrThrow();
}

export async function updateOrganization(tx: TenantTx, actor: Actor, patch: Static<typeof OrganizationPatch>, check: (current: { version: number }) => void) {
  const current = await lockOrganization(tx, actor.orgId);
  check(current);
  const stored = patch.policy === undefined ? current.policy : patchPolicy(current.policy, patch.policy);
  const [before, after] = [policyOf(current.policy), policyOf(stored)];
  const changes = {
    ...(patch.name === undefined || patch.name === current.name ? {} : { name: [current.name, patch.name] }),
    ...(isDeepStrictEqual(before, after) ? {} : { policy: [before, after] }),
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
  if (!isDeepStrictEqual(before.sla, after.sla)) await enqueue(tx, applySla, { org_id: actor.orgId }, { key: `apply_sla ${actor.orgId}` });
  if (!isDeepStrictEqual(before.source_ranking, after.source_ranking)) {
    await enqueue(tx, applyRanking, { org_id: actor.orgId }, { key: `apply_ranking ${actor.orgId}` });
  }
  return updated;
}

/** For credentials that only name the organization by id. Null if it does not exist. */
export async function readOrganizationRef(db: Database, id: string): Promise<{ id: string; slug: string; name: string } | null> {
  const [row] = await db.systemQuery<{ id: string; slug: string; name: string }>('organization_ref', 'select id, slug, name from organizations where id = $1', [
    id,
  ]);
  return row ?? null;
}
