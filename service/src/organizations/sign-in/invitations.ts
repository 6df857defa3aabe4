import type { Static } from 'typebox';
import { recordAudit } from '../../audit/record.ts';
import type { Database, TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { Actor, Principal } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { can, outranks } from '../../shared/permissions.ts';
import { lowerKeysOf } from '../api-keys/api-keys.ts';
import { hashToken, mintToken, organizationOf } from '../api-keys/tokens.ts';
import { readMember, updateMember } from '../members/members.ts';
import { assertNotAbove, lockForAccessChange } from '../members/owners.ts';
import { readOrganization } from '../organization.ts';
import type { InvitationAcceptance } from '../schemas-invitations.ts';
import { hashPassword } from './passwords.ts';
import { actorOf, type Caller, openSession } from './sessions.ts';

const HOURS = 24;

/**
 * Creates a one-time link with which a member chooses a password, the first one or a new one. It replaces an earlier link of the member.
 *
 * Threat: the link is as good as the member's password. Whoever could not set the password cannot create the link, and the link ends as soon as the
 * password or the role of the member changes, or its creator loses the right to create it.
 */
export async function createInvitation(tx: TenantTx, actor: Actor, memberId: string) {
  await lockForAccessChange(tx, actor, 'shared');
  const member = await readMember(tx, actor.orgId, memberId);
  assertNotAbove(actor, member.role, 'The member');
  const { token, hash } = mintToken('inv', actor.orgId);
  const row = {
    org_id: actor.orgId,
    id: newId(),
    member_id: memberId,
    token_hash: hash,
    created_by: actor.name,
    creator_member_id: actor.memberId,
    creator_key_id: actor.type === 'api_key' ? actor.id : null,
    expires_at: new Date(Date.now() + HOURS * 3_600_000),
  };
  const { org_id: _org, member_id: _member, ...replacement } = row;
  await tx
    .insertInto('invitations')
    .values(row)
    .onConflict((conflict) => conflict.columns(['org_id', 'member_id']).doUpdateSet(replacement))
    .execute();
  const kind = kindOf(member);
  const after = { kind, email: member.email, expires_at: row.expires_at };
  await recordAudit(tx, actor, { action: 'member.invited', objectType: 'member', objectId: memberId, after });
  await emit(tx, actor.orgId, { type: 'member.invited', subject: memberId, data: after });
  return { id: row.id, kind, token, expiresAt: row.expires_at };
}

const kindOf = ({ password_hash }: { password_hash: string | null }): 'invitation' | 'password_reset' =>
  password_hash === null ? 'invitation' : 'password_reset';

interface Found {
  member: Awaited<ReturnType<typeof readMember>>;
  expiresAt: Date;
}

async function find(tx: TenantTx, orgId: string, token: string): Promise<Found | null> {
  const row = await tx
    .selectFrom('invitations as i')
    .leftJoin('members as c', (join) => join.onRef('c.org_id', '=', 'i.org_id').onRef('c.id', '=', 'i.creator_member_id'))
    .leftJoin('api_keys as k', (join) => join.onRef('k.org_id', '=', 'i.org_id').onRef('k.id', '=', 'i.creator_key_id'))
    .select([
      'i.member_id',
      'i.expires_at',
      'i.creator_member_id',
      'c.role as creator_role',
      'k.role as key_role',
      'k.revoked_at',
      'k.expires_at as key_expires_at',
    ])
    .where('i.org_id', '=', orgId)
    .where('i.token_hash', '=', hashToken(token))
    .executeTakeFirst();
  const isPast = (date: Date | null): boolean => date !== null && date.getTime() <= Date.now();
  if (!row?.member_id || row.expires_at === null || isPast(row.expires_at)) return null;
  if (row.revoked_at !== null || isPast(row.key_expires_at) || (row.creator_member_id !== null && row.creator_role === null)) return null;
  const member = await readMember(tx, orgId, row.member_id);
  const creators = [row.creator_role, row.key_role].filter((role) => role !== null);
  if (creators.some((role) => outranks(member.role, role) || !can(role, 'members:manage'))) return null;
  return { member, expiresAt: row.expires_at };
}

/** What the link is for, so that people see whose password they choose. */
export async function readInvitation(db: Database, token: string) {
  const orgId = organizationOf('inv', token);
  if (orgId === null) throw invalidLink();
  return db.withTenant({ orgId }, async (tx) => {
    const found = await find(tx, orgId, token);
    if (!found) throw invalidLink();
    const { member, expiresAt } = found;
    return { kind: kindOf(member), email: member.email, name: member.name, organization: await readOrganization(tx, orgId), expiresAt };
  });
}

/** Sets the password, ends the member's sessions and the link, and opens a session. */
export async function acceptInvitation(
  db: Database,
  token: string,
  { password, revoke_api_keys = false }: Static<typeof InvitationAcceptance>,
  { caller, hours }: { caller: Caller; hours: number },
): Promise<{ token: string; principal: Principal }> {
  const { organization, email } = await readInvitation(db, token);
  // Hashing is slow by design, so it happens between two transactions and only for links that exist.
  const passwordHash = await hashPassword(password);
  return db.withTenant({ orgId: organization.id }, async (tx) => {
    const found = await find(tx, organization.id, token);
    if (!found) throw invalidLink();
    const actor = actorOf({ ...found.member, org_id: organization.id }, caller);
    await lockForAccessChange(tx, actor, 'exclusive');
    const used = await tx
      .deleteFrom('invitations')
      .where('org_id', '=', actor.orgId)
      .where('token_hash', '=', hashToken(token))
      .returning('id')
      .executeTakeFirst();
    if (!used) throw invalidLink();
    await updateMember(tx, actor, { id: found.member.id, patch: { passwordHash }, check: () => {} });
    if (revoke_api_keys) await lowerKeysOf(tx, actor, found.member.id, null);
    const session = await openSession(tx, actor, { method: 'password', hours, caller });
    return { token: session.token, principal: { actor, organization, email, expiresAt: session.expiresAt, passwordChosenBy: null } };
  });
}

function invalidLink(): AppError {
  return new AppError('not_found', 'This link is unknown, expired or used. Ask an administrator of your organization for a new one.');
}
