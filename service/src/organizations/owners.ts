import { sql } from 'kysely';
import type { TenantTx } from '../db/database.ts';
import type { Actor } from '../shared/actor.ts';
import { AppError } from '../shared/errors.ts';
import { outranks, type Role } from '../shared/permissions.ts';

/** Nobody hands out, changes or takes away more than they have themselves. */
export function assertNotAbove(actor: Actor, role: Role, what: string): void {
  if (outranks(role, actor.role))
    throw new AppError('forbidden', `${what} has the role ${role}, which is above your own (${actor.role}). Ask somebody with that role.`);
}

/** Call it after the change, holding the organization's lock: the change is undone when nobody could own the organization any more. */
export async function assertOwnerLeft(tx: TenantTx, orgId: string): Promise<void> {
  const { rows } = await sql<{ left: boolean }>`
    select exists (select from members where org_id = ${orgId} and role = 'owner')
        or exists (select from api_keys where org_id = ${orgId} and role = 'owner' and revoked_at is null and expires_at is null) as left`.execute(tx);
  if (!rows[0]?.left)
    throw new AppError('last_owner', 'The organization would have no owner any more. Make another member or a key without expiry an owner first.');
}
