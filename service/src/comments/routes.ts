import type { Static } from 'typebox';
import type { Database } from '../db/database.ts';
import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { listRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import type { Permission } from '../shared/permissions.ts';
import { addComment, type CommentedType, type CommentRow, listComments, withdrawComment } from './comments.ts';
import { Comment, CommentCreate, CommentedParams, CommentList, CommentParams, CommentQuery } from './schemas.ts';

interface CommentDeps {
  db: Database;
  secret: Buffer;
}

interface CommentedObject {
  type: CommentedType;
  path: '/findings/:id' | '/work-items/:id';
  /** Part of the ids of the operations. */
  operations: 'Finding' | 'WorkItem';
  name: string;
  tag: 'Findings' | 'Work items';
  read: Permission;
  write: Permission;
}

const commented: readonly CommentedObject[] = [
  { type: 'finding', path: '/findings/:id', operations: 'Finding', name: 'finding', tag: 'Findings', read: 'findings:read', write: 'findings:triage' },
  {
    type: 'work_item',
    path: '/work-items/:id',
    operations: 'WorkItem',
    name: 'work item',
    tag: 'Work items',
    read: 'work_items:read',
    write: 'work_items:manage',
  },
];

export function commentRoutes(deps: CommentDeps) {
  return (app: App): void => {
    for (const one of commented) commentRoutesOf(app, deps, one);
  };
}

function commentRoutesOf(app: App, deps: CommentDeps, { type, path, operations, name, tag, read, write }: CommentedObject): void {
  listRoute(app, deps, `${path}/comments`, {
    access: read,
    operationId: `list${operations}Comments`,
    summary: `List the comments on a ${name}`,
    description: `Returns the comments on a ${name}, newest first. Withdrawn comments are listed without their text.`,
    tag,
    params: CommentedParams,
    problems: ['not_found'],
    query: CommentQuery,
    list: CommentList,
    read: async (tx, { actor, params, page }) => presentPage(await listComments(tx, actor.orgId, { type, id: params.id }, page), toComment),
  });

  app.post(
    `${path}/comments`,
    {
      config: { access: write },
      schema: {
        operationId: `add${operations}Comment`,
        summary: `Comment on a ${name}`,
        description: `Adds a comment to a ${name}. A comment cannot be changed. It can be withdrawn.`,
        tags: [tag],
        params: CommentedParams,
        headers: IdempotencyHeaders,
        body: CommentCreate,
        response: { 201: Comment, ...problems('not_found', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce(deps, request, reply, async (tx) => ({
        status: 201,
        body: toComment(await addComment(tx, request.actor, { type, id: request.params.id }, request.body.text)),
      })),
  );

  app.post(
    `${path}/comments/:comment_id/withdraw`,
    {
      config: { access: write },
      schema: {
        operationId: `withdraw${operations}Comment`,
        summary: `Withdraw a comment on a ${name}`,
        description: 'Withdraws a comment. Its text is no longer shown. Only the author, or an owner or admin, can do so. Withdrawing it again has no effect.',
        tags: [tag],
        params: CommentParams,
        headers: IdempotencyHeaders,
        response: { 200: Comment, ...problems('not_found', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce(deps, request, reply, async (tx) => ({
        status: 200,
        body: toComment(await withdrawComment(tx, request.actor, { type, id: request.params.id }, request.params.comment_id)),
      })),
  );
}

function toComment({ text, person, author, created_at, withdrawn_at, withdrawn_by, id }: CommentRow): Static<typeof Comment> {
  return {
    id,
    text: withdrawn_at === null ? text : null,
    author,
    person: person === null ? null : { id: person, name: author },
    created_at: created_at.toISOString(),
    withdrawn_at: withdrawn_at?.toISOString() ?? null,
    withdrawn_by,
  };
}
