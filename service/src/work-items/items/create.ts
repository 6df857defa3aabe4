import type { Static } from 'typebox';
import { recordAudit } from '../../audit/record.ts';
import type { TenantTx } from '../../db/database.ts';
import { emit } from '../../events/emit.ts';
import type { Actor } from '../../shared/actor.ts';
import { newId } from '../../shared/ids.ts';
import type { WorkItemCreate } from '../schemas.ts';
import { resolveAssignee } from './assignee.ts';
import { linkFindings, selectFindings } from './links.ts';
import { priorityRank } from './priority.ts';
import { readItem, type WorkItemRow } from './read.ts';

export async function createWorkItem(tx: TenantTx, actor: Actor, input: Static<WorkItemCreate>): Promise<WorkItemRow> {
  const { orgId } = actor;
  const { title, description = null, assignee, priority = 'medium', due_at, external_ref = null } = input;
  const ids = await selectFindings(tx, orgId, input);
  const id = newId();
  const assigned = await resolveAssignee(tx, orgId, assignee ?? null);
  const due = due_at === undefined ? null : new Date(due_at);
  const columns = { title, description, external_ref, ...assigned, priority: priorityRank(priority), ...(due === null ? {} : { due_at: due }) };
  await tx
    .insertInto('work_items')
    .values({ org_id: orgId, id, ...columns, created_by: actor.person?.id ?? null, created_by_name: actor.name })
    .execute();
  const after = { title, description, ...assigned, priority, due_at: due?.toISOString() ?? null, external_ref };
  await recordAudit(tx, actor, { action: 'work_item.created', objectType: 'work_item', objectId: id, after });
  await emit(tx, orgId, { type: 'work_item.created', subject: id, data: after });
  if (ids.length > 0) await linkFindings(tx, actor, id, { ids, filter: input.filter });
  return readItem(tx, orgId, id);
}
