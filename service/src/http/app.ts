import compress from '@fastify/compress';
import cors, { type FastifyCorsOptions } from '@fastify/cors';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify';
import type { Clock } from '../shared/clock.ts';
import { AppError } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { compression } from './compression.ts';
import { installErrors, replyWithError } from './errors.ts';
import { type Authenticate, installAccess } from './requests/access.ts';
import { replyToBrokenRequest } from './requests/broken-requests.ts';
import { installJson, installSerializers } from './requests/json.ts';
import type { RateLimit } from './requests/rate-limit.ts';
import { installTransferRate, UPLOAD_RATE } from './requests/transfer-rate.ts';
import { installValidation } from './requests/validation.ts';
import { StreamErrorLog } from './stream-errors.ts';

export type App = FastifyInstance<RawServerDefault, RawRequestDefaultExpression, RawReplyDefaultExpression, FastifyBaseLogger, TypeBoxTypeProvider>;

declare module 'fastify' {
  interface FastifyInstance {
    methodsAt(path: string): string[];
  }
  interface FastifyContextConfig {
    /** Media types other than JSON that the route produces. */
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
  uploadRate?: { bytesPerSecond: number; periodMs: number };
  rateLimit: RateLimit;
  trustedProxies: string[];
  corsOrigins: string[];
  /** The URL at which callers reach the service. With PORT=0 it is final only once the server listens. */
  publicUrl: () => string;
  /** Runs before any route is added, so that its hooks see every route. */
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
    // Its own, so that its level can differ from that of the program.
    loggerInstance: options.logger.child({}),
    logController: new StreamErrorLog({ disableRequestLogging: true }),
    bodyLimit: options.bodyLimit,
    // Replaced by installTransferRate: Node's limit is for the whole request, however large it is.
    requestTimeout: 0,
    trustProxy: options.trustedProxies.length > 0 ? options.trustedProxies : false,
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : newId();
    },
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // Overlong parameters reach validation, and requests without Host reach the onRequest hook, so that both get a problem document.
    routerOptions: { maxParamLength: 65_536, ignoreTrailingSlash: false },
    http: {
      requireHostHeader: false,
      headersTimeout: Math.min(options.requestTimeoutMs, 60_000),
      connectionsCheckingInterval: Math.min(options.requestTimeoutMs, 30_000),
    },
    clientErrorHandler: (error, socket) => replyToBrokenRequest(error, socket, options.publicUrl()),
    frameworkErrors: (error, request, reply) => {
      // cast: Fastify leaves the type provider of this handler generic, and FastifyReply is not assignable across type providers.
      const problemReply = reply as unknown as FastifyReply;
      setHeaders(request as FastifyRequest, problemReply, options.publicUrl());
      replyWithError(error, request as FastifyRequest, problemReply, options.publicUrl());
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.addHook('onRequest', (request, reply, done) => {
    setHeaders(request, reply, options.publicUrl());
    done();
  });
  installTransferRate(app, { ...UPLOAD_RATE, ...options.uploadRate, requestTimeoutMs: options.requestTimeoutMs }, options.publicUrl);
  installRequestLog(app, options.accessLog);
  // First, so that allowed origins can read error responses too, and so that its preflight route needs no `access`.
  if (options.corsOrigins.length > 0) await app.register(cors, corsOptions(options.corsOrigins));
  await app.register(compress, compression);
  installRouteTable(app);
  installErrors(app, options.publicUrl);
  app.addHook('onRequest', (request, _reply, done) => done(notAcceptable(request) ?? undefined));
  installAccess(app, { ...options, origin: () => new URL(options.publicUrl()).origin });
  installJson(app);
  installSerializers(app);
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

/** Threat: a proxy in front of the service may use another one of them than the service (RFC 9112, section 3.2). Node keeps the first. */
const SINGLE_HEADERS = ['Host', 'Authorization'];

function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  const wanted = name.toLowerCase();
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.length === wanted.length && text.toLowerCase() === wanted).length > 1;
}

function notAcceptable(request: FastifyRequest): AppError | null {
  if (request.headers.host === undefined && request.raw.httpVersion === '1.1') return new AppError('malformed_request', 'The Host header is missing.');
  const repeated = SINGLE_HEADERS.find((name) => isRepeated(request.raw.rawHeaders, name));
  if (repeated) return new AppError('malformed_request', `The request has several ${repeated} headers. Send one.`);
  const { accept } = request.headers;
  if (accept === undefined || accept === '*/*' || !request.url.startsWith('/api/')) return null;
  const produced = [...(request.routeOptions.config.produces ?? []), 'application/json', 'application/problem+json'];
  if (accepts(accept, produced)) return null;
  const choice = produced.length > 2 ? `one of ${[...new Set(produced)].slice(0, -1).join(', ')}` : 'application/json';
  return new AppError('not_acceptable', `The Accept header excludes every media type of this operation. Omit it or include ${choice}.`);
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

const TOKEN = /(rrs|ses|shr|inv|stp)_[\w-]+/gi;

/** Threat: the path of a share link or invitation contains its token. Tokens are masked, however they are encoded, so that a reader of the log cannot use them. */
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

/** Fastify returns 404 for a known path with an unsupported method. This table makes a 405 with the supported methods possible. */
function installRouteTable(app: App): void {
  const table: { pattern: RegExp; methods: string[] }[] = [];
  app.addHook('onRoute', (route) => {
    if (route.url.includes('*')) return;
    const source = route.url.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll(/:[a-z_]+/g, '[^/]+');
    table.push({ pattern: new RegExp(`^${source}$`), methods: [route.method].flat() });
  });
  app.decorate('methodsAt', (path: string) => [...new Set(table.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods))].sort());
}
