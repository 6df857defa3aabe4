import { hidesText } from '@rrs/evidence-format';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import type { Static, TSchema } from 'typebox';
import { AppError, type FieldError } from '../shared/errors.ts';

export type Part = FieldError['in'];
export type JsonSchema = { type?: string; properties?: Record<string, JsonSchema>; [keyword: string]: unknown };

const MAX_REPORTED = 100;
const MAX_DEPTH = 50;
const MAX_SHOWN = 100;

/** `npm run check` validates the schemas. Doing it here as well would slow down the first request. */
const common = { allErrors: true, verbose: true, strict: false, useDefaults: true, validateSchema: false } as const;
export const strictTypes = withFormats(new Ajv2020({ ...common, coerceTypes: false }));
export const fromText = withFormats(new Ajv2020({ ...common, coerceTypes: true }));

function withFormats(ajv: Ajv2020): Ajv2020 {
  ajvFormats.default(ajv, ['uuid', 'date', 'email', 'uri', 'uri-reference']);
  // A hint for forms. Ajv would warn about an unknown format.
  return ajv
    .addFormat('password', true)
    .addFormat('moment', isMoment)
    .addFormat('name', (value) => !hidesText(value))
    .addFormat('date-time', (value) => value.length > 10 && isMoment(value));
}

/** Whether the text is a date or a date-time that exists. `Date` alone would accept February 30 as March 2. */
function isMoment(value: string): boolean {
  const [, date] = /^(\d{4}-\d{2}-\d{2})(?:[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2}))?$/.exec(value) ?? [];
  if (date === undefined || Number.isNaN(Date.parse(value.toUpperCase()))) return false;
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);
}

/** Returns the errors of a value. */
export type Check = (value: unknown) => readonly ErrorObject[];

/** Compiles the schema on first use, because compiling hundreds of schemas would slow down the start. */
export function onDemand(ajv: Ajv2020, schema: object): Check {
  let check: ValidateFunction | undefined;
  return (value) => {
    check ??= ajv.compile(schema);
    return check(value) ? [] : (check.errors ?? []);
  };
}

/** Validates a body that the route reads itself, because it may be a form. */
export function bodyCheck<T extends TSchema>(schema: T): (value: unknown) => Static<T> {
  const check = onDemand(strictTypes, schema as object);
  return (value) => {
    const errors = unstorable('body', value);
    errors.push(...check(value).flatMap((error) => fieldError('body', error)));
    if (errors.length > 0) throw validationFailed(errors);
    return value as Static<T>;
  };
}

/** Validates a part of a body whose schema only the feature knows. Fills in defaults. */
export function partCheck(schema: object, at: string): (value: unknown) => FieldError[] {
  const check = onDemand(strictTypes, schema);
  return (value) => check(value).flatMap((error) => fieldError('body', { ...error, instancePath: `${at}${error.instancePath}` }));
}

/** Validates JSON that arrived as text, and so has not been checked for characters that cannot be stored. */
export function textCheck(schema: object, at: string): (value: unknown) => FieldError[] {
  const check = partCheck(schema, at);
  return (value) => [...unstorable('body', value, at), ...check(value)];
}

export function validationFailed(errors: readonly FieldError[]): AppError {
  const listed = errors.slice(0, 3).map((error) => `${error.path || error.in}: ${error.detail}`);
  const more = errors.length > listed.length ? `; and ${errors.length - listed.length} more` : '';
  return new AppError('validation_failed', `The request has ${errors.length} ${errors.length === 1 ? 'error' : 'errors'}: ${listed.join('; ')}${more}.`, {
    errors: errors.slice(0, MAX_REPORTED),
  });
}

/**
 * PostgreSQL's text type cannot store U+0000 or unpaired surrogates. The walk is iterative and limits the depth, because
 * a body of 1 MiB can nest deeply enough to overflow the stack of a recursive function, here or later.
 */
export function unstorable(part: Part, root: unknown, at = ''): FieldError[] {
  const errors: FieldError[] = [];
  const left: { value: unknown; path: string; depth: number }[] = [{ value: root, path: at, depth: 0 }];
  for (let next = left.pop(); next && errors.length < MAX_REPORTED; next = left.pop()) {
    const { value, path, depth } = next;
    const report = (code: string, detail: string) => errors.push({ in: part, path, code, detail });
    if (typeof value === 'string') checkCharacters(value, report);
    if (value === null || typeof value !== 'object') continue;
    if (depth === MAX_DEPTH) {
      report('too_deep', `must not be nested more than ${MAX_DEPTH} levels deep`);
      continue;
    }
    for (const [key, item] of Object.entries(value).reverse()) {
      checkCharacters(key, report);
      left.push({ value: item, path: `${path}/${pointer(key)}`, depth: depth + 1 });
    }
  }
  return errors;
}

function checkCharacters(text: string, report: (code: string, detail: string) => void): void {
  if (text.includes('\u0000')) report('invalid_character', 'must not contain the character U+0000');
  if (!text.isWellFormed()) report('invalid_character', 'must not contain an unpaired surrogate');
}

function pointer(key: string): string {
  const shown = key.length > MAX_SHOWN ? `${key.slice(0, MAX_SHOWN)}…` : key;
  return shown.replaceAll('~', '~0').replaceAll('/', '~1');
}

export function fieldError(part: Part, error: ErrorObject): FieldError[] {
  const at = error.instancePath;
  const params = error.params as Record<string, unknown>;
  const report = (code: string, detail: string, path = at): FieldError[] => [{ in: part, path, code, detail }];
  switch (error.keyword) {
    case 'additionalProperties': {
      const name = String(params.additionalProperty);
      const allowed = Object.keys((error.parentSchema as JsonSchema).properties ?? {});
      const kind = part === 'query' ? 'parameter' : 'field';
      const known = allowed.length > 0 ? `allowed: ${allowed.join(', ')}` : 'none are allowed';
      return report(`unknown_${kind}`, `is an unknown ${kind} (${known})`, `${at}/${pointer(name)}`);
    }
    case 'required': {
      const name = String(params.missingProperty);
      const about = (error.parentSchema as JsonSchema).properties?.[name]?.description;
      return report('required', typeof about === 'string' ? `is required (${firstSentence(about)})` : 'is required', `${at}/${pointer(name)}`);
    }
    case 'dependentRequired':
      return report('required', `is required with \`${String(params.property)}\``, `${at}/${pointer(String(params.missingProperty))}`);
    case 'enum':
      return report('not_allowed', `must be one of: ${(params.allowedValues as unknown[]).map((value) => value ?? 'null').join(', ')}`);
    case 'type':
      if (part === 'query' && Array.isArray(error.data)) return report('repeated', 'must not be repeated');
      return report('wrong_type', `must be of type ${[params.type].flat().join(' or ')}`);
    case 'format':
      return report('wrong_format', `must be ${formats[String(params.format)] ?? `a valid ${String(params.format)}`}`);
    case 'pattern':
      return report('wrong_format', formOf(String(params.pattern), (error.parentSchema as JsonSchema).description));
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return report('too_short', `must have at least ${unitOf(error.keyword, Number(params.limit))}`);
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return report('too_long', `must have at most ${unitOf(error.keyword, Number(params.limit))}`);
    case 'minimum':
    case 'exclusiveMinimum':
    case 'maximum':
    case 'exclusiveMaximum':
      return report('out_of_range', `must be ${rangeOf(error.parentSchema) ?? `${bounds[error.keyword]} ${String(params.limit)}`}`);
    case 'uniqueItems':
      return report('repeated', 'must not contain duplicate items');
    default:
      return report('invalid', error.message ?? 'is invalid');
  }
}

/** Names and texts are described by what they are for, which says nothing about their form. */
const VISIBLE: readonly string[] = ['\\S', '[\\p{L}\\p{N}\\p{P}\\p{S}]'];

function formOf(pattern: string, description: unknown): string {
  if (VISIBLE.includes(pattern)) return 'must have at least one visible character';
  return `must have the form: ${typeof description === 'string' ? firstSentence(description) : pattern}`;
}

/** Descriptions may go on for several sentences. */
function firstSentence(description: string): string {
  return description.split(/\.(?:\s|$)/, 1).join('');
}

function rangeOf(schema: ErrorObject['parentSchema']): string | null {
  const { minimum, maximum } = schema ?? {};
  return minimum === undefined || maximum === undefined ? null : `between ${minimum} and ${maximum}`;
}

const bounds = { minimum: 'at least', exclusiveMinimum: 'greater than', maximum: 'at most', exclusiveMaximum: 'less than' } as const;

const formats: Readonly<Record<string, string>> = {
  moment: 'a date (2026-11-15) or a date-time with an offset (2026-11-15T09:30:00Z)',
  'date-time': 'a date-time with an offset (2026-11-15T09:30:00Z)',
  name: 'text without line breaks, invisible characters and changes of direction',
  uuid: 'a UUID',
  email: 'an e-mail address',
};

function unitOf(keyword: string, limit: number): string {
  const unit = keyword.endsWith('Length') ? 'character' : keyword.endsWith('Items') ? 'item' : 'field';
  return `${limit} ${unit}${limit === 1 ? '' : 's'}`;
}
