import { sql } from 'kysely';
import type { TenantTx, Tx } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import { outranks, type Role } from '../../shared/permissions.ts';
import { lockOrganization } from '../organization.ts';

/** Nobody hands out, changes or takes away more than they have themselves. */
export function assertNotAbove(actor: Actor, role: Role, what: string): void {
  if (outranks(role, actor.role))
    throw new AppError('forbidden', `${what} has the role ${role}, which is above your own (${actor.role}). Ask somebody with that role.`);
}

/**
 * Changes to who may do what come one after the other; those that only add, or take from one alone, may come together. One that
 * had to wait looks again: its own credential may have fallen meanwhile, and what it adds would escape that fall.
 */
export async function takeTurn(tx: Tx, actor: Actor, mode: 'exclusive' | 'shared'): Promise<void> {
  await lockOrganization(tx, actor.orgId, mode);
  const fallen = async (): Promise<boolean> => {
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
  if (await fallen()) throw new AppError('forbidden', 'Your credential was revoked or lowered while this request was under way. Nothing was changed.');
}

/** Call it after the change, holding the organization's lock: the change is undone when nobody could own the organization any more. */
export async function assertOwnerLeft(tx: TenantTx, orgId: string): Promise<void> {
  const { rows } = await sql<{ left: boolean }>`
    select exists (select from members where org_id = ${orgId} and role = 'owner')
        or exists (select from api_keys where org_id = ${orgId} and role = 'owner' and revoked_at is null and expires_at is null) as left`.execute(tx);
  if (!rows[0]?.left)
    throw new AppError('last_owner', 'The organization would have no owner any more. Make another member or a key without expiry an owner first.');
}
