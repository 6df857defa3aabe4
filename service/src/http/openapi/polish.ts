import { isDeepStrictEqual } from 'node:util';
import { PROBLEM_MEDIA_TYPE } from '../problems.ts';

/** Completes the generated description: named components instead of copies, examples, headers and response texts. */
type Json = Record<string, unknown>;
interface Media extends Json {
  schema?: Json;
  example?: unknown;
  examples?: Json;
}
/** A response, or a `$ref` to a shared one. */
interface Response extends Json {
  description?: string;
  content?: Record<string, Media>;
  headers?: Json;
}
interface Operation extends Json {
  parameters?: Json[];
  requestBody?: { required?: boolean; content: Record<string, Media> };
  responses: Record<string, Response>;
  security?: unknown[];
}

const headers = {
  ETag: 'Version of the resource, for `If-Match`',
  Link: 'Links to the first, next and previous page (RFC 8288)',
  Location: 'Path of the created resource',
  RateLimit: 'Number of requests left (`r`) and seconds until the limit is fully restored (`t`)',
  'RateLimit-Policy': 'Rate limit of the credential',
  'Retry-After': 'Seconds to wait before retrying',
  'Set-Cookie': 'Sets or deletes the session cookie',
  'WWW-Authenticate': 'Authentication scheme to use',
  'Idempotency-Replayed': '`true` if this is the stored response of an earlier request with the same idempotency key',
  'X-Request-Id': 'ID of the request: the one you sent, or a generated one. The log contains it too',
} as const;
type HeaderName = keyof typeof headers;

const parameters = {
  RequestId: {
    in: 'header',
    name: 'X-Request-Id',
    description: 'Your own ID for this request. Default: a generated one',
    schema: { type: 'string', pattern: '^[\\w.-]{1,128}$' },
    example: 'build-1742',
  },
  TraceParent: {
    in: 'header',
    name: 'traceparent',
    description: 'W3C trace context. The log contains its trace ID',
    schema: { type: 'string' },
    example: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  },
};

const outcomes: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted', 204: 'No content' };

/** Describes a streamed body: a form with a file and fields, and alternatively the raw file or a JSON object. */
export interface Upload {
  description: string;
  fields: Json;
  /** Required fields of the form in addition to the file. */
  required?: readonly string[];
  /** Example of the form. */
  example: Json & { file: string };
  /** Schema of a JSON body that may be sent instead of the form. */
  json?: object;
  /** Media type of the raw body in the description. Any media type is accepted. */
  mediaType?: string;
  /** Whether only the raw body is accepted, and no form. */
  formless?: boolean;
}

function uploadBody({
  description,
  fields,
  required = [],
  example,
  json,
  mediaType = 'application/octet-stream',
  formless = false,
}: Upload): NonNullable<Operation['requestBody']> {
  const form = {
    type: 'object',
    additionalProperties: false,
    required: ['file', ...required],
    properties: { file: { type: 'string', format: 'binary', description }, ...fields },
  };
  const alternative = json
    ? { 'application/json': { schema: json as Json } }
    : { [mediaType]: { schema: { type: 'string', format: 'binary', description }, example: example.file } };
  return { required: true, content: { ...alternative, ...(formless ? {} : { 'multipart/form-data': { schema: form, example } }) } };
}

/** Lists of values by the name of their component. */
export type Enums = Readonly<Record<string, readonly string[]>>;

export function polish(document: Json, { uploads, enums }: { uploads: ReadonlyMap<string, Upload>; enums: Enums }): Json {
  const schemas: Record<string, Json> = Object.fromEntries(Object.entries(enums).map(([name, values]) => [name, { type: 'string', enum: values }]));
  const hoistSchemas = schemaHoister(schemas, enums);
  const responses: Record<string, Response> = {};
  const paths = hoistSchemas(document.paths) as Record<string, Record<string, Operation>>;
  for (const [method, operation] of Object.values(paths).flatMap((path) => Object.entries(path))) {
    const upload = uploads.get(String(operation.operationId));
    if (upload) operation.requestBody = hoistSchemas(uploadBody(upload)) as NonNullable<Operation['requestBody']>;
    addExamples(operation, schemas);
    nameParameters(operation);
    if (method === 'patch' && operation.requestBody) {
      const json = operation.requestBody.content['application/json'] ?? {};
      operation.requestBody.content = { 'application/merge-patch+json': json, 'application/json': json };
    }
    for (const [status, response] of Object.entries(operation.responses)) {
      if (status.startsWith('2') && response.description === 'Default Response') response.description = outcomes[status] ?? 'OK';
      const common = headersOf(status, operation, schemas).map((name) => [name, { $ref: `#/components/headers/${name}` }]);
      response.headers = { ...Object.fromEntries(common), ...response.headers };
      operation.responses[status] = shareProblem(response, responses);
    }
  }
  const components = {
    ...(document.components as Json),
    headers: Object.fromEntries(Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }])),
    parameters,
    responses: sorted(responses),
    schemas: sorted(schemas),
  };
  return { ...document, paths, components };
}

function sorted<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Replaces each object schema that has a title, and each list of values that has a name, by a reference to a component of that name. */
function schemaHoister(schemas: Record<string, Json>, enums: Enums) {
  const nameOf = new Map(Object.entries(enums).map(([name, values]) => [JSON.stringify(values), name]));
  if (nameOf.size < Object.keys(enums).length) throw new Error('two named lists have the same values');

  const withNamedValues = ({ enum: values, type, ...rest }: Json & { enum: unknown[] }): Json => {
    const name = nameOf.get(JSON.stringify(values.filter((one) => one !== null)));
    if (name === undefined) return { type, enum: values, ...rest };
    const reference = { $ref: `#/components/schemas/${name}` };
    return values.includes(null) ? { anyOf: [reference, { type: 'null' }], ...rest } : { ...reference, ...rest };
  };
  const hoist = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(hoist);
    if (value === null || typeof value !== 'object') return value;
    const entries = Object.entries(value).map(([key, item]) => [key, key === 'example' || key === 'examples' ? item : hoist(item)]);
    const { title, ...schema } = Object.fromEntries(entries) as Json;
    if (Array.isArray(schema.enum)) return withNamedValues({ ...schema, enum: schema.enum });
    if (typeof title !== 'string' || schema.type !== 'object') return title === undefined ? schema : { title, ...schema };
    const known = schemas[title];
    if (known !== undefined && !isDeepStrictEqual(known, schema)) throw new Error(`two different schemas have the title ${title}`);
    schemas[title] = schema;
    return { $ref: `#/components/schemas/${title}` };
  };
  return hoist;
}

/** Problem responses with the same codes share one component. */
function shareProblem(response: Response, responses: Record<string, Response>): Response {
  const codes = Object.keys(response.content?.[PROBLEM_MEDIA_TYPE]?.examples ?? {});
  if (codes.length === 0) return response;
  const withLimits = response.headers && 'RateLimit' in response.headers ? '' : '-public';
  const name = `${codes.sort().join('-or-')}${withLimits}`;
  responses[name] ??= response;
  return { $ref: `#/components/responses/${name}` };
}

function nameParameters(operation: Operation): void {
  const own = (operation.parameters ?? []).map((parameter) =>
    parameter.in === 'header' ? { ...parameter, name: headerCase(String(parameter.name)) } : { ...parameter, required: isRequired(parameter) },
  );
  operation.parameters = [...own, ...Object.keys(parameters).map((name) => ({ $ref: `#/components/parameters/${name}` }))];
}

/** A parameter with a default is optional for the caller, although its schema requires it after defaults are applied. */
function isRequired({ required, schema }: Json): boolean {
  return required === true && (schema as Json).default === undefined;
}

function headerCase(name: string): string {
  return name
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('-');
}

function headersOf(status: string, operation: Operation, schemas: Record<string, Json>): HeaderName[] {
  const media = operation.responses[status]?.content?.['application/json'];
  const properties = (resolve(media?.schema ?? {}, schemas).properties ?? {}) as Json;
  const names: HeaderName[] = ['X-Request-Id'];
  // The caller of a request that cannot be read is not known.
  if (status === '408' || status === '431') return names;
  if (operation.security === undefined) names.push('RateLimit', 'RateLimit-Policy');
  if ('page' in properties) names.push('Link');
  // A constant is the version of a format, not of a resource.
  const isResource = (properties.version as Json | undefined)?.type === 'integer';
  if (isResource) names.push('ETag');
  if (status === '201' && isResource) names.push('Location');
  if (status === '201' && (operation.parameters ?? []).some(({ name }) => String(name).toLowerCase() === 'idempotency-key')) names.push('Idempotency-Replayed');
  if (status.startsWith('2') && String(operation.operationId).endsWith('Session')) names.push('Set-Cookie');
  if (status === '401' && operation.security === undefined) names.push('WWW-Authenticate');
  if (status === '429' || status === '503') names.push('Retry-After');
  return names;
}

function addExamples(operation: Operation, schemas: Record<string, Json>): void {
  const bodies = [operation.requestBody, ...Object.values(operation.responses)];
  for (const media of bodies.flatMap((body) => Object.values(body?.content ?? {}))) {
    if (media.example === undefined && media.examples === undefined) media.example = exampleOf(media.schema ?? {}, schemas);
  }
  for (const parameter of operation.parameters ?? []) {
    const { examples } = parameter.schema as Json;
    if (Array.isArray(examples)) parameter.example = examples[0];
  }
}

function resolve(schema: Json, schemas: Record<string, Json>): Json {
  const [first] = Array.isArray(schema.anyOf) ? (schema.anyOf as Json[]) : [schema];
  const { $ref } = first ?? {};
  return typeof $ref === 'string' ? { ...schemas[$ref.split('/').at(-1) ?? ''], ...schema } : schema;
}

/** Returns the example of a schema, or composes one from its properties. */
function exampleOf(schema: Json, schemas: Record<string, Json>): unknown {
  const { examples, type, format, properties, items, enum: values, default: fallback, minimum } = resolve(schema, schemas);
  if (Array.isArray(examples)) return examples[0];
  if (fallback !== undefined) return fallback;
  if (Array.isArray(values)) return values[0];
  const [first] = [type].flat();
  if (first === 'object')
    return Object.fromEntries(Object.entries((properties ?? {}) as Record<string, Json>).map(([name, part]) => [name, exampleOf(part, schemas)]));
  if (first === 'array') return [exampleOf(items as Json, schemas)];
  if (first === 'integer' || first === 'number') return minimum ?? 1;
  if (format === 'date-time') return '2026-11-15T09:30:00.000Z';
  return first === 'boolean' ? true : 'text';
}
