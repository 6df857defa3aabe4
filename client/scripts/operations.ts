import { comment, keyOf, nameOf, type Schema, typeOf } from './describe-types.ts';

interface Parameter {
  $ref?: string;
  in: string;
  name: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}
type Content = Record<string, { schema: Schema }>;
interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}
export interface Description {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** The sources by their names. Types are apart from what runs, so that a program that starts does not read their 300 KiB. */
export function generate({ paths, components }: Description): Record<'api.ts' | 'operations.ts', string> {
  const operations = Object.entries(paths)
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })))
    .sort((a, b) => (a.operation.operationId < b.operation.operationId ? -1 : 1));
  const types = [
    GENERATED,
    '/** A file or other bytes to send. */\nexport type Bytes = Blob | ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | ArrayBuffer;\n',
    ...Object.entries(components.schemas).map(([name, schema]) => `${comment(schema.description)}export type ${name} = ${typeOf(schema)};\n`),
    '/** What each operation takes and returns. */',
    'export interface Operations {',
    ...operations.map(({ operation }) => operationType(operation)),
    '}\n',
  ];
  const calls = [
    GENERATED,
    '/** Method, path, kind of response, and whether a request can be repeated safely with an idempotency key. */',
    'export const operations = {',
    ...operations.map(
      ({ method, path, operation }) => `${operation.operationId}: ['${method}', '${path}', '${responseKind(operation)}', ${canBeRepeated(operation)}],`,
    ),
    '} as const;\n',
  ];
  return { 'api.ts': types.join('\n'), 'operations.ts': calls.join('\n') };
}

const GENERATED = '// Generated from service/openapi.json by `npm run client:generate`. Do not edit.\n';

/** Headers that the client sets itself, or that the platform does. */
const OWN_HEADERS = ['X-Request-Id', 'traceparent', 'Idempotency-Key', 'Last-Event-Id'];

function operationType(operation: Operation): string {
  const parts = (['path', 'query', 'header'] as const).flatMap((place) => parametersType(operation, place));
  const body = bodyType(operation);
  return [
    comment([operation.summary, operation.description].filter(Boolean).join('. ')),
    `${operation.operationId}: {`,
    ...parts,
    ...(body ? [`body: ${body};`] : []),
    `response: ${responseType(operation)};`,
    '};',
  ].join('\n');
}

function parametersType({ parameters = [] }: Operation, place: 'path' | 'query' | 'header'): string[] {
  const own = parameters.filter(({ $ref, in: where, name }) => $ref === undefined && where === place && !OWN_HEADERS.includes(name));
  if (own.length === 0) return [];
  const required = place === 'path' || own.some((one) => one.required);
  const fields = own.map(
    ({ name, description, required: needed, schema }) => `${comment(description)}${keyOf(name)}${needed || place === 'path' ? '' : '?'}: ${typeOf(schema)};`,
  );
  return [`${place}${required ? '' : '?'}: {\n${fields.join('\n')}\n};`];
}

/** A form becomes `FormData`. */
function bodyType({ requestBody }: Operation): string {
  const types = Object.entries(requestBody?.content ?? {}).map(([media, { schema }]) => {
    if (media.endsWith('json')) return typeOf(schema);
    return media === 'multipart/form-data' ? 'FormData' : 'Bytes';
  });
  return [...new Set(types)].join(' | ');
}

function successesOf({ responses }: Operation): Content[] {
  return Object.entries(responses).flatMap(([status, { content }]) => (status.startsWith('2') && content ? [content] : []));
}

function responseKind(operation: Operation): 'json' | 'none' | 'stream' {
  const media = successesOf(operation).flatMap((content) => Object.keys(content));
  if (media.length === 0) return 'none';
  return media.includes('application/json') && media.every((type) => type === 'application/json' || type === 'text/plain') ? 'json' : 'stream';
}

function responseType(operation: Operation): string {
  const kind = responseKind(operation);
  if (kind === 'none') return 'undefined';
  const types = successesOf(operation).map((content) => typeOf(content['application/json']?.schema ?? {}));
  return kind === 'stream' ? 'Response' : [...new Set(types)].join(' | ');
}

function canBeRepeated({ parameters = [] }: Operation): boolean {
  return parameters.some(({ $ref, name }) => ($ref === undefined ? name : nameOf($ref)) === 'Idempotency-Key');
}
