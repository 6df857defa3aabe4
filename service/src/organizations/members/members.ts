import { withoutHidden } from '@rrs/evidence-format';
import { sql } from 'kysely';
import type { Static } from 'typebox';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { fetchPage, type PageRequest } from '../../db/pages.ts';
import { emit } from '../../events/emit.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError, notFound } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { outranks } from '../../shared/permissions.ts';
import { lowerKeysOf } from '../api-keys/api-keys.ts';
import type { MemberCreate, MemberPatch } from '../schemas.ts';
import { forgetPerson } from '../views/views.ts';
import { endInvitation, forgetSetup } from './invitations.ts';
import { assertNotAbove, assertOwnerLeft, lockForAccessChange } from './owners.ts';

const columns = [
  'id',
  'email',
  'name',
  'role',
  'version',
  'created_at',
  'updated_at',
  'password_hash',
  'password_chosen_by',
  sql<boolean>`exists (select from sso_subjects s where s.org_id = members.org_id and s.member_id = members.id)`.as('is_linked'),
] as const;

/** The caller hashes the password outside the transaction, because hashing is slow by design. */
interface NewMember extends Omit<Static<typeof MemberCreate>, 'password'> {
  passwordHash: string | null;
}

interface MemberChange {
  id: string;
  patch: Omit<Static<typeof MemberPatch>, 'password'> & { passwordHash?: string };
  check: (current: MemberRow) => void;
}

export function listMembers(tx: TenantTx, orgId: string, q: string | undefined, page: PageRequest) {
  const all = tx.selectFrom('members').select(columns).where('org_id', '=', orgId);
  const query = q === undefined ? all : all.where(sql<boolean>`strpos(lower(name || ' ' || email), lower(${q})) > 0`);
  return fetchPage(tx, query, { created_at: { column: 'created_at', type: 'timestamptz' } }, page);
}

export async function readMember(tx: TenantTx, orgId: string, id: string) {
  const member = await tx.selectFrom('members').select(columns).where('org_id', '=', orgId).where('id', '=', id).executeTakeFirst();
  if (!member) throw notFound('member', id);
  return member;
}

export type MemberRow = Awaited<ReturnType<typeof readMember>>;

export async function addMember(tx: TenantTx, actor: Actor, input: NewMember): Promise<MemberRow> {
  await lockForAccessChange(tx, actor, 'shared');
  assertNotAbove(actor, input.role, 'The new member');
  const email = input.email.toLowerCase();
  const member = await tx
    .insertInto('members')
    .values({
      org_id: actor.orgId,
      id: newId(),
      email,
      name: withoutHidden(input.name) || email,
      role: input.role,
      ...(input.passwordHash === null ? {} : passwordOf(actor, input.passwordHash)),
    })
    .onConflict((conflict) => conflict.columns(['org_id', 'email']).doNothing())
    .returning(columns)
    .executeTakeFirst();
  await forgetSetup(tx, actor.orgId);
  if (!member) throw new AppError('conflict', `A member with the e-mail "${email}" already exists. Change that member instead.`);
  // Whoever set the password can sign in as the member, which matters for approvals.
  const after = { ...auditable(member), ...(input.passwordHash === null ? {} : { password: 'set' }) };
  await recordAudit(tx, actor, { action: 'member.added', objectType: 'member', objectId: member.id, after });
  await emit(tx, actor.orgId, { type: 'member.added', subject: member.id, data: after });
  return member;
}

export async function updateMember(tx: TenantTx, actor: Actor, { id, patch, check }: MemberChange): Promise<MemberRow> {
  await lockForAccessChange(tx, actor, 'exclusive');
  const current = await readMember(tx, actor.orgId, id);
  check(current);
  assertNotAbove(actor, current.role, 'The member');
  if (patch.role !== undefined) assertNotAbove(actor, patch.role, 'The member');
  const next = { name: patch.name ?? current.name, role: patch.role ?? current.role, password_hash: patch.passwordHash ?? current.password_hash };
  if (next.name === current.name && next.role === current.role && next.password_hash === current.password_hash) return current;
  const updated = await tx
    .updateTable('members')
    .set({
      ...next,
      ...(patch.passwordHash
        ? { ...passwordOf(actor, patch.passwordHash, id), failed_sign_ins: 0, locked_until: null, failed_shared_sign_ins: 0, shared_locked_until: null }
        : {}),
      version: current.version + 1,
      updated_at: new Date(),
    })
    .where('org_id', '=', actor.orgId)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();
  if (outranks(current.role, updated.role)) {
    await lowerKeysOf(tx, actor, id, updated.role);
    await assertOwnerLeft(tx, actor.orgId);
  }
  if (next.role !== current.role || patch.passwordHash !== undefined) await endInvitation(tx, actor.orgId, id);
  if (patch.passwordHash !== undefined) await tx.deleteFrom('sessions').where('org_id', '=', actor.orgId).where('member_id', '=', id).execute();
  const passwordChanged = patch.passwordHash === undefined ? {} : { password: 'changed' };
  await recordAudit(tx, actor, {
    action: 'member.updated',
    objectType: 'member',
    objectId: id,
    before: auditable(current),
    after: { ...auditable(updated), ...passwordChanged },
  });
  await emit(tx, actor.orgId, { type: 'member.updated', subject: id, data: { ...auditable(updated), ...passwordChanged } });
  return updated;
}

/** The member's keys are revoked in the same transaction. The foreign key deletes the sessions. */
export async function removeMember(tx: TenantTx, actor: Actor, id: string): Promise<void> {
  await lockForAccessChange(tx, actor, 'exclusive');
  const current = await readMember(tx, actor.orgId, id);
  assertNotAbove(actor, current.role, 'The member');
  await lowerKeysOf(tx, actor, id, null);
  await forgetPerson(tx, actor.orgId, id);
  await tx.deleteFrom('members').where('org_id', '=', actor.orgId).where('id', '=', id).execute();
  await assertOwnerLeft(tx, actor.orgId);
  await recordAudit(tx, actor, { action: 'member.removed', objectType: 'member', objectId: id, before: auditable(current) });
  await emit(tx, actor.orgId, { type: 'member.removed', subject: id, data: auditable(current) });
}

/** Ends the sessions of the account too, because it may no longer belong to the member. */
export async function unlinkMember(tx: TenantTx, actor: Actor, id: string): Promise<void> {
  await lockForAccessChange(tx, actor, 'exclusive');
  const { role } = await readMember(tx, actor.orgId, id);
  assertNotAbove(actor, role, 'The member');
  const links = await tx.deleteFrom('sso_subjects').where('org_id', '=', actor.orgId).where('member_id', '=', id).returning(['issuer', 'subject']).execute();
  if (links.length === 0) return;
  await tx.deleteFrom('sessions').where('org_id', '=', actor.orgId).where('member_id', '=', id).where('method', '=', 'oidc').execute();
  await recordAudit(tx, actor, ...links.map((before) => ({ action: 'member.subject_unlinked' as const, objectType: 'member', objectId: id, before })));
  await emit(tx, actor.orgId, ...links.map((data) => ({ type: 'member.subject_unlinked' as const, subject: id, data })));
}

/**
 * Threat: whoever chose a password can sign in as the member, and be the second person of a four-eyes rule. The member must change it first, and notices if
 * somebody else has done so. Whoever can use the command line can do anything.
 */
function passwordOf(actor: Actor, hash: string, memberId: string | null = null) {
  const isTrusted = actor.type === 'system' || (memberId !== null && actor.memberId === memberId);
  return { password_hash: hash, password_chosen_by: isTrusted ? null : actor.name };
}

function auditable({ email, name, role }: MemberRow) {
  return { email, name, role };
}

export function listAllMembers(tx: TenantTx, orgId: string) {
  return tx.selectFrom('members').select(columns).where('org_id', '=', orgId).orderBy('email').execute();
}

export async function findMemberBy(tx: TenantTx, orgId: string, column: 'id' | 'email', value: string): Promise<{ id: string; email: string } | undefined> {
  return tx.selectFrom('members').select(['id', 'email']).where('org_id', '=', orgId).where(column, '=', value).executeTakeFirst();
}

export async function findMember(tx: TenantTx, orgId: string, email: string): Promise<MemberRow> {
  const member = await tx.selectFrom('members').select(columns).where('org_id', '=', orgId).where('email', '=', email.toLowerCase()).executeTakeFirst();
  if (!member) throw notFound('member', email);
  return member;
}
