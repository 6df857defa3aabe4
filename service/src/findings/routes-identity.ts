import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { getRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import type { FindingDeps } from './deps.ts';
import { readIdentity } from './details/identity.ts';
import { toIdentity } from './details/present.ts';
import type { FindingRow } from './fields/field.ts';
import { mergeByHand, splitByHand } from './identity-changes/by-hand.ts';
import { showFinding } from './present.ts';
import { Finding, FindingParams } from './schemas.ts';
import { FindingIdentity, FindingMerge, FindingSplit } from './schemas-identity.ts';

export function identityRoutes(app: App, deps: FindingDeps): void {
  getRoute(app, deps, '/findings/:id/identity', {
    access: 'findings:read',
    operationId: 'getFindingIdentity',
    summary: 'Explain the identity of a finding',
    description:
      'Returns what makes records of reports belong to the finding: its weakness with all aliases, its component, the identifiers of its asset, ids of tools, and merges.',
    tag: 'Findings',
    params: FindingParams,
    body: FindingIdentity,
    read: async (tx, { actor, params }) => toIdentity(await readIdentity(tx, actor.orgId, params.id)),
  });

  app.post(
    '/findings/:id/merge',
    {
      config: { access: 'findings:triage' },
      schema: {
        operationId: 'mergeFinding',
        summary: 'Merge two findings',
        description:
          'Merges two findings of one asset that are the same. The older one stays and is returned. It gets all sightings and the least closed status of both. The other one is no longer listed, and its `merged_into` names the one that stays. Returns 409 if one of them is already merged.',
        tags: ['Findings'],
        params: FindingParams,
        headers: IdempotencyHeaders,
        body: FindingMerge,
        response: { 200: Finding, ...problems('not_found', 'conflict', 'unprocessable', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce(deps, request, reply, async (tx) => {
        const { actor, params, body } = request;
        const finding = await mergeByHand(tx, actor, deps.follower, { id: params.id.toLowerCase(), into: body.into.toLowerCase(), reason: body.reason });
        return { status: 200, headers: { etag: etagOf(finding) }, body: await showFinding(tx, actor, finding) };
      }),
  );

  app.post(
    '/findings/:id/split',
    {
      config: { access: 'findings:triage' },
      schema: {
        operationId: 'splitFinding',
        summary: 'Undo the merge of a finding',
        description:
          'Separates a finding from the one that it was merged into, and returns it. Both get back their sightings and status. What scans and people changed since then is kept. Returns 409 if the finding is not merged, or was merged because its asset was.',
        tags: ['Findings'],
        params: FindingParams,
        headers: IdempotencyHeaders,
        body: FindingSplit,
        response: { 200: Finding, ...problems('not_found', 'conflict', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce(deps, request, reply, async (tx) => {
        const { actor, params, body } = request;
        const finding = await splitByHand(tx, actor, deps.follower, { id: params.id, reason: body.reason });
        return { status: 200, headers: { etag: etagOf(finding) }, body: await showFinding(tx, actor, finding) };
      }),
  );
}

const etagOf = ({ version }: FindingRow): string => `"${version}"`;
