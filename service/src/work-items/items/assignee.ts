import type { TenantTx } from '../../db/database.ts';
import { invalidField } from '../../shared/errors.ts';
import { isUuid } from '../../shared/ids.ts';

export interface Assignee {
  assignee: string | null;
  assignee_member_id: string | null;
}

/** Finds a member by id or e-mail address. Any other text is taken as the name of an assignee who is not a member, such as a team or a supplier. */
export async function resolveAssignee(tx: TenantTx, orgId: string, given: string | null): Promise<Assignee> {
  if (given === null) return { assignee: null, assignee_member_id: null };
  const text = given.trim().toLowerCase();
  const member = await tx
    .selectFrom('members')
    .select(['id', 'email'])
    .where('org_id', '=', orgId)
    .where(isUuid(text) ? 'id' : 'email', '=', text)
    .executeTakeFirst();
  if (member) return { assignee: member.email, assignee_member_id: member.id };
  if (isUuid(text)) {
    throw invalidField({
      in: 'body',
      path: '/assignee',
      code: 'unknown_member',
      detail: 'is not the id of a member of your organization. Use the id or e-mail address of a member, or any other name',
    });
  }
  return { assignee: given.trim(), assignee_member_id: null };
}
