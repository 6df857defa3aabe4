import type { FastifyInstance, FastifyRequest, FastifySchema } from 'fastify';
import type { FieldError } from '../../shared/errors.ts';
import { type Check, fieldError, fromText, type JsonSchema, onDemand, type Part, strictTypes, unstorable, validationFailed } from '../../validation/check.ts';

/**
 * Fastify stops at the first part of a request that fails validation. This checks path, query, headers and body together,
 * so that the response lists all errors.
 */

const PARTS = { path: 'params', query: 'query', header: 'headers', body: 'body' } as const;
const SCHEMA_KEYS = { path: 'params', query: 'querystring', header: 'headers', body: 'body' } as const;

interface RouteValidators {
  schemas: Partial<Record<Part, JsonSchema>>;
  checks: Partial<Record<Part, Check>>;
}

const validators = Symbol('validators');

declare module 'fastify' {
  interface FastifyContextConfig {
    [validators]?: RouteValidators;
  }
}

export function installValidation(app: FastifyInstance): void {
  app.setValidatorCompiler(() => () => true);
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, [validators]: compile(route.schema ?? {}) } as NonNullable<typeof route.config>;
  });
  app.addHook('preValidation', async (request) => validate(request));
}

function compile(schema: FastifySchema): RouteValidators {
  const compiled: RouteValidators = { schemas: {}, checks: {} };
  for (const part of Object.keys(PARTS) as Part[]) {
    const partSchema = (schema[SCHEMA_KEYS[part]] ?? (part === 'query' ? NO_QUERY : undefined)) as JsonSchema | undefined;
    if (!partSchema) continue;
    compiled.schemas[part] = partSchema;
    compiled.checks[part] = onDemand(part === 'body' ? strictTypes : fromText, partSchema);
  }
  return compiled;
}

const NO_QUERY: JsonSchema = { type: 'object', properties: {}, additionalProperties: false };

function validate(request: FastifyRequest): void {
  const route = request.routeOptions.config[validators];
  if (!route) return;
  const errors: FieldError[] = [];
  for (const part of Object.keys(route.checks) as Part[]) {
    const check = route.checks[part];
    if (!check) continue;
    if (part === 'query') {
      if (!isDecodable(request.url)) errors.push({ in: 'query', path: '', code: 'invalid_encoding', detail: 'contains invalid percent-encoding' });
      request.query = splitLists(request.query as Record<string, unknown>, route.schemas.query);
    }
    const value = request[PARTS[part]];
    if (value === undefined && part === 'body') {
      errors.push({ in: 'body', path: '', code: 'required', detail: 'a JSON body is required' });
      continue;
    }
    errors.push(...unstorable(part, value));
    errors.push(...check(value).flatMap((error) => fieldError(part, error)));
  }
  if (errors.length > 0) throw validationFailed(errors);
}

/** `severity=critical,high` and `severity=critical&severity=high` are equivalent. */
function splitLists(query: Record<string, unknown>, schema: JsonSchema | undefined): Record<string, unknown> {
  const split: Record<string, unknown> = { ...query };
  for (const [name, value] of Object.entries(split)) {
    if (schema?.properties?.[name]?.type === 'array') split[name] = [value].flat().flatMap((item) => String(item).split(','));
  }
  return split;
}

function isDecodable(url: string): boolean {
  if (!url.includes('%')) return true;
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}
