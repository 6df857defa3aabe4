import type { JsonType, Schema } from './validate.ts';

declare const valueType: unique symbol;

/** A schema that accepts exactly the values of `T`. A schema that differs from `T` does not compile. */
export type Of<T> = Schema & { readonly [valueType]?: (value: T) => T };

export function object<T extends object>(properties: { readonly [K in keyof T]: Of<T[K]> }): Of<T> {
  return { type: 'object', additionalProperties: false, required: Object.keys(properties), properties: properties as Readonly<Record<string, Schema>> };
}

export function field<T>(description: string, schema: Of<T>): Of<T> {
  return { ...schema, description };
}

export function list<T>(items: Of<T>): Of<T[]> {
  return { type: 'array', items: items as Schema };
}

/** A list of distinct strings. */
export function set<T extends string>(items: Of<T>): Of<T[]> {
  return { type: 'array', items: items as Schema, uniqueItems: true };
}

export function one<T>(items: Of<T>): Of<[T]> {
  return { type: 'array', items: items as Schema, minItems: 1, maxItems: 1 };
}

export function choice<const L extends readonly string[]>(values: L): Of<L[number]> {
  return { type: 'string', enum: values };
}

export function constant<const T extends string | number>(value: T): Of<T> {
  return { type: typeof value === 'string' ? 'string' : 'integer', const: value };
}

/** An object with any keys. */
export function record<T>(values: Of<T>): Of<Record<string, T>> {
  return { type: 'object', additionalProperties: values as Schema };
}

/** Texts and numbers. */
export const scalar: Of<string | number> = { type: ['string', 'number'] };
/** Any JSON value. */
export const anything: Of<unknown> = {};

export function text(pattern: RegExp): Of<string> {
  return { type: 'string', pattern: pattern.source };
}

export function whole(minimum: number): Of<number> {
  return { type: 'integer', minimum, maximum: Number.MAX_SAFE_INTEGER };
}

export function between(minimum: number, maximum: number): Of<number> {
  return { type: 'number', minimum, maximum };
}

export function nullable<T>(schema: Of<T>): Of<T | null> {
  const { type, enum: values, ...rest } = schema as Schema;
  return { ...rest, type: [type as JsonType, 'null'], ...(values !== undefined && { enum: [...values, null] }) };
}

export const anyText: Of<string> = { type: 'string' };
export const name: Of<string> = { type: 'string', minLength: 1 };
export const flag: Of<boolean> = { type: 'boolean' };
export const uuid = text(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
/** Programs read a day that its month does not have in different ways. */
export const date = text(/^\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|[12]\d))$/);
/** RFC 3339 in UTC with milliseconds. */
export const time = text(
  /^\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|[12]\d))T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/,
);
export const sha256Text = text(/^[0-9a-f]{64}$/);
