import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { problems } from '../http/schemas.ts';
import type { WorkItemDeps } from './deps.ts';
import { type Decision, decideOnItem } from './items/approvals.ts';
import { toApproval } from './present.ts';
import { Approval, ApprovalCreate, WorkItemParams } from './schemas.ts';

export function approvalRoutes(app: App, deps: WorkItemDeps): void {
  app.post(
    '/work-items/:id/approvals',
    {
      config: { access: 'work_items:manage' },
      schema: {
        operationId: 'decideOnWorkItem',
        summary: 'Approve or reject a work item',
        description:
          'A record of what you think of the work as it is now; it is never changed. Where the organization asks for four eyes, who opened the item, is its assignee or claimed one of its findings cannot approve it.',
        tags: ['Work items'],
        params: WorkItemParams,
        headers: IdempotencyHeaders,
        body: ApprovalCreate,
        response: { 201: Approval, ...problems('not_found', 'conflict', 'idempotency_key_reused') },
      },
    },
    (request, reply) => {
      const { id } = request.params;
      return answerOnce(deps, request, reply, async (tx) => {
        const approval = await decideOnItem(tx, request.actor, id, request.body as Decision);
        return { status: 201, headers: { location: `/api/v1/work-items/${id}` }, body: toApproval(approval) };
      });
    },
  );
}
