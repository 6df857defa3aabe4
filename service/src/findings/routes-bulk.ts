import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { problems } from '../http/schemas.ts';
import { invalidField } from '../shared/errors.ts';
import type { FindingDeps } from './deps.ts';
import { BulkAnswer, BulkBody } from './schemas-bulk.ts';
import { type BulkRequest, changeFindings } from './triage/bulk.ts';

export function bulkRoutes(app: App, deps: FindingDeps): void {
  app.post(
    '/findings/bulk',
    {
      config: { access: 'findings:triage' },
      schema: {
        operationId: 'changeFindings',
        summary: 'Change many findings',
        description:
          'One change for many findings: those named by `ids` (10,000 at the most) or found by `filter` (100,000 at the most). The rules are those for a single finding; those that the change is not allowed for stay as they are and are named in the answer.',
        tags: ['Findings'],
        headers: IdempotencyHeaders,
        body: BulkBody,
        response: { 200: BulkAnswer, ...problems('not_found', 'conflict', 'idempotency_key_reused') },
      },
    },
    (request, reply) => {
      const body = request.body as BulkRequest;
      assertMeant(body);
      return answerOnce(deps, request, reply, async (tx) => ({ status: 200, body: await changeFindings(tx, request.actor, body, deps.follower) }));
    },
  );
}

function assertMeant({ ids, filter, change }: BulkRequest): void {
  if ((ids === undefined) === (filter === undefined)) {
    throw invalidField({ in: 'body', path: '/ids', code: 'required', detail: 'Either ids or filter says which findings: give one of them.' });
  }
  const { status, severity, add_tags, remove_tags, work_item_id } = change;
  if ([status, severity, add_tags, remove_tags, work_item_id].every((given) => given === undefined)) {
    throw invalidField({
      in: 'body',
      path: '/change',
      code: 'required',
      detail: 'Nothing is to be changed: give status, severity, add_tags, remove_tags or work_item_id.',
    });
  }
}
