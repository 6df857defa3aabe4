// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the text is sent as it is
import { hidesText } from '@rrs/evidence-format';
import fc from 'fast-check';
import { type Operation, resolve } from './description.ts';

type Json = Record<string, unknown>;

/** Hostile input for text fields. */
const HOSTILE_TEXT = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\u202e\ufeff',
  '💥'.repeat(300),
  'x'.repeat(100_000),
  "'; drop table members; --",
  "' or 1=1 --",
  '<script>alert(1)</script>',
  '${7*7}{{7*7}}%s%n',
  '../../../../etc/passwd',
  '-1',
  '1e309',
  '9'.repeat(400),
  'NaN',
  'null',
  'true',
  '[]',
  '{}',
  '__proto__',
  '2026-02-30',
  '2026-12-31T23:59:60Z',
  '+275760-09-13T00:00:00.001Z',
  '0000-00-00T00:00:00Z',
  '00000000-0000-0000-0000-000000000000',
  '%00',
  '%',
  'ädmin@exämple.com',
  '\r\nx-evil: 1',
] as const;

const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXT),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
);

const deep = (depth: number): unknown => JSON.parse(`${'[{"a":'.repeat(depth)}1${'}]'.repeat(depth)}`);

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, -0, 2 ** 31, 2 ** 53, 1e308, [], {}, [null], [[]], deep(5), deep(2_000)),
  fc.jsonValue({ maxDepth: 3 }),
);

function validValue(given: Json, ids: readonly string[]): fc.Arbitrary<unknown> {
  const schema = resolve(given);
  const { type, properties, required, items, enum: values, minimum, maximum, pattern } = schema as Json & { type?: string | string[] };
  if (Array.isArray(values)) return fc.constantFrom(...(values as unknown[]));
  if (Array.isArray(type)) return fc.oneof(...type.map((each) => validValue({ ...schema, type: each }, ids)));
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: Number(minimum ?? 0), max: Number(maximum ?? 1_000) });
    case 'array':
      return fc.array(validValue(items as Json, ids), { maxLength: 3 });
    case 'object':
      return fc.record(Object.fromEntries(Object.entries((properties ?? {}) as Record<string, Json>).map(([name, part]) => [name, validValue(part, ids)])), {
        // cast: the keys are known only at run time.
        requiredKeys: (required ?? []) as never[],
      });
    default:
      // Random text hardly ever matches an anchored pattern.
      if (typeof pattern === 'string' && pattern.startsWith('^')) return fc.stringMatching(new RegExp(pattern, 'u'));
      return validText(schema, ids).filter((text) => typeof pattern !== 'string' || new RegExp(pattern, 'u').test(text));
  }
}

function validText({ format, minLength, maxLength }: Json, ids: readonly string[]): fc.Arbitrary<string> {
  const moment = fc.date({ noInvalidDate: true, min: new Date('2020-01-01'), max: new Date('2100-01-01') }).map((date) => date.toISOString());
  switch (format) {
    case 'uuid':
      return fc.oneof(fc.constantFrom(...ids), fc.uuid());
    case 'date-time':
      return moment;
    case 'moment':
      return fc.oneof(
        moment,
        moment.map((text) => text.slice(0, 10)),
      );
    case 'email':
      return fc.emailAddress();
    default: {
      const min = Number(minLength ?? 0);
      const text = fc.string({ unit: 'grapheme-composite', minLength: min, maxLength: Math.max(min, Math.min(30, Number(maxLength ?? 30))) });
      return format === 'name' ? text.filter((name) => !hidesText(name)) : text;
    }
  }
}

/** A valid value, a valid object with one hostile or one additional property, or any hostile value. */
function nearlyValidValue(schema: Json, ids: readonly string[]): fc.Arbitrary<unknown> {
  const spoiled = fc.tuple(validValue(schema, ids), fc.nat(), hostileValue).map(([value, index, evil]) => {
    if (value === null || typeof value !== 'object') return evil;
    const keys = Object.keys(resolve(schema).properties ?? {});
    return { ...value, [keys[index % Math.max(1, keys.length)] ?? 'extra']: evil };
  });
  const extended = fc.tuple(validValue(schema, ids), hostileText, hostileValue).map(([value, key, evil]) => ({ ...(value as object), [key]: evil }));
  return fc.oneof({ weight: 4, arbitrary: validValue(schema, ids) }, { weight: 4, arbitrary: spoiled }, { weight: 1, arbitrary: extended }, hostileValue);
}

export interface FuzzedRequest {
  url: string;
  headers: Record<string, string>;
  payload: string | undefined;
}

/** Requests to a described operation: valid ones, nearly valid ones and hostile ones. */
export function requestsTo(operation: Operation, ids: readonly string[]): fc.Arbitrary<FuzzedRequest> {
  const text = (schema: Json) =>
    fc.oneof({ weight: 5, arbitrary: validValue(schema, ids).map((value) => [value].flat().join(',')) }, { weight: 2, arbitrary: hostileText });
  const all = (place: string) => operation.parameters.filter(({ in: where }) => where === place);
  const values = (place: string, requiredKeys: string[]) =>
    // cast: the keys are known only at run time.
    fc.record(Object.fromEntries(all(place).map(({ name, schema }) => [name, text(schema)])), { requiredKeys: requiredKeys as never[] });
  const query = fc.tuple(
    values('query', []),
    fc.oneof({ weight: 6, arbitrary: fc.constant([]) }, fc.array(fc.tuple(fc.constantFrom('limit', 'sort', 'x', '__proto__'), hostileText), { maxLength: 2 })),
  );
  const schema = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  const body = schema === undefined ? fc.constant(undefined) : nearlyValidValue(schema, ids).map((value) => JSON.stringify(value));
  const path = values(
    'path',
    all('path').map(({ name }) => name),
  );
  return fc.tuple(path, query, values('header', []), body).map(([params, [named, extra], headers, payload]) => ({
    url: `${operation.path.replace(/\{(\w+)\}/g, (_, name: string) => segment(params[name] ?? ''))}${search([...Object.entries(named), ...extra])}`,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, headerText(String(value))])),
    payload,
  }));
}

function search(pairs: readonly (readonly [string, unknown])[]): string {
  return pairs.length === 0 ? '' : `?${pairs.map(([name, value]) => `${name}=${encode(String(value))}`).join('&')}`;
}

/** Clients remove the segments `.` and `..`, so that a request with them is one to another path. */
const segment = (text: string): string => (/^\.{1,2}$/.test(text) ? '%20' : encode(text));

const encode = (text: string): string => encodeURIComponent(text.toWellFormed().slice(0, 2_000));

/** Replaces the characters that an HTTP client cannot send in a header. */
const headerText = (text: string): string => text.replaceAll(/[^\x20-\x7e\xa0-\xff]/g, '?').slice(0, 4_000);
