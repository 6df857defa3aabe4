import { type Static, Type } from 'typebox';
import type { App } from '../http/app.ts';
import { readPage } from '../http/paging.ts';
import { assertVersion, expectedVersions, IfMatchHeaders, setETag } from '../http/requests/conditions.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { problems } from '../http/schemas.ts';
import type { OrganizationDeps } from './deps.ts';
import { addMember, listMembers, type MemberRow, readMember, removeMember, updateMember } from './members/members.ts';
import { IdParams, Member, MemberCreate, MemberList, MemberPatch, MemberQuery } from './schemas.ts';
import { hashPassword } from './sign-in/passwords.ts';

export function memberRoutes(app: App, { db, secret }: OrganizationDeps): void {
  app.get(
    '/members',
    {
      config: { access: 'members:read' },
      schema: {
        operationId: 'listMembers',
        summary: 'List members',
        description: 'The people of your organization.',
        tags: ['Members'],
        querystring: MemberQuery,
        response: { 200: MemberList, ...problems('invalid_cursor') },
      },
    },
    async (request, reply) => {
      const members = await readPage({ db, secret }, request, reply, (tx, page) => listMembers(tx, request.actor.orgId, page));
      return reply.send({ data: members.data.map(toMember), page: members.page });
    },
  );

  app.post(
    '/members',
    {
      config: { access: 'members:manage' },
      schema: {
        operationId: 'addMember',
        summary: 'Add a member',
        description: 'Nobody can give a role above their own. Without a password the member signs in through the identity provider only.',
        tags: ['Members'],
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

  app.get(
    '/members/:id',
    {
      config: { access: 'members:read' },
      schema: {
        operationId: 'getMember',
        summary: 'Get a member',
        description: 'One member of your organization.',
        tags: ['Members'],
        params: IdParams,
        response: { 200: Member, ...problems('not_found') },
      },
    },
    async (request, reply) => {
      const member = await db.withTenant(request.actor, (tx) => readMember(tx, request.actor.orgId, request.params.id));
      setETag(reply, member);
      return reply.send(toMember(member));
    },
  );

  app.patch(
    '/members/:id',
    {
      config: { access: 'members:manage' },
      schema: {
        operationId: 'updateMember',
        summary: 'Change a member',
        description: "A JSON merge patch. A lower role lowers the member's API keys as well; a new password ends the member's sessions.",
        tags: ['Members'],
        params: IdParams,
        headers: IfMatchHeaders,
        body: MemberPatch,
        response: { 200: Member, ...problems('not_found', 'last_owner', 'stale_version') },
      },
    },
    async (request, reply) => {
      const { password, ...patch } = request.body;
      const expected = expectedVersions(request);
      const change = { ...patch, ...(password === undefined ? {} : { passwordHash: await hashPassword(password) }) };
      const member = await db.withTenant(request.actor, (tx) =>
        updateMember(tx, request.actor, request.params.id, change, (current) => assertVersion(current, expected)),
      );
      setETag(reply, member);
      return reply.send(toMember(member));
    },
  );

  app.delete(
    '/members/:id',
    {
      config: { access: 'members:manage' },
      schema: {
        operationId: 'removeMember',
        summary: 'Remove a member',
        description: "The member's sessions end and the member's API keys are revoked at once.",
        tags: ['Members'],
        params: IdParams,
        response: { 204: Type.Null({ description: 'Removed' }), ...problems('not_found', 'last_owner') },
      },
    },
    async (request, reply) => {
      await db.withTenant(request.actor, (tx) => removeMember(tx, request.actor, request.params.id));
      return reply.code(204).send(null);
    },
  );
}

function toMember({ id, email, name, role, password_hash, version, created_at, updated_at }: MemberRow): Static<typeof Member> {
  return { id, email, name, role, has_password: password_hash !== null, version, created_at: created_at.toISOString(), updated_at: updated_at.toISOString() };
}
