import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { getRoute, listRoute, patchRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import { invalidField } from '../shared/errors.ts';
import { scoreVector } from '../vulnerabilities/cvss.ts';
import type { FindingDeps } from './deps.ts';
import { listOccurrences } from './details/occurrences.ts';
import { toOccurrence } from './details/present.ts';
import { showListed } from './fields/derive.ts';
import { namesFor } from './fields/names.ts';
import { listFindings, readFinding, readHistory } from './list/list.ts';
import { showFinding, toHistoryEntry } from './present.ts';
import { acceptanceRoutes } from './routes-acceptance.ts';
import { bulkRoutes } from './routes-bulk.ts';
import { exportRoutes } from './routes-export.ts';
import { identityRoutes } from './routes-identity.ts';
import { importRoutes } from './routes-imports.ts';
import { sourceRoutes } from './routes-sources.ts';
import { statsRoutes } from './routes-stats.ts';
import { Finding, FindingCreate, FindingList, FindingParams } from './schemas.ts';
import { OccurrenceList, OccurrenceQuery } from './schemas-details.ts';
import { FindingQuery } from './schemas-filter.ts';
import { FindingPatch, HistoryList, HistoryQuery } from './schemas-triage.ts';
import { createFinding, type NewFinding } from './triage/create.ts';
import { updateFinding } from './triage/triage.ts';

export function findingRoutes(deps: FindingDeps) {
  return (app: App): void => {
    listRoute(app, deps, '/findings', {
      access: 'findings:read',
      operationId: 'listFindings',
      summary: 'List findings',
      description:
        'Returns the findings of your organization, highest risk first by default. A finding must match all filters. Several values of one filter are alternatives.',
      tag: 'Findings',
      query: FindingQuery,
      list: FindingList,
      read: async (tx, { actor, query, page }) => {
        const { limit: _limit, cursor: _cursor, sort: _sort, total: _total, ...filter } = query;
        const found = await listFindings(tx, actor.orgId, filter, page);
        const names = await namesFor(tx, actor.orgId, found.data);
        return presentPage(found, (row) => showListed(row, names));
      },
    });

    app.post(
      '/findings',
      {
        config: { access: 'findings:triage' },
        schema: {
          operationId: 'createFinding',
          summary: 'Create a finding',
          description:
            'Creates a finding manually, for weaknesses that no scanner reported. Returns 409 with the id of the existing finding if the weakness is already known at this location of the asset, and 422 with their ids if several hosts have the name in `asset`.',
          tags: ['Findings'],
          headers: IdempotencyHeaders,
          body: FindingCreate,
          response: { 201: Finding, ...problems('not_found', 'conflict', 'unprocessable', 'idempotency_key_reused') },
        },
      },
      (request, reply) => {
        const { actor, body } = request;
        assertCreatable(body);
        return answerOnce(deps, request, reply, async (tx) => {
          const finding = await createFinding(tx, actor, body, deps.follower);
          return {
            status: 201,
            headers: { location: `/api/v1/findings/${finding.id}`, etag: `"${finding.version}"` },
            body: await showFinding(tx, actor, finding),
          };
        });
      },
    );

    getRoute(app, deps, '/findings/:id', {
      access: 'findings:read',
      operationId: 'getFinding',
      summary: 'Get a finding',
      description:
        'Returns one finding with its texts, what each source says about it, why it is still open, where it occurs, its work items and the factors of its risk score.',
      tag: 'Findings',
      params: FindingParams,
      body: Finding,
      planning: 'once',
      read: async (tx, { actor, params }) => {
        const finding = await readFinding(tx, actor.orgId, params.id);
        return showFinding(tx, actor, finding);
      },
    });

    patchRoute(app, deps, '/findings/:id', {
      access: 'findings:triage',
      operationId: 'updateFinding',
      summary: 'Change a finding',
      description:
        'Changes status, severity or tags of a finding. Returns 409 with the allowed statuses if the change of status is not allowed. A severity that you set survives later scans. `null` restores the severity of the sources. Under the four-eyes policy, `risk_accepted` does not change the status: it requests an acceptance, which `acceptance` shows and another person must approve.',
      tag: 'Findings',
      params: FindingParams,
      patch: FindingPatch,
      body: Finding,
      problems: ['conflict', 'invalid_transition'],
      change: async (tx, { actor, params, patch, check }) => {
        const finding = await updateFinding(tx, actor, { id: params.id, patch, check }, deps.follower);
        return showFinding(tx, actor, finding);
      },
    });

    listRoute(app, deps, '/findings/:id/history', {
      access: 'findings:read',
      operationId: 'listFindingHistory',
      summary: 'List the history of a finding',
      description: 'Returns all changes of the finding by people, scans and the service, newest first.',
      tag: 'Findings',
      params: FindingParams,
      query: HistoryQuery,
      list: HistoryList,
      problems: ['not_found'],
      read: async (tx, { actor, params, page }) => presentPage(await readHistory(tx, actor.orgId, params.id, page), toHistoryEntry),
    });

    listRoute(app, deps, '/findings/:id/occurrences', {
      access: 'findings:read',
      operationId: 'listFindingOccurrences',
      summary: 'List the occurrences of a finding',
      description: 'Returns every place of the asset where a source reports the finding, or has reported it: paths, URLs, resources, ports and packages.',
      tag: 'Findings',
      params: FindingParams,
      query: OccurrenceQuery,
      list: OccurrenceList,
      problems: ['not_found'],
      read: async (tx, { actor, params, page }) => presentPage(await listOccurrences(tx, actor.orgId, params.id, page), toOccurrence),
    });

    acceptanceRoutes(app, deps);
    bulkRoutes(app, deps);
    identityRoutes(app, deps);
    sourceRoutes(app, deps);
    statsRoutes(app, deps);
    exportRoutes(app, deps);
    importRoutes(app, deps);
  };
}

/** Tolerated difference between the clocks of client and server. */
const SKEW_MS = 86_400_000;

function assertCreatable({ asset, asset_id, cvss, first_seen }: NewFinding): void {
  if ((asset === undefined) === (asset_id === undefined)) {
    throw invalidField({ in: 'body', path: '/asset', code: 'required', detail: 'Set either `asset` or `asset_id`.' });
  }
  if (cvss && !scoreVector(cvss.vector)) {
    throw invalidField({
      in: 'body',
      path: '/cvss/vector',
      code: 'wrong_format',
      detail: '`cvss.vector` must be a complete CVSS 2.0, 3.0, 3.1 or 4.0 vector.',
    });
  }
  if (first_seen !== undefined && Date.parse(first_seen) > Date.now() + SKEW_MS) {
    throw invalidField({ in: 'body', path: '/first_seen', code: 'in_the_future', detail: '`first_seen` must not be in the future.' });
  }
}
