import type { Static } from 'typebox';
import { presentPage } from '../db/pages.ts';
import type { App } from '../http/app.ts';
import { assertVersion, expectedVersions, IfMatchHeaders, setETag } from '../http/requests/conditions.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { deleteRoute, getRoute, listRoute } from '../http/resource.ts';
import { problems } from '../http/schemas.ts';
import type { OrganizationDeps } from './deps.ts';
import { addMember, listMembers, type MemberRow, readMember, removeMember, unlinkMember, updateMember } from './members/members.ts';
import { IdParams, Member, MemberCreate, MemberList, MemberPatch, MemberQuery } from './schemas.ts';
import { hashPassword } from './sign-in/passwords.ts';

export function memberRoutes(app: App, { db, secret }: OrganizationDeps): void {
  listRoute(app, { db, secret }, '/members', {
    access: 'members:read',
    operationId: 'listMembers',
    summary: 'List members',
    description: 'Returns the members of your organization.',
    tag: 'Members and keys',
    query: MemberQuery,
    list: MemberList,
    read: async (tx, { actor, query, page }) => presentPage(await listMembers(tx, actor.orgId, query.q, page), toMember),
  });

  app.post(
    '/members',
    {
      config: { access: 'members:manage' },
      schema: {
        operationId: 'addMember',
        summary: 'Add a member',
        description:
          'Adds a member to your organization. You cannot assign a role higher than your own. A member without a password can sign in only through the identity provider. A member must change a password that you chose before changing anything else.',
        tags: ['Members and keys'],
        headers: IdempotencyHeaders,
        body: MemberCreate,
        response: { 201: Member, ...problems('conflict', 'idempotency_key_reused') },
      },
    },
    async (request, reply) => {
      const { password, ...input } = request.body;
      const passwordHash = password === undefined ? null : await hashPassword(password);
      return answerOnce({ db, secret }, request, reply, async (tx) => {
        const member = await addMember(tx, request.actor, { ...input, passwordHash });
        return { status: 201, headers: { location: `/api/v1/members/${member.id}`, etag: `"${member.version}"` }, body: toMember(member) };
      });
    },
  );

  getRoute(app, { db }, '/members/:id', {
    access: 'members:read',
    operationId: 'getMember',
    summary: 'Get a member',
    description: 'Returns one member of your organization.',
    tag: 'Members and keys',
    params: IdParams,
    body: Member,
    read: async (tx, { actor, params }) => toMember(await readMember(tx, actor.orgId, params.id)),
  });

  app.patch(
    '/members/:id',
    {
      config: { access: 'members:manage' },
      schema: {
        operationId: 'updateMember',
        summary: 'Change a member',
        description:
          "Applies a JSON merge patch. A lower role also applies to the member's API keys. A new password ends the member's sessions. The member must change a password that you chose before changing anything else.",
        tags: ['Members and keys'],
        params: IdParams,
        headers: IfMatchHeaders,
        body: MemberPatch,
        response: { 200: Member, ...problems('not_found', 'last_owner', 'stale_version') },
      },
    },
    async (request, reply) => {
      const { password, ...patch } = request.body;
      const expected = expectedVersions(request);
      const hashed = { ...patch, ...(password === undefined ? {} : { passwordHash: await hashPassword(password) }) };
      const member = await db.withTenant(request.actor, (tx) =>
        updateMember(tx, request.actor, { id: request.params.id, patch: hashed, check: (current) => assertVersion(current, expected) }),
      );
      setETag(reply, member);
      return reply.send(toMember(member));
    },
  );

  deleteRoute(app, { db }, '/members/:id', {
    access: 'members:manage',
    operationId: 'removeMember',
    summary: 'Remove a member',
    description: "Removes a member. Ends the member's sessions and revokes the member's API keys immediately.",
    tag: 'Members and keys',
    params: IdParams,
    problems: ['last_owner'],
    remove: (tx, { actor, params }) => removeMember(tx, actor, params.id),
  });

  deleteRoute(app, { db }, '/members/:id/identity-provider-link', {
    access: 'members:manage',
    operationId: 'unlinkMember',
    summary: 'Unlink a member from the identity provider',
    description:
      "Removes the link between a member and an account at the identity provider. Until then no other account can become the member, even with the same e-mail address. Ends the sessions that were opened through the identity provider. The next account that signs in with the member's verified e-mail address is linked.",
    tag: 'Members and keys',
    params: IdParams,
    remove: (tx, { actor, params }) => unlinkMember(tx, actor, params.id),
  });
}

function toMember({ id, email, name, role, password_hash, password_chosen_by, is_linked, version, created_at, updated_at }: MemberRow): Static<typeof Member> {
  return {
    id,
    email,
    name,
    role,
    has_password: password_hash !== null,
    must_change_password: password_chosen_by !== null,
    identity_provider_linked: is_linked,
    version,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
