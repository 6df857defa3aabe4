import type { Static } from 'typebox';
import type { App } from '../http/app.ts';
import { assertVersion, expectedVersions, IfMatchHeaders, setETag } from '../http/requests/conditions.ts';
import { getRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import type { OrganizationDeps } from './deps.ts';
import { readOrganization, updateOrganization } from './organization.ts';
import { policyOf } from './policy.ts';
import { Organization, OrganizationPatch } from './schemas.ts';
import { OrganizationUsage } from './schemas-usage.ts';

type OrganizationRow = Awaited<ReturnType<typeof readOrganization>>;

export function tenantRoutes(app: App, { db, readUsage }: OrganizationDeps): void {
  getRoute(app, { db }, '/organization', {
    access: 'organization:read',
    operationId: 'getOrganization',
    summary: 'Get your organization',
    description: 'Returns the organization that the credential belongs to. A credential gives access to one organization only.',
    tag: 'Organization',
    body: Organization,
    read: async (tx, { actor }) => toOrganization(await readOrganization(tx, actor.orgId)),
  });

  getRoute(app, { db }, '/organization/usage', {
    access: 'organization:read',
    operationId: 'getOrganizationUsage',
    summary: 'Get what your organization stores',
    description:
      'Returns how many objects your organization has and how much space they take. Sizes of files are exact. Sizes of rows are estimated from a sample of 1,000 rows. `policy.retention` of the organization says for how long objects are kept.',
    tag: 'Organization',
    body: OrganizationUsage,
    read: (tx, { actor }) => readUsage(tx, actor.orgId),
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
