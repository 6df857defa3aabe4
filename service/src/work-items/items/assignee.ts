import type { TenantTx } from '../../db/database.ts';
import { invalidField } from '../../shared/errors.ts';
import { isUuid } from '../../shared/ids.ts';

export interface Assigned {
  assignee: string | null;
  assignee_member_id: string | null;
}

/** A member by id or e-mail, or a name for whoever is no member: a team, a supplier. */
export async function assigneeOf(tx: TenantTx, orgId: string, given: string | null): Promise<Assigned> {
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
      detail: 'is no id of a member of your organization; give an id, an e-mail or a name',
    });
  }
  return { assignee: given.trim(), assignee_member_id: null };
}
