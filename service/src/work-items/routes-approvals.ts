import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { problems } from '../http/schemas.ts';
import { decideOnItem, decideOnState } from './approvals/approvals.ts';
import { readDecidedState, showState } from './approvals/state.ts';
import type { WorkItemDeps } from './deps.ts';
import { toApproval } from './present.ts';
import { Approval, ApprovalCreate, ApprovalParams, ApprovedState, WorkItemParams, WorkItemState } from './schemas.ts';

export function approvalRoutes(app: App, deps: WorkItemDeps): void {
  app.get(
    '/work-items/:id/state',
    {
      config: { access: 'work_items:read' },
      schema: {
        operationId: 'getWorkItemState',
        summary: 'Get the state of a work item to approve',
        description:
          'Returns what an approval would be about: the title, the policy, each finding with its state and severity, findings that were removed, and artifacts. Send the digest with your decision. Changes that do not matter for the result, such as comments or new scores, do not change the digest.',
        tags: ['Work items'],
        params: WorkItemParams,
        response: { 200: WorkItemState, ...problems('not_found', 'unavailable') },
      },
    },
    async ({ actor, params }) => {
      const { digest, text, isIndependent } = await showState(deps.db, actor, params.id, deps.states);
      return { state_digest: digest, lines: text.split('\n'), independent: isIndependent };
    },
  );

  app.get(
    '/work-items/:id/approvals/:approval_id/state',
    {
      config: { access: 'work_items:read' },
      schema: {
        operationId: 'getApprovedState',
        summary: 'Get the state that was approved or rejected',
        description:
          'Returns the state of the work item that a decision was made on, as `GET /work-items/{id}/state` showed it then. Compare it with the current state to see what changed since.',
        tags: ['Work items'],
        params: ApprovalParams,
        response: { 200: ApprovedState, ...problems('not_found') },
      },
    },
    async ({ actor, params }) => {
      const { digest, lines } = await deps.db.withTenant(actor, (tx) => readDecidedState(tx, actor.orgId, { id: params.id, approvalId: params.approval_id }));
      return { state_digest: digest, lines: lines.split('\n') };
    },
  );

  app.post(
    '/work-items/:id/approvals',
    {
      config: { access: 'work_items:manage' },
      schema: {
        operationId: 'decideOnWorkItem',
        summary: 'Approve or reject a work item',
        description:
          'Records your decision on the state of the work item that you saw: `state_digest` is the digest that `GET /work-items/{id}/state` returned. Returns 409 and says what changed if the state is no longer current. The record cannot be changed later. Evidence packages show the state that was approved, and what changed since. If the four-eyes policy of your organization is on, nobody who took part in the work can approve it: creator, current and former assignees, and anybody who worked on it, added an artifact or claimed a finding as remediated. The same applies to members whose password was set by one of them.',
        tags: ['Work items'],
        params: WorkItemParams,
        headers: IdempotencyHeaders,
        body: ApprovalCreate,
        response: { 201: Approval, ...problems('not_found', 'conflict', 'idempotency_key_reused', 'unavailable') },
      },
    },
    (request, reply) => {
      const { actor, body } = request;
      const { id } = request.params;
      return decideOnState(deps, actor, { id, body }, (state) =>
        answerOnce(deps, request, reply, async (tx) => {
          const approval = await decideOnItem(tx, actor, { id, body, state, states: deps.states });
          return { status: 201, headers: { location: `/api/v1/work-items/${id}` }, body: toApproval(approval) };
        }),
      );
    },
  );
}
