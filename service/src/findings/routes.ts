import type { App } from '../http/app.ts';
import { readPage } from '../http/paging.ts';
import { assertVersion, expectedVersions, IfMatchHeaders, setETag } from '../http/requests/conditions.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { problems } from '../http/schemas.ts';
import { invalidField } from '../shared/errors.ts';
import { scoreVector } from '../vulnerabilities/cvss.ts';
import type { FindingDeps } from './deps.ts';
import { showListed } from './fields/derive.ts';
import type { FindingRow } from './fields/field.ts';
import type { FindingFilter } from './list/filter.ts';
import { listFindings, readDetails, readFinding, readHistory } from './list/list.ts';
import { namesFor } from './list/names.ts';
import { toFinding, toHistoryEntry } from './present.ts';
import { bulkRoutes } from './routes-bulk.ts';
import { exportRoutes } from './routes-export.ts';
import { importRoutes } from './routes-imports.ts';
import { statsRoutes } from './routes-stats.ts';
import { Finding, FindingCreate, FindingList, FindingParams, FindingPatch, FindingQuery, HistoryList, HistoryQuery } from './schemas.ts';
import { createFinding, type NewFinding } from './triage/create.ts';
import { type FindingPatch as Patch, updateFinding } from './triage/triage.ts';

export function findingRoutes(deps: FindingDeps) {
  return (app: App): void => {
    const { db, secret } = deps;

    app.get(
      '/findings',
      {
        config: { access: 'findings:read' },
        schema: {
          operationId: 'listFindings',
          summary: 'List findings',
          description: 'All findings of your organization, riskiest first. Filters are combined; several values of one filter are alternatives.',
          tags: ['Findings'],
          querystring: FindingQuery,
          response: { 200: FindingList, ...problems('invalid_cursor') },
        },
      },
      async (request, reply) => {
        const { orgId } = request.actor;
        const { limit: _limit, cursor: _cursor, sort: _sort, total: _total, ...filter } = request.query;
        const { data, page, names } = await readPage({ db, secret }, request, reply, async (tx, page) => {
          const found = await listFindings(tx, orgId, filter as FindingFilter, page);
          return { ...found, names: await namesFor(tx, orgId, found.data) };
        });
        return reply.send({ data: data.map((row) => showListed(row, names)), page });
      },
    );

    app.post(
      '/findings',
      {
        config: { access: 'findings:triage' },
        schema: {
          operationId: 'createFinding',
          summary: 'Create a finding by hand',
          description: 'For what no scanner found. One that is already known at this place of the asset is answered with 409 and its id.',
          tags: ['Findings'],
          headers: IdempotencyHeaders,
          body: FindingCreate,
          response: { 201: Finding, ...problems('not_found', 'conflict', 'idempotency_key_reused') },
        },
      },
      (request, reply) => {
        const body = request.body as NewFinding;
        assertCreatable(body);
        return answerOnce(deps, request, reply, async (tx) => {
          const finding = await createFinding(tx, request.actor, body, deps.follower);
          const details = await readDetails(tx, request.actor.orgId, finding);
          return { status: 201, headers: { location: `/api/v1/findings/${finding.id}`, etag: `"${finding.version}"` }, body: toFinding(finding, details) };
        });
      },
    );

    app.get(
      '/findings/:id',
      {
        config: { access: 'findings:read' },
        schema: {
          operationId: 'getFinding',
          summary: 'Get a finding',
          description: 'Everything about one finding: its texts, every source that saw it, and how its risk score comes about.',
          tags: ['Findings'],
          params: FindingParams,
          response: { 200: Finding, ...problems('not_found') },
        },
      },
      async (request, reply) => {
        const { orgId } = request.actor;
        const { finding, details } = await db.withTenant(request.actor, async (tx) => {
          const finding = await readFinding(tx, orgId, request.params.id);
          return { finding, details: await readDetails(tx, orgId, finding) };
        });
        setETag(reply, finding);
        return reply.send(toFinding(finding, details));
      },
    );

    app.patch(
      '/findings/:id',
      {
        config: { access: 'findings:triage' },
        schema: {
          operationId: 'updateFinding',
          summary: 'Change a finding',
          description:
            'Status and severity, with the reason. A forbidden change of status is answered with 409 and the ways that are open. A severity of your own survives the next scan; null gives it back to the source.',
          tags: ['Findings'],
          params: FindingParams,
          headers: IfMatchHeaders,
          body: FindingPatch,
          response: { 200: Finding, ...problems('not_found', 'conflict', 'invalid_transition', 'stale_version') },
        },
      },
      async (request, reply) => {
        const { actor } = request;
        const expected = expectedVersions(request);
        const { finding, details } = await db.withTenant(actor, async (tx) => {
          const triage = { id: request.params.id, patch: request.body as Patch, check: (current: FindingRow) => assertVersion(current, expected) };
          const finding = await updateFinding(tx, actor, triage, deps.follower);
          return { finding, details: await readDetails(tx, actor.orgId, finding) };
        });
        setETag(reply, finding);
        return reply.send(toFinding(finding, details));
      },
    );

    app.get(
      '/findings/:id/history',
      {
        config: { access: 'findings:read' },
        schema: {
          operationId: 'listFindingHistory',
          summary: 'List the history of a finding',
          description: 'Every change of the finding by people and scans, newest first.',
          tags: ['Findings'],
          params: FindingParams,
          querystring: HistoryQuery,
          response: { 200: HistoryList, ...problems('not_found', 'invalid_cursor') },
        },
      },
      async (request, reply) => {
        const history = await readPage({ db, secret }, request, reply, (tx, page) => readHistory(tx, request.actor.orgId, request.params.id, page));
        return reply.send({ data: history.data.map(toHistoryEntry), page: history.page });
      },
    );

    bulkRoutes(app, deps);
    statsRoutes(app, deps);
    exportRoutes(app, deps);
    importRoutes(app, deps);
  };
}

/** Clocks differ. */
const SKEW_MS = 86_400_000;

function assertCreatable({ asset, asset_id, cvss, first_seen }: NewFinding): void {
  if ((asset === undefined) === (asset_id === undefined)) {
    throw invalidField({ in: 'body', path: '/asset', code: 'required', detail: 'Either asset or asset_id says what the finding is about: give one of them.' });
  }
  if (cvss && !scoreVector(cvss.vector)) {
    throw invalidField({ in: 'body', path: '/cvss/vector', code: 'wrong_format', detail: 'must be a complete CVSS 2.0, 3.0, 3.1 or 4.0 vector' });
  }
  if (first_seen !== undefined && Date.parse(first_seen) > Date.now() + SKEW_MS) {
    throw invalidField({ in: 'body', path: '/first_seen', code: 'in_the_future', detail: 'must not be in the future' });
  }
}
