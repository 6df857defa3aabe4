import type { Static } from 'typebox';
import type { Database } from '../db/database.ts';
import type { App } from '../http/app.ts';
import { assertVersion, expectedVersions, IfMatchHeaders, setETag } from '../http/requests/conditions.ts';
import { getRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import { readOrganization, updateOrganization } from './organization.ts';
import { policyOf } from './policy.ts';
import { Organization, OrganizationPatch } from './schemas.ts';

type OrganizationRow = Awaited<ReturnType<typeof readOrganization>>;

export function tenantRoutes(app: App, { db }: { db: Database }): void {
  getRoute(app, { db }, '/organization', {
    access: 'organization:read',
    operationId: 'getOrganization',
    summary: 'Get your organization',
    description: 'Returns the organization that the credential belongs to. A credential gives access to one organization only.',
    tag: 'Organization',
    body: Organization,
    read: async (tx, { actor }) => toOrganization(await readOrganization(tx, actor.orgId)),
  });

  app.patch(
    '/organization',
    {
      config: { access: 'organization:manage' },
      schema: {
        operationId: 'updateOrganization',
        summary: 'Change your organization',
        description:
          'Applies a JSON merge patch. Absent fields stay unchanged. Changes of the SLA update the deadlines of active findings in the background, and changes of `source_ranking` update severities and deadlines.',
        tags: ['Organization'],
        headers: IfMatchHeaders,
        body: OrganizationPatch,
        response: { 200: Organization, ...problems('stale_version') },
      },
    },
    async (request, reply) => {
      const expected = expectedVersions(request);
      const organization = await db.withTenant(request.actor, (tx) =>
        updateOrganization(tx, request.actor, request.body, (current) => assertVersion(current, expected)),
      );
      setETag(reply, organization);
      return reply.send(toOrganization(organization));
    },
  );
}

function toOrganization({ id, slug, name, policy, version, created_at, updated_at }: OrganizationRow): Static<typeof Organization> {
  return { id, slug, name, policy: policyOf(policy), version, created_at: created_at.toISOString(), updated_at: updated_at.toISOString() };
}
