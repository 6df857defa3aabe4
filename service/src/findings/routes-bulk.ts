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
          'Applies one change to many findings, selected either by `ids` (at most 10,000) or by `filter` (at most 100,000 matches). The rules are the same as for a single finding. Findings that the change is not allowed for stay unchanged and are listed in `refused`. If a field is missing for one of the findings, nothing is changed and the response is 400.',
        tags: ['Findings'],
        headers: IdempotencyHeaders,
        body: BulkBody,
        response: { 200: BulkAnswer, ...problems('not_found', 'conflict', 'idempotency_key_reused') },
      },
    },
    (request, reply) => {
      const { actor, body } = request;
      assertComplete(body);
      return answerOnce(deps, request, reply, async (tx) => ({ status: 200, body: await changeFindings(tx, actor, body, deps.follower) }));
    },
  );
}

function assertComplete({ ids, filter, change }: BulkRequest): void {
  if ((ids === undefined) === (filter === undefined)) {
    throw invalidField({ in: 'body', path: '/ids', code: 'required', detail: 'Set either `ids` or `filter`.' });
  }
  const { acceptance, reason, ...changes } = change;
  const { status, severity, add_tags, remove_tags, work_item_id } = changes;
  if (acceptance !== undefined) assertOnlyAnswer(acceptance, reason, changes);
  else if ([status, severity, add_tags, remove_tags, work_item_id].every((given) => given === undefined)) {
    throw invalidField({
      in: 'body',
      path: '/change',
      code: 'required',
      detail: '`change` must contain at least one of `status`, `severity`, `acceptance`, `add_tags`, `remove_tags` and `work_item_id`.',
    });
  }
}

function assertOnlyAnswer(acceptance: 'approve' | 'reject', reason: string | undefined, others: object): void {
  const [other] = Object.keys(others);
  if (other !== undefined) {
    throw invalidField({ in: 'body', path: `/change/${other}`, code: 'misplaced', detail: `\`${other}\` cannot be combined with \`acceptance\`.` });
  }
  if (acceptance === 'reject' && !reason?.trim()) {
    throw invalidField({ in: 'body', path: '/change/reason', code: 'required', detail: '`reason` is required: explain why the acceptance is rejected.' });
  }
}
