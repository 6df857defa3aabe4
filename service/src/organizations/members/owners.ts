import { sql } from 'kysely';
import type { TenantTx, Tx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import { outranks, type Role } from '../../shared/permissions.ts';
import { lockOrganization } from '../organization.ts';

/** Threat: privilege escalation. You cannot assign, change or remove a role higher than your own. */
export function assertNotAbove(actor: Actor, role: Role, subject: string): void {
  if (outranks(role, actor.role))
    throw new AppError('forbidden', `${subject} has the role ${role}, which is higher than your own role (${actor.role}). Ask someone with that role.`);
}

/**
 * Serializes changes to members and keys of an organization. Changes that only add, or that affect a single key, share the lock.
 * After the wait the actor's own credential is checked again: it may have been revoked or lowered meanwhile, and a key that it
 * creates now would escape that.
 */
export async function lockForAccessChange(tx: Tx, actor: Actor, mode: 'exclusive' | 'shared'): Promise<void> {
  await lockOrganization(tx, actor.orgId, mode);
  const isRevokedOrLowered = async (): Promise<boolean> => {
    if (actor.type === 'system' || actor.id === null) return false;
    if (actor.type === 'api_key') {
      const key = await tx
        .selectFrom('api_keys')
        .select(['role', 'revoked_at'])
        .where('org_id', '=', actor.orgId)
        .where('id', '=', actor.id)
        .executeTakeFirst();
      return !key || key.revoked_at !== null || outranks(actor.role, key.role);
    }
    if (actor.memberId === null) return false;
    const member = await tx.selectFrom('members').select('role').where('org_id', '=', actor.orgId).where('id', '=', actor.memberId).executeTakeFirst();
    return !member || (actor.type === 'member' && outranks(actor.role, member.role));
  };
  if (await isRevokedOrLowered())
    throw new AppError('forbidden', 'Your credential was revoked, or its role was lowered, while the request was running. The change was not applied.');
}

/** Call it after the change, with the organization locked. The error rolls the change back if it leaves the organization without an owner. */
export async function assertOwnerLeft(tx: TenantTx, orgId: string): Promise<void> {
  const { rows } = await sql<{ left: boolean }>`
    select exists (select from members where org_id = ${orgId} and role = 'owner')
        or exists (select from api_keys where org_id = ${orgId} and role = 'owner' and revoked_at is null and expires_at is null) as left`.execute(tx);
  if (!rows[0]?.left)
    throw new AppError(
      'last_owner',
      'The organization would have no owner. First give the owner role to another member or to an API key that does not expire.',
    );
}
