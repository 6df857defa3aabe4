import { recordAudit } from '../audit/record.ts';
import type { SystemTx, TenantTx } from '../db/database.ts';
import { emit } from '../events/emit.ts';
import { type Actor, systemActor } from '../shared/actor.ts';
import { AppError } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';

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

/** Also the lock that changes to owners of an organization queue at. */
export function lockOrganization(tx: TenantTx, orgId: string) {
  return tx.selectFrom('organizations').selectAll().where('id', '=', orgId).forUpdate().executeTakeFirstOrThrow();
}

export async function updateOrganization(tx: TenantTx, actor: Actor, patch: { name?: string }, check: (current: { version: number }) => void) {
  const current = await lockOrganization(tx, actor.orgId);
  check(current);
  if (patch.name === undefined || patch.name === current.name) return current;
  const updated = await tx
    .updateTable('organizations')
    .set({ name: patch.name, version: current.version + 1, updated_at: new Date() })
    .where('id', '=', actor.orgId)
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordAudit(tx, actor, {
    action: 'organization.updated',
    objectType: 'organization',
    objectId: actor.orgId,
    before: { name: current.name },
    after: { name: updated.name },
  });
  await emit(tx, actor.orgId, { type: 'organization.updated', subject: actor.orgId, data: { name: updated.name } });
  return updated;
}
