import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Static, TSchema } from 'typebox';
import { AppError, type FieldError } from '../shared/errors.ts';

export type Part = FieldError['in'];
export type JsonSchema = { type?: string; properties?: Record<string, JsonSchema>; [keyword: string]: unknown };

const MAX_REPORTED = 100;
const MAX_DEPTH = 50;
const MAX_SHOWN = 100;

const common = { allErrors: true, verbose: true, strict: false, useDefaults: true } as const;
export const strictTypes = withFormats(new Ajv2020({ ...common, coerceTypes: false }));
export const fromText = withFormats(new Ajv2020({ ...common, coerceTypes: true }));

function withFormats(ajv: Ajv2020): Ajv2020 {
  (addFormats as unknown as typeof addFormats.default)(ajv, ['uuid', 'date', 'email', 'uri', 'uri-reference']);
  return ajv.addFormat('moment', isMoment).addFormat('date-time', (value) => value.length > 10 && isMoment(value));
}

/** A date or a date-time that exists: `Date` would turn February 30th into March 2nd. */
function isMoment(value: string): boolean {
  const [, date] = /^(\d{4}-\d{2}-\d{2})(?:[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2}))?$/.exec(value) ?? [];
  if (date === undefined || Number.isNaN(Date.parse(value.toUpperCase()))) return false;
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);
}

/** What is wrong with a value; nothing if it is right. */
export type Check = (value: unknown) => readonly ErrorObject[];

/** There are hundreds of schemas, and compiling them all would be a good part of a start. */
export function onDemand(ajv: Ajv2020, schema: object): Check {
  let check: ValidateFunction | undefined;
  return (value) => {
    check ??= ajv.compile(schema);
    return check(value) ? [] : (check.errors ?? []);
  };
}

/** For a body that its route reads itself, because it may come as a form: the same check and the same words. */
export function bodyCheck<T extends TSchema>(schema: T): (value: unknown) => Static<T> {
  const check = onDemand(strictTypes, schema as object);
  return (value) => {
    const errors = unstorable('body', value);
    errors.push(...check(value).flatMap((error) => fieldError('body', error)));
    if (errors.length > 0) throw validationFailed(errors);
    return value as Static<T>;
  };
}

/** For a part of a body whose schema only its feature knows: what is wrong with it, in the same words. What was left out gets its default. */
export function partCheck(schema: object, at: string): (value: unknown) => FieldError[] {
  const check = onDemand(strictTypes, schema);
  return (value) => check(value).flatMap((error) => fieldError('body', { ...error, instancePath: `${at}${error.instancePath}` }));
}

/** For JSON that came as text, so that nobody has looked inside yet. */
export function textCheck(schema: object, at: string): (value: unknown) => FieldError[] {
  const check = partCheck(schema, at);
  return (value) => [...unstorable('body', value, at), ...check(value)];
}

export function validationFailed(errors: readonly FieldError[]): AppError {
  const listed = errors.slice(0, 3).map((error) => `${error.path || error.in}: ${error.detail}`);
  const more = errors.length > listed.length ? `; and ${errors.length - listed.length} more` : '';
  return new AppError('validation_failed', `The request has ${errors.length} ${errors.length === 1 ? 'mistake' : 'mistakes'}: ${listed.join('; ')}${more}.`, {
    errors: errors.slice(0, MAX_REPORTED),
  });
}

/**
 * PostgreSQL's text can hold neither U+0000 nor half a surrogate pair, and no field of ours wants them. Without recursion:
 * a body of 1 MiB has room for enough brackets to overflow the stack, here or in whoever walks it next.
 */
export function unstorable(part: Part, root: unknown, at = ''): FieldError[] {
  const errors: FieldError[] = [];
  const left: { value: unknown; path: string; depth: number }[] = [{ value: root, path: at, depth: 0 }];
  for (let next = left.pop(); next && errors.length < MAX_REPORTED; next = left.pop()) {
    const { value, path, depth } = next;
    const say = (code: string, detail: string) => errors.push({ in: part, path, code, detail });
    if (typeof value === 'string') sayCharacters(value, say);
    if (value === null || typeof value !== 'object') continue;
    if (depth === MAX_DEPTH) {
      say('too_deep', `must not be nested deeper than ${MAX_DEPTH} levels`);
      continue;
    }
    for (const [key, item] of Object.entries(value).reverse()) {
      sayCharacters(key, say);
      left.push({ value: item, path: `${path}/${pointer(key)}`, depth: depth + 1 });
    }
  }
  return errors;
}

function sayCharacters(text: string, say: (code: string, detail: string) => void): void {
  if (text.includes('\u0000')) say('invalid_character', 'must not contain the character U+0000');
  if (!text.isWellFormed()) say('invalid_character', 'must not contain half of a surrogate pair');
}

function pointer(key: string): string {
  const shown = key.length > MAX_SHOWN ? `${key.slice(0, MAX_SHOWN)}…` : key;
  return shown.replaceAll('~', '~0').replaceAll('/', '~1');
}

export function fieldError(part: Part, error: ErrorObject): FieldError[] {
  const at = error.instancePath;
  const params = error.params as Record<string, unknown>;
  const say = (code: string, detail: string, path = at): FieldError[] => [{ in: part, path, code, detail }];
  switch (error.keyword) {
    case 'additionalProperties': {
      const name = String(params.additionalProperty);
      const allowed = Object.keys((error.parentSchema as JsonSchema).properties ?? {});
      const known = allowed.length > 0 ? `allowed: ${allowed.join(', ')}` : 'none is allowed here';
      return say(part === 'query' ? 'unknown_parameter' : 'unknown_field', `is not known; ${known}`, `${at}/${pointer(name)}`);
    }
    case 'required':
      return say('required', 'is required', `${at}/${pointer(String(params.missingProperty))}`);
    case 'enum':
      return say('not_allowed', `must be one of: ${(params.allowedValues as unknown[]).map((value) => value ?? 'null').join(', ')}`);
    case 'type':
      if (part === 'query' && Array.isArray(error.data)) return say('repeated', 'must be given only once');
      return say('wrong_type', `must be of type ${[params.type].flat().join(' or ')}`);
    case 'format':
      return say('wrong_format', `must be ${formats[String(params.format)] ?? `a valid ${String(params.format)}`}`);
    case 'pattern':
      return say('wrong_format', `must be of the form: ${String((error.parentSchema as JsonSchema).description ?? params.pattern)}`);
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return say('too_short', `must have at least ${unitOf(error.keyword, Number(params.limit))}`);
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return say('too_long', `must have at most ${unitOf(error.keyword, Number(params.limit))}`);
    case 'minimum':
    case 'exclusiveMinimum':
    case 'maximum':
    case 'exclusiveMaximum':
      return say('out_of_range', `must be ${String(params.comparison)} ${String(params.limit)}`);
    case 'uniqueItems':
      return say('repeated', 'must not contain the same item twice');
    default:
      return say('invalid', error.message ?? 'is invalid');
  }
}

const formats: Readonly<Record<string, string>> = {
  moment: 'a date (2026-11-15) or a date-time with an offset (2026-11-15T09:30:00Z)',
  'date-time': 'a date-time with an offset (2026-11-15T09:30:00Z)',
  uuid: 'a UUID',
  email: 'an e-mail address',
};

function unitOf(keyword: string, limit: number): string {
  const unit = keyword.endsWith('Length') ? 'character' : keyword.endsWith('Items') ? 'item' : 'field';
  return `${limit} ${unit}${limit === 1 ? '' : 's'}`;
}
