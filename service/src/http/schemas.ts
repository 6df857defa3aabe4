import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../shared/errors.ts';
import { PROBLEM_MEDIA_TYPE, problemKinds } from './problems.ts';

export const Id = Type.String({ format: 'uuid', description: 'UUIDv7', examples: ['01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11'] });
export const Timestamp = Type.String({ format: 'date-time', description: 'RFC 3339, UTC, milliseconds', examples: ['2026-11-15T09:30:00.000Z'] });

export function Text(minLength: number, maxLength: number, options: Record<string, unknown> = {}) {
  return Type.String({ minLength, maxLength, ...options });
}

export function OneOf<const T extends readonly string[]>(values: T, options: Record<string, unknown> = {}) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: values, ...options });
}

/** JSON Schema's own way (a list of types), so that mistakes are reported against the type and not against a union. */
export function Nullable<T extends TSchema>(schema: T) {
  const { type, enum: values, ...rest } = schema as T & { type: string; enum?: string[] };
  return Type.Unsafe<Static<T> | null>({ ...rest, type: [type, 'null'], ...(values ? { enum: [...values, null] } : {}) });
}

/** A request object: what is not named is refused. */
export function Strict<T extends TProperties>(properties: T, options: Record<string, unknown> = {}): TObject<T> {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** A response object with a name in the published description; every key is always there. */
export function Named<T extends TProperties>(title: string, properties: T, options: Record<string, unknown> = {}): TObject<T> {
  return Type.Object(properties, { title, additionalProperties: false, ...options });
}

const Problem = Named(
  'Problem',
  {
    type: Type.String({ format: 'uri-reference', description: 'Address of a page that explains this kind of problem' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'What is wrong here and what to do about it' }),
    instance: Type.String({ description: 'The path that was asked for' }),
    code: OneOf(Object.keys(problemKinds), { description: 'Stable, for programs' }),
    request_id: Type.String(),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          in: OneOf(['body', 'query', 'path', 'header']),
          path: Type.String({ description: 'JSON pointer to the mistake' }),
          code: Type.String(),
          detail: Type.String(),
        }),
        { description: 'All mistakes of the request, for validation problems' },
      ),
    ),
  },
  { description: 'RFC 9457 problem details' },
);

const exampleDetails: Partial<Record<ErrorCode, string>> = {
  validation_failed: 'The request has 1 mistake: /name: is required.',
  forbidden: 'This needs the permission "api_keys:manage" (roles owner, admin); your role is viewer.',
  not_found: 'There is no member "01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11" in your organization. Check the id, or list them to find it.',
  stale_version: 'The current version is "4", If-Match asked for "3". Read it again and repeat the change on what it is now.',
  rate_limited: 'The limit of 600 requests per minute is used up. Try again in 2 seconds.',
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
  } as Static<typeof Problem>;
}

/** The refusals of a route, by code; those of one status share its entry in the description. */
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
