import { sql } from 'kysely';
import { recordAudit } from '../audit/record.ts';
import type { TenantTx } from '../db/database.ts';
import { fetchPage, type PageRequest } from '../db/pages.ts';
import { emit } from '../events/emit.ts';
import { readFinding } from '../findings/list/list.ts';
import type { Actor } from '../shared/actor.ts';
import { AppError, notFound } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { can } from '../shared/permissions.ts';
import { readItem } from '../work-items/items/read.ts';

export type CommentedType = 'finding' | 'work_item';

/** What a comment is about. */
export interface Commented {
  type: CommentedType;
  id: string;
}

const columns = ['id', 'text', 'person', 'author', 'created_at', 'withdrawn_at', 'withdrawn_by'] as const;

async function assertExists(tx: TenantTx, orgId: string, { type, id }: Commented): Promise<void> {
  await (type === 'finding' ? readFinding(tx, orgId, id) : readItem(tx, orgId, id));
}

export async function listComments(tx: TenantTx, orgId: string, about: Commented, page: PageRequest) {
  await assertExists(tx, orgId, about);
  const query = tx.selectFrom('comments').select(columns).where('org_id', '=', orgId).where('object_type', '=', about.type).where('object_id', '=', about.id);
  return fetchPage(tx, query, { created_at: { column: 'created_at', type: 'timestamptz' } }, page);
}

export type CommentRow = Awaited<ReturnType<typeof listComments>>['data'][number];

export async function addComment(tx: TenantTx, actor: Actor, about: Commented, text: string): Promise<CommentRow> {
  await assertExists(tx, actor.orgId, about);
  const comment = await tx
    .insertInto('comments')
    .values({
      org_id: actor.orgId,
      id: newId(),
      object_type: about.type,
      object_id: about.id,
      text,
      person: actor.person?.id ?? null,
      author: actor.person?.name ?? actor.name,
      created_at: sql<Date>`clock_timestamp()`,
    })
    .returning(columns)
    .executeTakeFirstOrThrow();
  await recordComment(tx, actor, about, { change: 'commented', id: comment.id });
  return comment;
}

/** The text is no longer shown. That there was a comment is. */
export async function withdrawComment(tx: TenantTx, actor: Actor, about: Commented, id: string): Promise<CommentRow> {
  const comment = await tx
    .selectFrom('comments')
    .select(columns)
    .where('org_id', '=', actor.orgId)
    .where('object_type', '=', about.type)
    .where('object_id', '=', about.id)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (!comment) throw notFound('comment', id);
  const isOwn = comment.person !== null && comment.person === actor.person?.id;
  if (!isOwn && !can(actor.role, 'members:manage')) throw new AppError('forbidden', 'Only the author, or an owner or admin, can withdraw a comment.');
  if (comment.withdrawn_at !== null) return comment;
  const withdrawn = await tx
    .updateTable('comments')
    .set({ withdrawn_at: sql<Date>`now()`, withdrawn_by: actor.person?.name ?? actor.name })
    .where('org_id', '=', actor.orgId)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();
  await recordComment(tx, actor, about, { change: 'comment_withdrawn', id });
  return withdrawn;
}

/** The audit trail and events name the comment, but not its text, which can be withdrawn. */
async function recordComment(
  tx: TenantTx,
  actor: Actor,
  { type, id: objectId }: Commented,
  { change, id }: { change: 'commented' | 'comment_withdrawn'; id: string },
) {
  const after = { comment_id: id };
  await recordAudit(tx, actor, { action: `${type}.${change}`, objectType: type, objectId, after });
  await emit(tx, actor.orgId, { type: `${type}.${change}`, subject: objectId, data: after });
}
