import type { Static } from 'typebox';
import type { Database } from '../db/database.ts';
import type { App } from '../http/app.ts';
import { assertVersion, expectedVersions, IfMatchHeaders, setETag } from '../http/requests/conditions.ts';
import { problems } from '../http/schemas.ts';
import { type OrganizationPatch as Patch, readOrganization, updateOrganization } from './organization.ts';
import { policyOf } from './policy.ts';
import { Organization, OrganizationPatch } from './schemas.ts';

type OrganizationRow = Awaited<ReturnType<typeof readOrganization>>;

export function tenantRoutes(app: App, { db }: { db: Database }): void {
  app.get(
    '/organization',
    {
      config: { access: 'organization:read' },
      schema: {
        operationId: 'getOrganization',
        summary: 'Get your organization',
        description: 'The organization of the credential. There is no way to name another.',
        tags: ['Organization'],
        response: { 200: Organization },
      },
    },
    async (request, reply) => {
      const organization = await db.withTenant(request.actor, (tx) => readOrganization(tx, request.actor.orgId));
      setETag(reply, organization);
      return reply.send(toOrganization(organization));
    },
  );

  app.patch(
    '/organization',
    {
      config: { access: 'organization:manage' },
      schema: {
        operationId: 'updateOrganization',
        summary: 'Change your organization',
        description: 'A JSON merge patch: what is absent stays. Another SLA changes the deadlines of active findings shortly afterwards.',
        tags: ['Organization'],
        headers: IfMatchHeaders,
        body: OrganizationPatch,
        response: { 200: Organization, ...problems('stale_version') },
      },
    },
    async (request, reply) => {
      const expected = expectedVersions(request);
      const organization = await db.withTenant(request.actor, (tx) =>
        updateOrganization(tx, request.actor, request.body as Patch, (current) => assertVersion(current, expected)),
      );
      setETag(reply, organization);
      return reply.send(toOrganization(organization));
    },
  );
}

function toOrganization({ id, slug, name, policy, version, created_at, updated_at }: OrganizationRow): Static<typeof Organization> {
  return { id, slug, name, policy: policyOf(policy), version, created_at: created_at.toISOString(), updated_at: updated_at.toISOString() };
}
