import type { Database } from '../../db/database.ts';
import type { Actor } from '../../shared/actor.ts';
import { AppError } from '../../shared/errors.ts';
import { type MemberRow, readMember, updateMember } from '../members/members.ts';
import { hashPassword, verifyPassword } from './passwords.ts';

export async function changeOwnPassword(db: Database, actor: Actor, input: { current_password: string; new_password: string }): Promise<void> {
  const { id } = actor;
  if (actor.type !== 'member' || id === null) throw new AppError('conflict', 'Only a member who is signed in has a password to change.');
  const member = await db.withTenant(actor, (tx) => readMember(tx, actor.orgId, id));
  if (!(await verifyPassword(input.current_password, member.password_hash))) throw wrong();
  const passwordHash = await hashPassword(input.new_password);
  const unchanged = ({ password_hash }: MemberRow): void => {
    if (password_hash !== member.password_hash) throw wrong();
  };
  await db.withTenant(actor, (tx) => updateMember(tx, actor, id, { passwordHash }, unchanged));
}

function wrong(): AppError {
  return new AppError('invalid_credentials', 'The current password is wrong.');
}
