import { Type } from 'typebox';
import type { App } from '../http/app.ts';
import { assertSameSite, ownCookie, SESSION_COOKIE, tooMany } from '../http/requests/access.ts';
import { problems } from '../http/schemas.ts';
import { AppError } from '../shared/errors.ts';
import type { OrganizationDeps } from './deps.ts';
import { toMe } from './present-me.ts';
import { Me, PasswordChange, SessionCreate } from './schemas.ts';
import { OwnSessionList, SessionParams } from './schemas-invitations.ts';
import { changeOwnPassword } from './sign-in/own-password.ts';
import { endOwnSession, listOwnSessions } from './sign-in/own-sessions.ts';
import { signIn, signOut } from './sign-in/sessions.ts';

export function meRoutes(app: App, { db, sessionHours, publicUrl }: OrganizationDeps): void {
  const cookie = (value: string, seconds: number): string => ownCookie(publicUrl(), { name: SESSION_COOKIE, value, path: '/', seconds });

  app.get(
    '/me',
    {
      config: { access: 'authenticated' },
      schema: {
        operationId: 'getMe',
        summary: 'Get the current credential',
        description: 'Returns the person or API key behind the credential, its organization, role and permissions.',
        tags: ['Members and keys'],
        response: { 200: Me },
      },
    },
    async (request, reply) => reply.send(toMe(request.principal)),
  );

  app.put(
    '/me/password',
    {
      config: { access: 'authenticated' },
      schema: {
        operationId: 'changeOwnPassword',
        summary: 'Change your password',
        description:
          'Changes your password. Ends all your sessions, including the current one. Sign in again with the new password. `revoke_api_keys` also revokes your API keys, in case somebody else had the password. Returns 409 if the credential is not that of a member.',
        tags: ['Members and keys'],
        body: PasswordChange,
        response: { 204: Type.Null({ description: 'No content' }), ...problems('invalid_credentials', 'conflict') },
      },
    },
    async (request, reply) => {
      const { allowed, seconds } = app.failures.look(request.ip);
      if (!allowed) throw tooMany('Too many failed sign-ins from your IP address.', seconds);
      try {
        await changeOwnPassword(db, request.actor, request.body);
      } catch (error) {
        if (error instanceof AppError && error.code === 'invalid_credentials') app.failures.take(request.ip);
        throw error;
      }
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/me/sessions',
    {
      config: { access: 'authenticated' },
      schema: {
        operationId: 'listOwnSessions',
        summary: 'List your sessions',
        description: 'Returns the browser sessions of the member behind the credential, the newest first. Empty for an API key that belongs to no member.',
        tags: ['Members and keys'],
        response: { 200: OwnSessionList },
      },
    },
    async (request, reply) => {
      const current = request.credential?.kind === 'session' ? request.credential.token : null;
      const sessions = await db.withTenant(request.actor, (tx) => listOwnSessions(tx, request.actor, current));
      return reply.send({
        data: sessions.map(({ id, method, isCurrent, address, user_agent, created_at, expires_at }) => ({
          id,
          method,
          current: isCurrent,
          address,
          user_agent,
          created_at: created_at.toISOString(),
          expires_at: expires_at.toISOString(),
        })),
      });
    },
  );

  app.delete(
    '/me/sessions/:id',
    {
      config: { access: 'authenticated' },
      schema: {
        operationId: 'endOwnSession',
        summary: 'End one of your sessions',
        description: 'Ends one of your browser sessions immediately, on every replica. Sign-out ends the current one.',
        tags: ['Members and keys'],
        params: SessionParams,
        response: { 204: Type.Null({ description: 'No content' }), ...problems('not_found') },
      },
    },
    async (request, reply) => {
      await db.withTenant(request.actor, (tx) => endOwnSession(tx, request.actor, request.params.id));
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/sessions',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'createSession',
        summary: 'Sign in',
        description:
          'Signs in a member with e-mail and password and sets a session cookie. Use an API key for programs. After repeated failures, sign-in is delayed for the account and for the IP address.',
        tags: ['Members and keys'],
        body: SessionCreate,
        response: { 201: Me, ...problems('invalid_credentials', 'cross_site_request', 'conflict', 'rate_limited') },
      },
    },
    async (request, reply) => {
      assertSameSite(request, new URL(publicUrl()).origin);
      const { allowed, seconds } = app.failures.look(request.ip);
      if (!allowed) throw tooMany('Too many failed sign-ins from your IP address.', seconds);
      try {
        const { token, principal } = await signIn(db, request.body, request, sessionHours);
        return reply
          .code(201)
          .header('set-cookie', cookie(token, sessionHours * 3600))
          .send(toMe(principal));
      } catch (error) {
        if (error instanceof AppError && error.code === 'invalid_credentials') app.failures.take(request.ip);
        throw error;
      }
    },
  );

  app.delete(
    '/sessions/current',
    {
      config: { access: 'authenticated' },
      schema: {
        operationId: 'deleteSession',
        summary: 'Sign out',
        description: 'Ends the session of the cookie immediately, on every replica. Returns 409 if the request uses another credential.',
        tags: ['Members and keys'],
        response: { 204: Type.Null({ description: 'No content' }), ...problems('cross_site_request', 'conflict') },
      },
    },
    async (request, reply) => {
      const { actor, credential } = request;
      if (credential?.kind !== 'session') throw new AppError('conflict', 'The request has no session cookie. To revoke an API key, use DELETE /api-keys/{id}.');
      await db.withTenant(actor, (tx) => signOut(tx, actor, credential.token));
      return reply.code(204).header('set-cookie', cookie('', 0)).send(null);
    },
  );
}
