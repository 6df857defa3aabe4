import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../http/app.ts';
import { assertSameSite, ownCookie, SESSION_COOKIE, tooMany } from '../http/requests/access.ts';
import { answerOnce, IdempotencyHeaders } from '../http/requests/idempotency.ts';
import { problems } from '../http/schemas.ts';
import type { Principal } from '../shared/actor.ts';
import { AppError } from '../shared/errors.ts';
import type { OrganizationDeps } from './deps.ts';
import { toMe } from './present-me.ts';
import { IdParams, Me } from './schemas.ts';
import { Invitation, InvitationAcceptance, InvitationCreated, InvitationParams, SetupBody } from './schemas-invitations.ts';
import { acceptInvitation, createInvitation, readInvitation } from './sign-in/invitations.ts';
import { setUp } from './sign-in/setup.ts';

/** The page of the console on which a member chooses a password. The token is in the fragment, which browsers do not send. */
const INVITATION_PAGE = '/invitation#token=';

export function invitationRoutes(app: App, { db, secret, sessionHours, publicUrl }: OrganizationDeps): void {
  app.post(
    '/members/:id/invitations',
    {
      config: { access: 'members:manage' },
      schema: {
        operationId: 'inviteMember',
        summary: 'Invite a member or reset a password',
        description:
          'Creates a link with which the member chooses a password, so that nobody else knows it. The link works once, for 24 hours. It replaces an earlier link of the member, and ends if the role or the password of the member changes. The current password works until the link is used.',
        tags: ['Members and keys'],
        params: IdParams,
        headers: IdempotencyHeaders,
        response: { 201: InvitationCreated, ...problems('not_found', 'idempotency_key_reused') },
      },
    },
    (request, reply) =>
      answerOnce({ db, secret }, request, reply, async (tx) => {
        const { id, kind, token, expiresAt } = await createInvitation(tx, request.actor, request.params.id);
        return { status: 201, body: { id, kind, url: `${publicUrl()}${INVITATION_PAGE}${token}`, expires_at: expiresAt.toISOString() } };
      }),
  );

  /** Threat: guessing tokens. Failures count for the address like failed sign-ins. */
  const limited = async <T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> => {
    const { allowed, seconds } = app.failures.look(request.ip);
    if (!allowed) throw tooMany('Too many failed sign-ins from your IP address.', seconds);
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_found') app.failures.take(request.ip);
      throw error;
    }
  };
  const signedIn = (reply: FastifyReply, { token, principal }: { token: string; principal: Principal }) =>
    reply
      .code(201)
      .header('set-cookie', ownCookie(publicUrl(), { name: SESSION_COOKIE, value: token, path: '/', seconds: sessionHours * 3_600 }))
      .send(toMe(principal));

  app.get(
    '/invitations/:token',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'getInvitation',
        summary: 'Get an invitation',
        description: 'Returns whose password a link sets. The token of the link is the only credential.',
        tags: ['Members and keys'],
        params: InvitationParams,
        response: { 200: Invitation, ...problems('not_found', 'rate_limited') },
      },
    },
    async (request, reply) => {
      const { organization, expiresAt, ...found } = await limited(request, () => readInvitation(db, request.params.token));
      const { id, slug, name } = organization;
      return reply.send({ ...found, organization: { id, slug, name }, expires_at: expiresAt.toISOString() });
    },
  );

  app.post(
    '/invitations/:token',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'acceptInvitation',
        summary: 'Choose a password with an invitation',
        description:
          "Sets the member's password, ends the member's other sessions and signs in with a session cookie. The token of the link is the only credential. It works once.",
        tags: ['Members and keys'],
        params: InvitationParams,
        body: InvitationAcceptance,
        response: { 201: Me, ...problems('not_found', 'cross_site_request', 'rate_limited') },
      },
    },
    async (request, reply) => {
      assertSameSite(request, new URL(publicUrl()).origin);
      const how = { caller: request, hours: sessionHours };
      return signedIn(reply, await limited(request, () => acceptInvitation(db, request.params.token, request.body, how)));
    },
  );

  app.post(
    '/setup',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'setUp',
        summary: 'Set up the service',
        description:
          'Creates the first member of the organization, with the role owner, and signs in with a session cookie. Needs the setup key that the first start printed. It works once, and only while the organization has no members.',
        tags: ['Members and keys'],
        body: SetupBody,
        response: { 201: Me, ...problems('not_found', 'cross_site_request', 'rate_limited') },
      },
    },
    async (request, reply) => {
      assertSameSite(request, new URL(publicUrl()).origin);
      return signedIn(reply, await limited(request, () => setUp(db, request.body, { caller: request, hours: sessionHours })));
    },
  );
}
