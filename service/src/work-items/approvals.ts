import { sql } from 'kysely';
import { recordAudit } from '../audit/record.ts';
import type { TenantTx } from '../db/database.ts';
import { emit } from '../events/emit.ts';
import { readPolicy } from '../findings/policy.ts';
import { personOf } from '../findings/triage.ts';
import type { Actor } from '../shared/actor.ts';
import { AppError, invalidField } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { lockItems } from './locks.ts';
import { type ApprovalRow, readItem, type WorkItemRow } from './read.ts';

export interface Decision {
  decision: 'approved' | 'rejected';
  comment?: string;
}

/** A record of what somebody thought of the work as it was then; it changes nothing else and never changes. */
export async function decideOnItem(tx: TenantTx, actor: Actor, id: string, { decision, comment }: Decision): Promise<ApprovalRow> {
  const { orgId } = actor;
  await lockItems(tx, orgId);
  const item = await readItem(tx, orgId, id);
  if (decision === 'rejected' && !comment?.trim()) {
    throw invalidField({ in: 'body', path: '/comment', code: 'required', detail: 'is required: it says what is missing' });
  }
  if (item.status === 'cancelled') throw new AppError('conflict', `The work item "${id}" was cancelled: there is nothing to approve or reject.`);
  const part = await partIn(tx, actor, item);
  if (decision === 'approved' && part !== null && (await readPolicy(tx, orgId)).four_eyes) {
    throw new AppError('conflict', `Your organization asks for four eyes, and you ${part}. Let somebody approve who had no part in the work.`);
  }
  const { id: item_id, status: item_status, version: item_version } = item;
  const approval = await tx
    .insertInto('work_item_approvals')
    .values({
      org_id: orgId,
      work_item_id: item_id,
      id: newId(),
      decision,
      comment: comment ?? null,
      actor_type: actor.type,
      actor_id: actor.id,
      actor_name: actor.name,
      person: personOf(actor),
      independent: part === null,
      item_status,
      item_version,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const after = { approval_id: approval.id, comment: comment ?? null, independent: part === null, status: item_status };
  await recordAudit(tx, actor, { action: `work_item.${decision}`, objectType: 'work_item', objectId: id, after });
  await emit(tx, orgId, { type: `work_item.${decision}`, subject: id, data: after });
  return approval;
}

/** What the one who decides did for the item; `null`: nothing. */
async function partIn(tx: TenantTx, actor: Actor, { id, assignee, assignee_member_id, created_by }: WorkItemRow): Promise<string | null> {
  const person = personOf(actor);
  if ((assignee_member_id !== null && assignee_member_id === person) || assignee?.toLowerCase() === actor.name.toLowerCase()) return 'are its assignee';
  const { rows } = await sql<{ person: string | null }>`
    select coalesce(k.owner_member_id::text, claims.actor_id) as person
    from (
      select distinct h.actor_id from work_item_findings l
      join finding_history h on h.org_id = ${actor.orgId} and h.finding_id = l.finding_id and h.after->>'status' = 'remediated'
      where l.org_id = ${actor.orgId} and l.work_item_id = ${id} and l.unlinked_at is null
    ) claims
    left join api_keys k on k.org_id = ${actor.orgId} and k.id::text = claims.actor_id`.execute(tx);
  if (person !== null && rows.some((claim) => claim.person === person)) return 'claimed that findings of it are remediated';
  return person !== null && created_by === person ? 'opened it' : null;
}
