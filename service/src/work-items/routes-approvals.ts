import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { problems } from '../http/schemas.ts';
import type { WorkItemDeps } from './deps.ts';
import { decideOnItem } from './items/approvals.ts';
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
          'Records your decision on the work item in its current version. The record cannot be changed later. If the four-eyes policy of your organization is on, nobody who took part in the work can approve it: creator, current and former assignees, and anybody who worked on it, added an artifact or claimed a finding as remediated.',
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
        const approval = await decideOnItem(tx, request.actor, id, request.body);
        return { status: 201, headers: { location: `/api/v1/work-items/${id}` }, body: toApproval(approval) };
      });
    },
  );
}
