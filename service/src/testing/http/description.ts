import { readFileSync } from 'node:fs';
import { hidesText } from '@rrs/evidence-format';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describeApi } from '../../main/description/describe-api.ts';

type Json = Record<string, unknown>;

export interface Media {
  schema: Json;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

interface Parameter {
  in: 'path' | 'query' | 'header';
  name: string;
  required?: boolean;
  schema: Json;
  example?: unknown;
}

export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security?: unknown[];
  parameters: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, Media> };
  responses: Record<string, { description: string; content?: Record<string, Media>; headers: Json }>;
  method: string;
  /** As published, for example `/api/v1/members/{id}`. */
  path: string;
}

export const committedDescription: string = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8');
export const description = JSON.parse(committedDescription) as Json & { paths: Record<string, Record<string, Json>> };

/** Generates the description from the current routes. */
export const generateDescription: () => Promise<string> = describeApi;

/** Resolves a reference within the description. */
export function resolve<T>(value: T | { $ref: string }): T {
  const { $ref } = value as { $ref?: string };
  if ($ref === undefined) return value as T;
  const found = $ref
    .slice(2)
    .split('/')
    .reduce<unknown>((at, key) => (at as Json | undefined)?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], description);
  if (!$ref.startsWith('#/') || found === undefined) throw new Error(`${$ref} does not exist`);
  return resolve(found as T);
}

export const operations: Operation[] = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => {
    const responses = Object.entries(operation.responses as Operation['responses']).map(([status, response]) => [status, resolve(response)]);
    const parameters = ((operation.parameters ?? []) as Parameter[]).map(resolve);
    return { ...operation, parameters, responses: Object.fromEntries(responses), method: method.toUpperCase(), path } as Operation;
  }),
);

const ajv = new Ajv2020({ strict: false, allErrors: true });
// cast: the package is CommonJS, and its types describe an ES module.
(addFormats as unknown as typeof addFormats.default)(ajv);
ajv.addFormat('moment', (text) => !Number.isNaN(Date.parse(text)));
ajv.addFormat('name', (text) => !hidesText(text));
ajv.addSchema(description, 'api');
const compiled = new WeakMap<object, ValidateFunction>();

/** Validates a value against a schema of the description. Returns the errors, or `null` if it is valid. */
export function mistakeIn(value: unknown, schema: Json): string | null {
  const validate = compiled.get(schema) ?? ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')));
  compiled.set(schema, validate);
  return validate(value) ? null : ajv.errorsText(validate.errors);
}

export interface ReceivedResponse {
  status: number;
  header(name: string): string | null;
  text: string;
}

const CHECKED_HEADERS = ['X-Request-Id', 'ETag', 'Link', 'WWW-Authenticate', 'Retry-After'];

/** Compares a response with the description of the operation. Returns what is different, or `null` if nothing is. */
export function differenceOf(operation: Operation, { status, header, text }: ReceivedResponse): string | null {
  if (status >= 500) return `the status is ${status}: ${text}`;
  const documented = operation.responses[status];
  if (!documented) return `${status} is not documented: ${text}`;
  const [type = ''] = (header('content-type') ?? '').split(';');
  const content = documented.content ?? { '': { schema: { const: null } } };
  const media = content[type];
  if (!media) return `${type} is not documented`;
  const missing = CHECKED_HEADERS.find((name) => name in (documented.headers ?? {}) && header(name) === null);
  if (missing !== undefined) return `the header ${missing} is missing`;
  if (type === 'application/x-ndjson' || type === 'text/event-stream') return null;
  const value = text === '' && !type.startsWith('text/') ? null : /[/+]json$/.test(type) ? JSON.parse(text) : text;
  return mistakeIn(value, media.schema);
}
