import cors from '@fastify/cors';
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
import { type Authenticate, installAccess } from './access.ts';
import { answerError, installErrors } from './errors.ts';
import type { RateLimit } from './rate-limit.ts';
import { installValidation } from './validation.ts';

export type App = FastifyInstance<RawServerDefault, RawRequestDefaultExpression, RawReplyDefaultExpression, FastifyBaseLogger, TypeBoxTypeProvider>;

declare module 'fastify' {
  interface FastifyInstance {
    methodsAt(path: string): string[];
  }
}

export interface AppOptions {
  logger: FastifyBaseLogger;
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
    routerOptions: { maxParamLength: 200, ignoreTrailingSlash: false },
    frameworkErrors: (error, request, reply) => {
      answerError(error, request as FastifyRequest, reply as unknown as FastifyReply, options.publicUrl());
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  installHeaders(app, options.publicUrl);
  installRouteTable(app);
  installErrors(app, options.publicUrl);
  installAccess(app, { ...options, origin: () => new URL(options.publicUrl()).origin });
  installValidation(app);
  app.addContentTypeParser('application/merge-patch+json', { parseAs: 'string' }, app.getDefaultJsonParser('error', 'error'));
  if (options.corsOrigins.length > 0) {
    await app.register(cors, {
      origin: options.corsOrigins,
      credentials: true,
      exposedHeaders: ['etag', 'link', 'location', 'retry-after', 'x-request-id'],
      maxAge: 600,
    });
  }
  await options.prepare?.(app);
  return app;
}

function installHeaders(app: App, publicUrl: () => string): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders);
    reply.header('x-request-id', request.id);
    if (publicUrl().startsWith('https:')) reply.header('strict-transport-security', 'max-age=31536000');
    if (request.url.startsWith('/api/') && !acceptsJson(request.headers.accept)) {
      throw new AppError('not_acceptable', 'The answer is JSON: leave the Accept header out or include application/json.');
    }
  });
  app.addHook('onResponse', async (request, reply) => {
    const traceId = TRACE_ID.exec(String(request.headers.traceparent ?? ''))?.[1];
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? null,
        path: request.url.split('?')[0],
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ip: request.ip,
        actor: request.actor ? `${request.actor.type}:${request.actor.id}` : null,
        ...(traceId ? { trace_id: traceId } : {}),
      },
      'request',
    );
  });
}

function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === '' || accept === '*/*') return true;
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return (
      ['*/*', 'application/*', 'application/json', 'application/problem+json'].includes(type) && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
    );
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
