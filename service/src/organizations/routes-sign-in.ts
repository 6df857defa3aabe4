import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../http/app.ts';
import { cookieOf, ownCookie, SESSION_COOKIE, tooMany } from '../http/requests/access.ts';
import { problems } from '../http/schemas.ts';
import { AppError, invalidField } from '../shared/errors.ts';
import type { OrganizationDeps } from './deps.ts';
import { OidcCallbackQuery, OidcStartQuery, ServiceFacts, SignInMethods } from './schemas-sign-in.ts';
import { ATTEMPT_SECONDS, type CodeFlow, SignInFailed } from './sign-in/code-flow.ts';
import { watchSetup } from './sign-in/setup.ts';
import { signInWithIdentity } from './sign-in/sign-in-oidc.ts';

export const OIDC_PATH = '/api/v1/sessions/oidc';
const ATTEMPT_COOKIE = 'rrs_sign_in';
/** The page of the console that shows why a sign-in failed. */
const SIGN_IN_PAGE = '/sign-in';

export function signInRoutes(app: App, { db, facts, codeFlow, sessionHours, publicUrl }: OrganizationDeps): void {
  const methods = () => ({ password: true, oidc: facts.identityProvider === null ? null : { name: facts.identityProvider, start_url: `${OIDC_PATH}/start` } });

  const isSetupPending = watchSetup(db);

  app.get(
    '/service',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'getService',
        summary: 'Get facts about the service',
        description: 'Returns the version of the service, its limits and the ways to sign in. Needs no credential.',
        tags: ['Description'],
        response: { 200: ServiceFacts },
      },
    },
    async (_request, reply) =>
      reply.send({
        version: facts.version,
        time: new Date().toISOString(),
        sign_in: methods(),
        limits: facts.limits,
        setup_required: await isSetupPending(),
        documentation_url: '/docs/',
      }),
  );

  app.get(
    '/sign-in-methods',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'listSignInMethods',
        summary: 'List sign-in methods',
        description: 'Returns the ways in which members can sign in. Needs no credential.',
        tags: ['Members and keys'],
        response: { 200: SignInMethods },
      },
    },
    async (_request, reply) => reply.send(methods()),
  );

  const flow = (): CodeFlow => {
    if (codeFlow) return codeFlow;
    throw new AppError('not_found', 'Sign-in through an identity provider is not configured. Sign in with e-mail and password, or ask the operator.');
  };
  const attemptCookie = (value: string, seconds: number) => ownCookie(publicUrl(), { name: ATTEMPT_COOKIE, value, path: OIDC_PATH, seconds });
  const redirect = (reply: FastifyReply, path: string, status = 303) => reply.code(status).header('location', path).send(null);
  const fail = (reply: FastifyReply, error: unknown, next: string | undefined) => {
    if (!(error instanceof SignInFailed)) throw error;
    reply.log.warn({ request_id: reply.request.id, reason: error.code, error: error.message, cause: error.cause }, 'sign-in at the identity provider failed');
    const query = new URLSearchParams({ error: error.code, ...(next === undefined ? {} : { next }) });
    return redirect(reply, `${new URL(publicUrl()).origin}${SIGN_IN_PAGE}?${query}`);
  };

  app.get(
    '/sessions/oidc/start',
    {
      config: { access: 'public' },
      exposeHeadRoute: false,
      schema: {
        operationId: 'startOidcSignIn',
        summary: 'Start to sign in at the identity provider',
        description:
          'Redirects the browser to the identity provider (OpenID Connect authorization code flow with PKCE). Open it as a page, not from a script. Returns 404 if no identity provider is configured.',
        tags: ['Members and keys'],
        querystring: OidcStartQuery,
        response: {
          302: Type.Null({ description: 'Redirects to the identity provider' }),
          303: Type.Null({ description: 'Redirects to the sign-in page, with the reason in `error`, if the identity provider cannot be reached' }),
          ...problems('not_found'),
        },
      },
    },
    async (request, reply) => {
      const codes = flow();
      const next = pathOf(request.query.next ?? '/', publicUrl());
      if (next === null)
        throw invalidField({ in: 'query', path: '/next', code: 'wrong_format', detail: 'next must be a path of this service that starts with one slash' });
      try {
        const { url, attempt } = await codes.start({ next, organization: request.query.organization ?? null });
        reply.header('set-cookie', attemptCookie(attempt, ATTEMPT_SECONDS));
        return redirect(reply, url, 302);
      } catch (error) {
        return fail(reply, error, next);
      }
    },
  );

  app.get(
    '/sessions/oidc/callback',
    {
      config: { access: 'public' },
      exposeHeadRoute: false,
      schema: {
        operationId: 'finishOidcSignIn',
        summary: 'Finish to sign in at the identity provider',
        description:
          'Finishes a sign-in, when the identity provider sends the browser back: sets a session cookie and redirects to the page that the sign-in was started for. If the sign-in fails, redirects to `/sign-in` with the reason in `error`: `expired`, `denied`, `invalid_response`, `provider_unavailable`, `no_member`, `email_not_verified` or `choose_organization`.',
        tags: ['Members and keys'],
        querystring: OidcCallbackQuery,
        response: {
          303: Type.Null({ description: 'Redirects to the page after signing in, or to the sign-in page' }),
          ...problems('not_found', 'rate_limited'),
        },
      },
    },
    async (request, reply) => {
      const codes = flow();
      const { allowed, seconds } = app.failures.look(request.ip);
      if (!allowed) throw tooMany('Too many failed sign-ins from your IP address.', seconds);
      const attempt = codes.open(cookieOf(request, ATTEMPT_COOKIE));
      const forget = attemptCookie('', 0);
      reply.header('set-cookie', forget);
      try {
        if (attempt === null) throw new SignInFailed('expired', 'the browser has no cookie of a sign-in that was started less than ten minutes ago');
        const identity = await codes.finish(attempt, request.query);
        const { token } = await signInWithIdentity(db, identity, request, sessionHours);
        const session = { name: SESSION_COOKIE, value: token, path: '/', seconds: sessionHours * 3_600 };
        reply.header('set-cookie', ownCookie(publicUrl(), session));
        return redirect(reply, `${new URL(publicUrl()).origin}${attempt.next}`);
      } catch (error) {
        app.failures.take(request.ip);
        return fail(reply, error, attempt?.next);
      }
    },
  );
}

/** Threat: open redirect. Returns the normal form of a path within the service, or `null` for anything that a browser could take for another site. */
function pathOf(next: string, base: string): string | null {
  if (!/^\/(?![/\\])/.test(next) || !URL.canParse(next, base)) return null;
  const { origin, pathname, search, hash } = new URL(next, base);
  // `/.//example.com` becomes `//example.com`, which names another host.
  return origin === new URL(base).origin && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : null;
}
