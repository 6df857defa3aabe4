import swagger from '@fastify/swagger';
import type { RouteOptions } from 'fastify';
import type { ErrorCode } from '../../shared/errors.ts';
import type { App } from '../app.ts';
import { brokenRequestCodes } from '../requests/broken-requests.ts';
import { problems } from '../schemas.ts';
import { tags } from '../tags.ts';
import { type Enums, polish, type Upload } from './polish.ts';

type Json = Record<string, unknown>;

const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' };

const description = `Collects vulnerability findings from scanners, tracks their remediation, and produces signed evidence that the work was done.

- **Authentication**: send \`Authorization: Bearer <API key or OIDC access token>\`.
- **Validation**: an unknown field, parameter or value returns 400. The response lists all errors and what is allowed.
- **Errors** are \`application/problem+json\` (RFC 9457) with a stable \`code\`.
- **Lists** are paged with cursors. Follow \`next_cursor\` or the \`Link\` header.
- **Retries**: send an \`Idempotency-Key\` with POST to make it safe to retry.
- **Concurrent changes**: resources have an \`ETag\`. Send it as \`If-Match\` with PATCH to detect changes by others.
- **PATCH** is a JSON merge patch (RFC 7396): fields that you omit stay unchanged.
- **Formats**: times are RFC 3339 in UTC with milliseconds. IDs are UUIDv7.`;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Describes a body that is streamed instead of parsed. */
    upload?: Upload;
  }
}

/** Generates the description from the schemas that validate requests and serialize responses. */
export async function installOpenApi(app: App, { version, enums }: { version: string; enums: Enums }): Promise<void> {
  const uploads = new Map<string, Upload>();
  app.addHook('onRoute', (route) => {
    addCommonProblems(route);
    if (route.config?.upload && route.schema?.operationId) uploads.set(route.schema.operationId, route.config.upload);
  });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Remediation Risk Service', version, description, license },
      servers: [{ url: '/', description: 'This service' }],
      tags: [...tags],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'An API key (`rrs_…`) or an OIDC access token' },
          api_key: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key, for clients that cannot set the Authorization header' },
          session: { type: 'apiKey', in: 'cookie', name: 'rrs_session', description: 'A browser session, created with `POST /api/v1/sessions`' },
        },
      },
      security: [{ bearer: [] }, { api_key: [] }, { session: [] }],
    },
    transform: ({ schema, url, route }) => ({
      schema: { ...schema, ...(route.config?.access === 'public' ? { security: [] } : {}) },
      url,
    }),
    transformObject: (document) => polish({ ...('openapiObject' in document ? document.openapiObject : {}) }, { uploads, enums }),
  });
}

function addCommonProblems(route: RouteOptions): void {
  if (!route.url.startsWith('/api/v1/')) return;
  const { access } = route.config ?? {};
  const codes: ErrorCode[] = ['validation_failed', ...brokenRequestCodes, 'not_acceptable', 'internal_error', 'unavailable'];
  if (access !== 'public') codes.push('unauthenticated', 'rate_limited');
  if (access !== 'public' && access !== 'authenticated') codes.push('forbidden');
  if (access !== 'public' && ![route.method].flat().includes('GET')) codes.push('cross_site_request');
  if (access !== 'public' && access !== 'authenticated' && ![route.method].flat().includes('GET')) codes.push('password_change_required');
  if (route.schema?.body || route.config?.upload) codes.push('payload_too_large', 'unsupported_media_type');
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
