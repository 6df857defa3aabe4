import { type TSchema, Type } from 'typebox';
import type { App } from '../http/app.ts';
import { assertVersion, expectedVersions, IfMatchHeaders } from '../http/requests/conditions.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { problems } from '../http/schemas.ts';
import type { FindingDeps } from './deps.ts';
import { showFinding } from './present.ts';
import { Finding, FindingParams } from './schemas.ts';
import { AcceptanceApproval, AcceptanceRejection } from './schemas-triage.ts';
import { type Answer, answerRequest } from './triage/answer-requests.ts';

interface AnswerRoute {
  answer: Answer;
  operationId: string;
  summary: string;
  description: string;
  body: TSchema;
}

const routes: readonly AnswerRoute[] = [
  {
    answer: 'approve',
    operationId: 'approveAcceptance',
    summary: 'Approve the acceptance of a risk',
    description:
      'Approves the pending request to accept the risk of the finding, which then becomes `risk_accepted`. Returns 409 if there is no request, if you made it yourself with any of your credentials, or if it has expired. Send `If-Match` to approve exactly what you have read.',
    body: AcceptanceApproval,
  },
  {
    answer: 'reject',
    operationId: 'rejectAcceptance',
    summary: 'Reject the acceptance of a risk',
    description:
      'Rejects the pending request to accept the risk of the finding, whose status stays. If you made the request, this withdraws it. Returns 409 if there is no request.',
    body: AcceptanceRejection,
  },
];

export function acceptanceRoutes(app: App, deps: FindingDeps): void {
  for (const { answer, body, ...described } of routes) {
    app.post(
      `/findings/:id/acceptance/${answer}`,
      {
        config: { access: 'findings:triage' },
        schema: {
          ...described,
          tags: ['Findings'],
          params: FindingParams,
          headers: Type.Object({ ...IdempotencyHeaders.properties, ...IfMatchHeaders.properties }),
          body,
          response: { 200: Finding, ...problems('not_found', 'conflict', 'invalid_transition', 'stale_version', 'idempotency_key_reused') },
        },
      },
      (request, reply) => {
        const { actor } = request;
        const expected = expectedVersions(request);
        const { reason = null } = request.body as { reason?: string };
        const answered = { id: request.params.id, answer, reason, check: (current: { version: number }) => assertVersion(current, expected) };
        return answerOnce(deps, request, reply, async (tx) => {
          const finding = await answerRequest(tx, actor, answered, deps.follower);
          return { status: 200, headers: { etag: `"${finding.version}"` }, body: await showFinding(tx, actor, finding) };
        });
      },
    );
  }
}
