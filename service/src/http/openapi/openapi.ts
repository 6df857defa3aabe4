import swagger from '@fastify/swagger';
import type { RouteOptions } from 'fastify';
import type { ErrorCode } from '../../shared/errors.ts';
import type { App } from '../app.ts';
import { problems } from '../schemas.ts';
import { tags } from '../tags.ts';
import { polish, type Upload } from './polish.ts';

type Json = Record<string, unknown>;

const description = `Takes vulnerability findings from every scanner, turns them into remediation work, and proves that the work was done.

- Send \`Authorization: Bearer <API key or OIDC access token>\`.
- Requests are strict: an unknown field, parameter or value is answered with 400 and the list of what is allowed; all mistakes come at once.
- Errors are \`application/problem+json\` (RFC 9457) with a stable \`code\`.
- Lists are paged with cursors; follow \`next_cursor\` or the \`Link\` header.
- POST takes \`Idempotency-Key\`; resources carry \`ETag\` and PATCH honours \`If-Match\`; PATCH is a JSON merge patch.
- Times are RFC 3339 in UTC with milliseconds; ids are UUIDv7.`;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A body that is streamed instead of parsed, and so has no schema to check it by. */
    upload?: Upload;
  }
}

/** The description is made from the same schemas that check requests and write responses. */
export async function installOpenApi(app: App, version: string): Promise<void> {
  const uploads = new Map<string, Upload>();
  app.addHook('onRoute', (route) => {
    addCommonProblems(route);
    if (route.config?.upload && route.schema?.operationId) uploads.set(route.schema.operationId, route.config.upload);
  });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Remediation Risk Service', version, description, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } as never },
      servers: [{ url: '/', description: 'This service' }],
      tags: [...tags],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'An API key (`rrs_…`) or an OIDC access token' },
          api_key: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key, for clients that cannot set Authorization' },
          session: { type: 'apiKey', in: 'cookie', name: 'rrs_session', description: 'The session of the console' },
        },
      },
      security: [{ bearer: [] }, { api_key: [] }, { session: [] }],
    },
    transform: ({ schema, url, route }) => ({
      schema: { ...schema, ...(route.config?.access === 'public' ? { security: [] } : {}) },
      url,
    }),
    transformObject: (document) => polish(('openapiObject' in document ? document.openapiObject : {}) as unknown as Json, uploads) as never,
  });
}

function addCommonProblems(route: RouteOptions): void {
  if (!route.url.startsWith('/api/v1/')) return;
  const { access } = route.config ?? {};
  const codes: ErrorCode[] = ['validation_failed', 'not_acceptable', 'internal_error', 'unavailable'];
  if (access !== 'public') codes.push('unauthenticated', 'rate_limited');
  if (access !== 'public' && access !== 'authenticated') codes.push('forbidden');
  if (access !== 'public' && ![route.method].flat().includes('GET')) codes.push('cross_site_request');
  if (route.schema?.body || route.config?.upload) codes.push('malformed_request', 'payload_too_large', 'unsupported_media_type');
  const own = (route.schema?.response ?? {}) as Record<number, { content?: Record<string, { examples?: Json }> }>;
  const response: Record<number, unknown> = { ...own };
  for (const [status, common] of Object.entries(problems(...codes)) as [string, (typeof own)[number]][]) {
    response[Number(status)] = merge(common, own[Number(status)]);
  }
  route.schema = { ...route.schema, response };
}

function merge(common: Json, own: Json | undefined): Json {
  if (!own) return common;
  const examples = (of: Json) => Object.values(of.content as Record<string, { examples: Json }>)[0]?.examples ?? {};
  const [mediaType, content] = Object.entries(common.content as Record<string, Json>)[0] as [string, Json];
  return {
    description: `${own.description}; ${common.description}`,
    content: { [mediaType]: { ...content, examples: { ...examples(own), ...examples(common) } } },
  };
}
