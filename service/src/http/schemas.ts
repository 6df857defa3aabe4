import type { Readable } from 'node:stream';
import { type Static, type TObject, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox';
import type { ErrorCode } from '../shared/errors.ts';
import { PROBLEM_MEDIA_TYPE, problemKinds } from './problems.ts';

export const Id = Type.String({ format: 'uuid', description: 'ID (UUIDv7)', examples: ['01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11'] });
export const Timestamp = Type.String({
  format: 'date-time',
  description: 'Time in UTC (RFC 3339, with milliseconds)',
  examples: ['2026-11-15T09:30:00.000Z'],
});

export function Text(minLength: number, maxLength: number, options: Record<string, unknown> = {}) {
  return Type.String({ minLength, maxLength, ...options });
}

/** A name that people see. Threat: with characters that nobody sees, it could look like another name. */
export function VisibleName(minLength: number, maxLength: number, options: Record<string, unknown> = {}) {
  return Text(minLength, maxLength, { format: 'name', ...options });
}

export function OneOf<const T extends readonly string[]>(values: T, options: Record<string, unknown> = {}) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: values, ...options });
}

/** Uses a list of types instead of a union, so that an error is reported against the type and not against the union. */
export function Nullable<T extends TSchema>(schema: T) {
  const { type, enum: values, ...rest } = schema as T & { type: string; enum?: string[] };
  return Type.Unsafe<Static<T> | null>({ ...rest, type: [type, 'null'], ...(values ? { enum: [...values, null] } : {}) });
}

/** A request object. Unknown properties are refused. */
export function Strict<T extends TProperties>(properties: T, options: Record<string, unknown> = {}): TObject<T> {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** An object with a name in the published description. */
export function Named<T extends TProperties>(title: string, properties: T, options: Record<string, unknown> = {}): TObject<T> {
  return Type.Object(properties, { title, additionalProperties: false, ...options });
}

export function PersonRef(description: string) {
  const fields = {
    id: Type.String({ description: 'Id of the member. If no member stands behind the credential: id of the API key, or subject of the access token' }),
    name: Type.String({ description: 'Name of the person' }),
  };
  return Nullable(Type.Object(fields, { description, examples: [{ id: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11', name: 'Ada Lovelace' }] }));
}

/** A response in other media types than JSON, or in several. `Body` is what `reply.send` accepts. */
export interface MediaResponse<Body> {
  description: string;
  content: Record<string, { schema: TUnsafe<Body>; example?: unknown }>;
}

/** Declares a response by media type. By default the handler may send text, bytes or a stream. */
export function media<Body = string | Uint8Array | Readable>(
  description: string,
  content: Readonly<Record<string, { schema: TSchema; example?: unknown }>>,
): MediaResponse<Body> {
  return {
    description,
    content: Object.fromEntries(Object.entries(content).map(([type, { schema, ...rest }]) => [type, { schema: Type.Unsafe<Body>(schema), ...rest }])),
  };
}

const Problem = Named(
  'Problem',
  {
    type: Type.String({ format: 'uri-reference', description: 'URL of a page that explains this kind of problem' }),
    title: Type.String({ description: 'Short summary of the kind of problem' }),
    status: Type.Integer({ description: 'HTTP status code' }),
    detail: Type.String({ description: 'What is wrong with this request, and what to do' }),
    instance: Type.String({ description: 'Path of the request' }),
    code: OneOf(Object.keys(problemKinds), { description: 'Stable code of the kind of problem, for programs' }),
    request_id: Type.String({ description: 'ID of the request, as in the `X-Request-Id` header and in the log' }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          in: OneOf(['body', 'query', 'path', 'header'], { description: 'Part of the request that contains the error' }),
          path: Type.String({ description: 'JSON pointer to the error in that part' }),
          code: Type.String({ description: 'Stable code of the error, for programs' }),
          detail: Type.String({ description: 'What is wrong, and what is allowed' }),
        }),
        { description: 'All errors of the request, at most 100. Only present for validation problems' },
      ),
    ),
  },
  { description: 'RFC 9457 problem details' },
);

const exampleDetails: Partial<Record<ErrorCode, string>> = {
  validation_failed: 'The request has 1 error: /name: is required.',
  forbidden: 'This operation requires the permission "api_keys:manage" (roles: owner, admin). Your role is viewer.',
  not_found: 'No member "01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11" exists in your organization. Check the ID.',
  stale_version: 'The current version is "4". If-Match names another version. Read the resource again and repeat your change.',
  rate_limited: 'You exceeded the limit of 600 requests per minute. Retry in 2 seconds.',
};

function exampleProblem(code: ErrorCode): Static<typeof Problem> {
  const { status, title, help } = problemKinds[code];
  return {
    type: `https://rrs.example/problems/${code}`,
    title,
    status,
    detail: exampleDetails[code] ?? help,
    instance: '/api/v1/…',
    code,
    request_id: '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11',
    ...(code === 'validation_failed' ? { errors: [{ in: 'body', path: '/name', code: 'required', detail: 'is required' }] } : {}),
  };
}

/** The error responses of a route. Codes with the same status share one entry in the description. */
export function problems(...codes: ErrorCode[]): Record<number, unknown> {
  const byStatus = Map.groupBy(codes, (code) => problemKinds[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      status,
      {
        description: group.map((code) => `${problemKinds[code].title} (\`${code}\`)`).join('; '),
        content: {
          [PROBLEM_MEDIA_TYPE]: { schema: Problem, examples: Object.fromEntries(group.map((code) => [code, { value: exampleProblem(code) }])) },
        },
      },
    ]),
  );
}
