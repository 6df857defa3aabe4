import { readFile } from 'node:fs/promises';
import Fastify, { type FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { ErrorCode } from '../../shared/errors.ts';
import { AppError } from '../../shared/errors.ts';
import type { App } from '../app.ts';
import { problemKinds } from '../problems.ts';
import { media } from '../schemas.ts';

/** Pages for people: the API documentation and an explanation of each kind of problem. */
const DOCS_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";
const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

const Description = Type.Object(
  { openapi: Type.String({ description: 'Version of the OpenAPI specification', examples: ['3.1.0'] }) },
  { additionalProperties: true },
);

export function installPages(app: App): void {
  app.get('/favicon.ico', { config: { access: 'public' }, schema: { hide: true } }, (_request, reply) => reply.code(204).send());

  app.get(
    '/api/v1/openapi.json',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'getDescription',
        summary: 'Get the OpenAPI description',
        description: 'Returns the OpenAPI 3.1 description of this API. It is generated from the schemas that validate requests and serialize responses.',
        tags: ['Description'],
        response: { 200: media<string>('OK', { 'application/json': { schema: Description } }) },
      },
    },
    async (_request, reply) =>
      reply
        .type('application/json; charset=utf-8')
        .serializer(String)
        .send(await readDescription()),
  );

  const docs = lazyDocs();
  for (const url of ['/docs', '/docs/', '/docs/js/scalar.js']) {
    app.get(url, { config: { access: 'public' }, schema: { hide: true } }, async (request, reply) => {
      const page = await (await docs()).inject({ url: request.url, headers: { host: request.host } });
      return reply
        .code(page.statusCode)
        .headers({ ...(page.headers.location ? { location: String(page.headers.location) } : {}), 'content-type': String(page.headers['content-type']) })
        .header('content-security-policy', DOCS_POLICY)
        .send(page.rawPayload);
    });
  }

  app.get('/problems/:code', { config: { access: 'public' }, schema: { hide: true } }, async (request, reply) => {
    const { code } = request.params as { code: string };
    if (!Object.hasOwn(problemKinds, code)) throw new AppError('not_found', `The problem code "${code}" does not exist.`);
    return reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', PAGE_POLICY)
      .send(problemPage(code as ErrorCode));
  });
}

function readDescription(): Promise<string> {
  return readFile(new URL('../../../openapi.json', import.meta.url), 'utf8');
}

/** Scalar ships its 4 MiB script only inside its Fastify plugin, so the plugin runs in an instance of its own, created on first use. */
function lazyDocs() {
  let loading: Promise<FastifyInstance> | undefined;
  const load = async () => {
    const { default: scalar } = await import('@scalar/fastify-api-reference');
    const inner = Fastify();
    await inner.register(scalar, {
      routePrefix: '/docs',
      configuration: {
        url: '/api/v1/openapi.json',
        pageTitle: 'Remediation Risk Service API',
        withDefaultFonts: false,
        telemetry: false,
        hideClientButton: true,
        showDeveloperTools: 'never',
        agent: { disabled: true },
        mcp: { disabled: true },
      },
    });
    return inner;
  };
  return () => {
    loading ??= load();
    return loading;
  };
}

function problemPage(code: ErrorCode): string {
  const { status, title, help } = problemKinds[code];
  const text = help.replaceAll(/`([^`]+)`/g, (_, inner: string) => `<code>${inner.replaceAll('<', '&lt;')}</code>`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>body{font:1rem/1.6 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}code{font-size:.95em}</style>
<h1>${title}</h1>
<p><code>${code}</code> · HTTP ${status}</p>
<p>${text}</p>
<p><a href="/docs/">API documentation</a></p>
</html>
`;
}
