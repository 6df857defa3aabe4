import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { AppError } from '../../shared/errors.ts';
import type { App } from '../app.ts';
import { openFiles } from './files.ts';
import { waitingPage } from './waiting-page.ts';

/** Nothing but files of this origin, and no text that becomes script. The console builds its styles at build time, so it needs no nonce. */
export const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
  // The only text that becomes a script is the address of the worker that verifies packages.
  'trusted-types rrs-worker',
  "frame-ancestors 'none'",
].join('; ');

/** The worker that verifies packages reads nothing but its own script, and cannot send what it reads. */
export const WORKER_POLICY = "default-src 'none'; script-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'";
const WORKERS = 'files/verify-worker-';

/** Paths that are never pages of the console. */
const RESERVED = /^\/(?:api|docs|problems|healthz|readyz|metrics|\.well-known)(?:\/|$)/;

export interface ConsoleOptions {
  /** Folder with the built console. */
  folder: string;
  /** Why there is no console at the moment, for people. `null` while it is being built. */
  missing: () => string | null;
}

/** Sends the index page of the console. */
export type SendPage = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/**
 * Serves the console: its files under /files, and its index page at every other path that a browser asks for as a page.
 * Returns how to send that page, for paths that answer programs in another way.
 */
export function installConsole(app: App, { folder, missing }: ConsoleOptions): SendPage {
  const files = openFiles(folder);
  // The query of a page is for the console, which passes it on to the API.
  const hidden = { config: { access: 'public' }, schema: { hide: true, querystring: Type.Object({}, { additionalProperties: true }) } } as const;

  const send = async (request: FastifyRequest, reply: FastifyReply, name: string, cacheControl: string): Promise<FastifyReply> => {
    const file = await files.find(name, String(request.headers['accept-encoding'] ?? ''));
    if (file === null) throw new AppError('not_found', `The console has no file ${name}. Reload the page.`);
    const policy = name.startsWith(WORKERS) ? WORKER_POLICY : CONSOLE_POLICY;
    reply.headers({ 'cache-control': cacheControl, 'content-security-policy': policy, etag: file.etag, vary: 'accept-encoding' });
    if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
    if (file.encoding !== null) reply.header('content-encoding', file.encoding);
    return reply.type(file.type).send(file.content);
  };

  const page: SendPage = async (request, reply) => {
    if ((await files.find('index.html', '')) !== null) return send(request, reply, 'index.html', 'no-cache');
    const { html, policy } = waitingPage(missing());
    return reply.code(503).headers({ 'content-security-policy': policy, 'retry-after': '2' }).type('text/html; charset=utf-8').send(html);
  };

  app.get('/', hidden, page);
  // Their names never change, so browsers ask whether they did.
  for (const name of ['favicon.svg', 'theme.js']) app.get(`/${name}`, hidden, (request, reply) => send(request, reply, name, 'no-cache'));
  // The names of these files contain a hash of their content.
  app.get('/files/:file', hidden, (request, reply) =>
    send(request, reply, `files/${(request.params as { file: string }).file}`, 'public, max-age=31536000, immutable'),
  );
  app.get('/*', hidden, (request, reply) => (isPage(request) ? page(request, reply) : notFound(reply)));
  return page;
}

function isPage(request: FastifyRequest): boolean {
  return !RESERVED.test(request.url.split('?')[0] ?? '') && wantsPage(request);
}

/** Browsers ask for HTML when somebody opens an address. Programs such as curl do not. */
export function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') ?? false;
}

/** The same problem as at any path without a route. */
function notFound(reply: FastifyReply): FastifyReply {
  reply.callNotFound();
  return reply;
}
