import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Actor, Principal } from '../../shared/actor.ts';
import type { Clock } from '../../shared/clock.ts';
import { AppError } from '../../shared/errors.ts';
import { type Access, type Permission, permissionLacking } from '../../shared/permissions.ts';
import { assertWithinTrust } from './pipeline-access.ts';
import { createLimiter, type Limiter, type RateLimit } from './rate-limit.ts';

type Credential = { kind: 'token'; token: string } | { kind: 'session'; token: string };

/** Returns `null` for an unknown, expired or revoked credential. `main` passes it in, because `http` must not import a feature. */
export type Authenticate = (credential: Credential, request: { id: string; ip: string }) => Promise<Principal | null>;

export const SESSION_COOKIE = 'rrs_session';
const FAILURES: RateLimit = { perMinute: 10, burst: 30 };

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
  }
  interface FastifyRequest {
    actor: Actor;
    principal: Principal;
    /** The credential itself. Signing out deletes its session. */
    credential: Credential | null;
  }
  interface FastifyInstance {
    /** Failed sign-ins by IP address, for tokens and passwords together. */
    failures: Limiter;
    /** For long-running responses: whether the credential of the request is still valid with the same role. */
    isStillAllowed(request: FastifyRequest): Promise<boolean>;
  }
}

export interface AccessOptions {
  authenticate: Authenticate;
  rateLimit: RateLimit;
  clock: Clock;
  origin: () => string;
}

export function installAccess(app: FastifyInstance, { authenticate, rateLimit, clock, origin }: AccessOptions): void {
  const requests = rateLimit.perMinute > 0 ? createLimiter(rateLimit, clock) : null;
  app.decorate('failures', createLimiter(FAILURES, clock));
  app.decorate('isStillAllowed', async (request: FastifyRequest) => {
    const principal = request.credential && (await authenticate(request.credential, request));
    return principal?.actor.role === request.actor.role;
  });
  app.decorateRequest('actor');
  app.decorateRequest('principal');
  app.decorateRequest('credential', null);

  app.addHook('onRoute', (route) => {
    if (route.config?.access === undefined) throw new Error(`the route ${[route.method].flat().join()} ${route.url} declares no access`);
  });

  app.addHook('onRequest', async (request, reply) => {
    const { access } = request.routeOptions.config;
    if (access === undefined || access === 'public') return;
    const credential = credentialOf(request);
    const principal = credential && (await authenticate(credential, request));
    if (!principal) throw authenticationError(app.failures, credential, request);
    if (credential.kind === 'session') assertSameSite(request, origin());
    const { actor } = principal;
    request.principal = principal;
    request.actor = actor;
    request.credential = credential;
    if (requests) takeToken(requests, rateLimit, actor, reply);
    if (access === 'authenticated') return;
    assertOwnPassword(request, principal);
    requirePermission(actor, access);
    assertWithinTrust(request, actor);
  });
}

function credentialOf(request: FastifyRequest): Credential | null {
  const { authorization } = request.headers;
  const apiKey = request.headers['x-api-key'];
  const bearer = authorization === undefined ? undefined : /^bearer +([\x21-\x7e]{1,8192}) *$/i.exec(authorization)?.[1];
  if (bearer !== undefined) return { kind: 'token', token: bearer };
  if (typeof apiKey === 'string' && apiKey !== '') return { kind: 'token', token: apiKey };
  const session = cookieOf(request, SESSION_COOKIE);
  return session === undefined ? null : { kind: 'session', token: session };
}

/** The value of a cookie that this service has set. */
export function cookieOf({ headers: { cookie } }: FastifyRequest, name: string): string | undefined {
  return cookie === undefined ? undefined : new RegExp(`(?:^|; *)${name}=([\\w-]{1,4000})`).exec(cookie)?.[1];
}

/** A cookie that scripts cannot read and that requests from other sites do not carry, except for links. A value of 0 seconds deletes it. */
export function ownCookie(publicUrl: string, { name, value, path, seconds }: { name: string; value: string; path: string; seconds: number }): string {
  return `${name}=${value}; Path=${path}; HttpOnly; SameSite=Lax; Max-Age=${seconds}${publicUrl.startsWith('https:') ? '; Secure' : ''}`;
}

function authenticationError(failures: Limiter, credential: Credential | null, request: FastifyRequest): AppError {
  if (!credential) {
    const sent = request.headers.authorization === undefined ? 'No credential was sent.' : 'The Authorization header must have the form "Bearer <token>".';
    return new AppError('unauthenticated', `${sent} Send "Authorization: Bearer <API key or access token>".`, {
      headers: { 'www-authenticate': 'Bearer realm="rrs"' },
    });
  }
  const { allowed, seconds } = failures.take(request.ip);
  if (!allowed) throw tooMany('Too many failed sign-ins from your address.', seconds);
  return new AppError('unauthenticated', 'The credential is unknown, expired or revoked. Use a current API key or access token.', {
    headers: { 'www-authenticate': 'Bearer realm="rrs", error="invalid_token"' },
  });
}

export function tooMany(what: string, seconds: number): AppError {
  return new AppError('rate_limited', `${what} Retry in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`, {
    headers: { 'retry-after': String(seconds) },
  });
}

/** Threat: cross-site request forgery. A browser sends the session cookie with requests from any site, so changes require our own origin. */
export function assertSameSite(request: FastifyRequest, origin: string): void {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  const site = request.headers['sec-fetch-site'];
  const from = request.headers.origin;
  const same = from === undefined ? site === undefined || site === 'same-origin' : from === origin || from === `${request.protocol}://${request.host}`;
  if (!same || (site !== undefined && site !== 'same-origin')) {
    throw new AppError('cross_site_request', 'A browser session can change data only from pages of this service. Use an API key in programs.');
  }
}

/** Threat: an administrator sets the password of a colleague and acts as the second person. */
function assertOwnPassword({ method }: FastifyRequest, { passwordChosenBy = null }: Principal): void {
  if (passwordChosenBy === null || method === 'GET' || method === 'HEAD') return;
  throw new AppError(
    'password_change_required',
    `Your password was chosen by ${passwordChosenBy}, who could act in your name. Change it with PUT /me/password and sign in again.`,
  );
}

function requirePermission(actor: Actor, permission: Permission): void {
  const lacking = permissionLacking(actor.role, permission);
  if (lacking !== null) throw new AppError('forbidden', lacking);
}

function takeToken(limiter: Limiter, { perMinute, burst }: RateLimit, actor: Actor, reply: FastifyReply): void {
  const { allowed, remaining, seconds } = limiter.take(`${actor.orgId}/${actor.type}/${actor.id}`);
  reply.header('ratelimit-policy', `"default";q=${perMinute};w=60;burst=${burst}`);
  reply.header('ratelimit', `"default";r=${remaining};t=${seconds}`);
  if (!allowed) throw tooMany(`You exceeded the limit of ${perMinute} requests per minute.`, seconds);
}
