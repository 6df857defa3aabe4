import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify';
import type { Clock } from '../shared/clock.ts';
import { AppError } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { answerError, installErrors } from './errors.ts';
import { type Authenticate, installAccess } from './requests/access.ts';
import { answerBrokenRequest } from './requests/broken-requests.ts';
import { installAnswers, installJson } from './requests/json.ts';
import type { RateLimit } from './requests/rate-limit.ts';
import { installValidation } from './requests/validation.ts';

export type App = FastifyInstance<RawServerDefault, RawRequestDefaultExpression, RawReplyDefaultExpression, FastifyBaseLogger, TypeBoxTypeProvider>;

declare module 'fastify' {
  interface FastifyInstance {
    methodsAt(path: string): string[];
  }
  interface FastifyContextConfig {
    /** Media types besides JSON that the route answers with. */
    produces?: readonly string[];
  }
}

export interface AppOptions {
  logger: FastifyBaseLogger;
  accessLog: Pick<FastifyBaseLogger, 'info'>;
  authenticate: Authenticate;
  clock: Clock;
  bodyLimit: number;
  requestTimeoutMs: number;
  rateLimit: RateLimit;
  trustedProxies: string[];
  corsOrigins: string[];
  /** Where callers reach us; known for certain only once we listen. */
  publicUrl: () => string;
  /** Sees every route that is added afterwards. */
  prepare?: ((app: App) => Promise<void>) | undefined;
}

const REQUEST_ID = /^[\w.-]{1,128}$/;
const TRACE_ID = /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;

const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

export async function createApp(options: AppOptions): Promise<App> {
  const app = Fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: options.bodyLimit,
    requestTimeout: options.requestTimeoutMs,
    trustProxy: options.trustedProxies.length > 0 ? options.trustedProxies : false,
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : newId();
    },
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // A path of any length comes as far as the check of its parameters, and a request without Host as far as our own refusal.
    routerOptions: { maxParamLength: 65_536, ignoreTrailingSlash: false },
    http: {
      requireHostHeader: false,
      // Node counts the two timeouts crosswise when the one for the headers is longer.
      headersTimeout: Math.min(options.requestTimeoutMs, 60_000),
      connectionsCheckingInterval: Math.min(options.requestTimeoutMs, 30_000),
    },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket, options.publicUrl()),
    frameworkErrors: (error, request, reply) => {
      setHeaders(request as FastifyRequest, reply as unknown as FastifyReply, options.publicUrl());
      answerError(error, request as FastifyRequest, reply as unknown as FastifyReply, options.publicUrl());
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.addHook('onRequest', (request, reply, done) => {
    setHeaders(request, reply, options.publicUrl());
    done();
  });
  installRequestLog(app, options.accessLog);
  // Before the rest, so that pages of other sites can read refusals too, and so that its own route needs no access.
  if (options.corsOrigins.length > 0) await app.register(cors, corsOptions(options.corsOrigins));
  installRouteTable(app);
  installErrors(app, options.publicUrl);
  app.addHook('onRequest', (request, _reply, done) => done(unanswerable(request) ?? undefined));
  installAccess(app, { ...options, origin: () => new URL(options.publicUrl()).origin });
  installJson(app);
  installAnswers(app);
  installValidation(app);
  await options.prepare?.(app);
  return app;
}

function corsOptions(origins: readonly string[]): FastifyCorsOptions {
  return {
    origin: (origin, decide) => decide(null, origin !== undefined && origins.includes(origin) ? origin : false),
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    credentials: true,
    strictPreflight: false,
    exposedHeaders: ['etag', 'idempotency-replayed', 'link', 'location', 'ratelimit', 'ratelimit-policy', 'retry-after', 'x-request-id'],
    maxAge: 600,
  };
}

function setHeaders(request: FastifyRequest, reply: FastifyReply, publicUrl: string): void {
  reply.headers(securityHeaders);
  reply.header('x-request-id', request.id);
  if (publicUrl.startsWith('https:')) reply.header('strict-transport-security', 'max-age=31536000');
}

function unanswerable(request: FastifyRequest): AppError | null {
  if (request.headers.host === undefined && request.raw.httpVersion === '1.1') return new AppError('malformed_request', 'The Host header is missing.');
  const { accept } = request.headers;
  if (accept === undefined || accept === '*/*' || !request.url.startsWith('/api/')) return null;
  const produced = [...(request.routeOptions.config.produces ?? []), 'application/json', 'application/problem+json'];
  if (accepts(accept, produced)) return null;
  const choice = produced.length > 2 ? `one of ${[...new Set(produced)].slice(0, -1).join(', ')}` : 'application/json';
  return new AppError('not_acceptable', `The answer is ${produced.length > 2 ? 'none of that' : 'JSON'}: leave the Accept header out or include ${choice}.`);
}

function installRequestLog(app: App, accessLog: AppOptions['accessLog']): void {
  app.addHook('onResponse', (request, reply, done) => {
    const traceId = TRACE_ID.exec(String(request.headers.traceparent ?? ''))?.[1];
    accessLog.info(
      {
        request_id: request.id,
        method: request.method,
        route: request.routeOptions.url ?? null,
        path: loggedPath(request.url),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ip: request.ip,
        actor: request.actor ? `${request.actor.type}:${request.actor.id}` : null,
        ...(traceId ? { trace_id: traceId } : {}),
      },
      'request',
    );
    done();
  });
}

const TOKEN = /(rrs|ses|shr)_[\w-]+/gi;

/** Threat: the token of a share link is a part of its address, and who reads the log must not be able to use it, however it was encoded. */
function loggedPath(url: string): string {
  const path = url.split('?')[0] ?? '';
  if (!/[_%]/.test(path)) return path;
  const plain = path.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return plain.search(TOKEN) < 0 ? path : plain.replaceAll(TOKEN, '$1_…');
}

function accepts(accept: string, produced: readonly string[]): boolean {
  if (accept === '') return true;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const wanted = type === '*/*' || produced.some((one) => one === type || `${one.split('/')[0]}/*` === type);
    return wanted && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

/** Fastify answers 404 for a known path with another method; who asks with the wrong method should learn the right one. */
function installRouteTable(app: App): void {
  const table: { pattern: RegExp; methods: string[] }[] = [];
  app.addHook('onRoute', (route) => {
    if (route.url.includes('*')) return;
    const source = route.url.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll(/:[a-z_]+/g, '[^/]+');
    table.push({ pattern: new RegExp(`^${source}$`), methods: [route.method].flat() });
  });
  app.decorate('methodsAt', (path: string) => [...new Set(table.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods))].sort());
}
