import type { Static } from 'typebox';
import type { Database } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import { lowerKeysOf } from '../api-keys/api-keys.ts';
import { type MemberRow, readMember, updateMember } from '../members/members.ts';
import type { PasswordChange } from '../schemas.ts';
import { hashPassword, verifyPassword } from './passwords.ts';

export async function changeOwnPassword(db: Database, actor: Actor, input: Static<typeof PasswordChange>): Promise<void> {
  const { id } = actor;
  if (actor.type !== 'member' || id === null) throw new AppError('conflict', 'Only a signed-in member has a password. Sign in, then change it.');
  const member = await db.withTenant(actor, (tx) => readMember(tx, actor.orgId, id));
  if (!(await verifyPassword(input.current_password, member.password_hash))) throw wrongPassword();
  const passwordHash = await hashPassword(input.new_password);
  const assertUnchanged = ({ password_hash }: MemberRow): void => {
    if (password_hash !== member.password_hash) throw wrongPassword();
  };
  await db.withTenant(actor, async (tx) => {
    await updateMember(tx, actor, { id, patch: { passwordHash }, check: assertUnchanged });
    if (input.revoke_api_keys) await lowerKeysOf(tx, actor, id, null);
  });
}

function wrongPassword(): AppError {
  return new AppError('invalid_credentials', 'The current password is wrong.');
}
