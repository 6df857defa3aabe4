import type { Static } from 'typebox';
import type { Database } from '../db/database.ts';
import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { listRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import { type AliasFollower, type AliasRow, addAlias, listAliases, restoreAlias, revokeAlias } from './manage-aliases.ts';
import { AliasCreate, AliasParams, AliasQuery, AliasRestoration, AliasRevocation, VulnerabilityAlias, VulnerabilityAliasList } from './schemas.ts';

export interface VulnerabilityDeps {
  db: Database;
  /** Signs cursors. */
  secret: Buffer;
  follower: AliasFollower;
}

export function vulnerabilityRoutes({ db, secret, follower }: VulnerabilityDeps) {
  const deps = { db, secret };
  return (app: App): void => {
    listRoute(app, deps, '/vulnerability-aliases', {
      access: 'findings:read',
      operationId: 'listVulnerabilityAliases',
      summary: 'List aliases of vulnerabilities',
      description:
        'Returns which ids stand for one vulnerability, who says so, and whose records they count for. It includes claims that nobody has confirmed and revoked aliases.',
      tag: 'Findings',
      query: AliasQuery,
      list: VulnerabilityAliasList,
      read: async (tx, { actor, query, page }) => presentPage(await listAliases(tx, actor.orgId, query, page), toAlias),
    });

    app.post(
      '/vulnerability-aliases',
      {
        config: { access: 'findings:triage' },
        schema: {
          operationId: 'addVulnerabilityAlias',
          summary: 'Add an alias of a vulnerability',
          description:
            'Lets two ids count as one vulnerability for all sources. Findings of both on one asset become one. Returns 404 if no source has reported one of the ids, 409 if the alias is already in use or was revoked, and 422 if the alias is a CVE or the same id, or if each id would become an alias of the other.',
          tags: ['Findings'],
          headers: IdempotencyHeaders,
          body: AliasCreate,
          response: { 201: VulnerabilityAlias, ...problems('not_found', 'conflict', 'unprocessable', 'idempotency_key_reused') },
        },
      },
      (request, reply) =>
        answerOnce(deps, request, reply, async (tx) => ({ status: 201, body: toAlias(await addAlias(tx, request.actor, follower, request.body)) })),
    );

    app.post(
      '/vulnerability-aliases/:alias/revoke',
      {
        config: { access: 'findings:triage' },
        schema: {
          operationId: 'revokeVulnerabilityAlias',
          summary: 'Revoke an alias of a vulnerability',
          description:
            'Lets an alias no longer count, for any source. Findings that it made one come apart: each gets the reports that name its own id. Later reports do not bring the alias back. Returns 409 if it is already revoked.',
          tags: ['Findings'],
          params: AliasParams,
          headers: IdempotencyHeaders,
          body: AliasRevocation,
          response: { 200: VulnerabilityAlias, ...problems('not_found', 'conflict', 'idempotency_key_reused') },
        },
      },
      (request, reply) =>
        answerOnce(deps, request, reply, async (tx) => {
          const { actor, params, body } = request;
          return { status: 200, body: toAlias(await revokeAlias(tx, actor, follower, { alias: params.alias, reason: body.reason })) };
        }),
    );

    app.post(
      '/vulnerability-aliases/:alias/restore',
      {
        config: { access: 'findings:triage' },
        schema: {
          operationId: 'restoreVulnerabilityAlias',
          summary: 'Restore an alias of a vulnerability',
          description:
            'Lets a revoked alias count again, for all sources or for the tools that claim it, as before. Returns 409 if it is not revoked, and 422 if the two ids would be aliases of each other.',
          tags: ['Findings'],
          params: AliasParams,
          headers: IdempotencyHeaders,
          body: AliasRestoration,
          response: { 200: VulnerabilityAlias, ...problems('not_found', 'conflict', 'unprocessable', 'idempotency_key_reused') },
        },
      },
      (request, reply) =>
        answerOnce(deps, request, reply, async (tx) => {
          const { actor, params, body } = request;
          return { status: 200, body: toAlias(await restoreAlias(tx, actor, follower, { alias: params.alias, reason: body.reason })) };
        }),
    );
  };
}

function toAlias({ weakness, claims, created_at, revoked_at, ...alias }: AliasRow): Static<typeof VulnerabilityAlias> {
  return {
    ...alias,
    vulnerability: weakness,
    claims: claims.map((claim) => ({ provider: claim.provider, vulnerability: claim.weakness, claimed_at: new Date(claim.claimed_at).toISOString() })),
    created_at: created_at.toISOString(),
    revoked_at: revoked_at?.toISOString() ?? null,
  };
}
