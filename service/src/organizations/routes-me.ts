import type { Static } from 'typebox';
import { Type } from 'typebox';
import type { App } from '../http/app.ts';
import { assertSameSite, SESSION_COOKIE, tooMany } from '../http/requests/access.ts';
import { problems } from '../http/schemas.ts';
import type { Principal } from '../shared/actor.ts';
import { AppError } from '../shared/errors.ts';
import { permissionsOf } from '../shared/permissions.ts';
import type { OrganizationDeps } from './deps.ts';
import { Me, PasswordChange, SessionCreate } from './schemas.ts';
import { changeOwnPassword } from './sign-in/own-password.ts';
import { signIn, signOut } from './sign-in/sessions.ts';

export function meRoutes(app: App, { db, sessionHours, publicUrl }: OrganizationDeps): void {
  const cookie = (value: string, seconds: number): string =>
    `${SESSION_COOKIE}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${publicUrl().startsWith('https:') ? '; Secure' : ''}`;

  app.get(
    '/me',
    {
      config: { access: 'authenticated' },
      schema: {
        operationId: 'getMe',
        summary: 'Get yourself',
        description: 'Whom the credential stands for, in which organization, and what it may do.',
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
        description: 'For members. All sessions of the member end, this one too: sign in again with the new password.',
        tags: ['Members and keys'],
        body: PasswordChange,
        response: { 204: Type.Null({ description: 'Changed' }), ...problems('invalid_credentials', 'conflict') },
      },
    },
    async (request, reply) => {
      const { allowed, seconds } = app.failures.look(request.ip);
      if (!allowed) throw tooMany('Too many failed sign-ins from your address.', seconds);
      try {
        await changeOwnPassword(db, request.actor, request.body);
      } catch (error) {
        if (error instanceof AppError && error.code === 'invalid_credentials') app.failures.take(request.ip);
        throw error;
      }
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
          'Signs a member in with e-mail and password and sets a session cookie for the console. Programs use an API key instead. Repeated failures make the account and the address wait.',
        tags: ['Members and keys'],
        body: SessionCreate,
        response: { 201: Me, ...problems('invalid_credentials', 'cross_site_request', 'conflict', 'rate_limited') },
      },
    },
    async (request, reply) => {
      assertSameSite(request, new URL(publicUrl()).origin);
      const { allowed, seconds } = app.failures.look(request.ip);
      if (!allowed) throw tooMany('Too many failed sign-ins from your address.', seconds);
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
        description: 'Ends the session of the cookie at once, on every replica. A request with another credential has no session and is answered with 409.',
        tags: ['Members and keys'],
        response: { 204: Type.Null({ description: 'Signed out' }), ...problems('cross_site_request', 'conflict') },
      },
    },
    async (request, reply) => {
      const { actor, credential } = request;
      if (credential?.kind !== 'session') throw new AppError('conflict', 'This request carries no session. API keys are revoked with DELETE /api-keys/{id}.');
      await db.withTenant(actor, (tx) => signOut(tx, actor, credential.token));
      return reply.code(204).header('set-cookie', cookie('', 0)).send(null);
    },
  );
}

function toMe({ actor, organization, email, expiresAt }: Principal): Static<typeof Me> {
  return {
    type: actor.type as Static<typeof Me>['type'],
    id: actor.id,
    name: actor.name,
    email,
    role: actor.role,
    permissions: [...permissionsOf(actor.role)],
    organization,
    expires_at: expiresAt?.toISOString() ?? null,
  };
}
