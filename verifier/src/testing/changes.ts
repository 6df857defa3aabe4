import type { Schema } from '@rrs/evidence-format';

/** One value of a document, replaced by another one that its schema allows. */
export interface Change {
  /** Names of the keys, without positions in lists. */
  field: string;
  what: string;
  /** Changes the document that was given to `changesOf`, and returns how to undo it. */
  apply(): () => void;
}

/** Yields changes of every value in a document: other values, null, and lists with one item less. */
export function* changesOf(schema: Schema, document: object): Generator<Change> {
  yield* changesIn(schema, document, []);
}

function* changesIn(schema: Schema, value: unknown, path: (string | number)[]): Generator<Change> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      if (schema.items) yield* changesAt({ schema: schema.items, holder: value, key: index }, item, [...path, index]);
    return;
  }
  if (value === null || typeof value !== 'object') return;
  for (const [key, member] of Object.entries(value)) {
    const inner = schema.properties?.[key];
    if (inner) yield* changesAt({ schema: inner, holder: value, key }, member, [...path, key]);
  }
}

interface Place {
  schema: Schema;
  holder: object;
  key: string | number;
}

function* changesAt({ schema, holder, key }: Place, value: unknown, path: (string | number)[]): Generator<Change> {
  const field = path.filter((part) => typeof part === 'string').join('.');
  for (const other of othersOf(schema, value)) {
    const apply = () => {
      Object.assign(holder, { [key]: other });
      return () => void Object.assign(holder, { [key]: value });
    };
    yield { field, what: `${path.join('.')}: ${JSON.stringify(value)?.slice(0, 60)} → ${JSON.stringify(other)?.slice(0, 60)}`, apply };
  }
  yield* changesIn(schema, value, path);
}

const HOUR_MS = 3_600_000;
const MOST_VALUES = 12;
const OTHER_ID = '01900000-0000-7000-8000-00000000abcd';

function* othersOf({ type, enum: values, pattern, const: fixed }: Schema, value: unknown): Generator<unknown> {
  if (fixed !== undefined) return;
  const types = [type ?? []].flat();
  if (Array.isArray(value)) {
    if (value.length > 0) yield value.slice(0, -1);
    return;
  }
  if (value !== null && types.includes('null')) yield null;
  if (values) return yield* someOf(values.filter((other) => other !== value));
  if (types.includes('boolean')) yield value !== true;
  else if (types.includes('string')) yield* otherTexts(pattern ?? '', typeof value === 'string' ? value : null);
  else if (types.includes('integer') || types.includes('number'))
    yield typeof value === 'number' ? value / 2 + (Number.isInteger(value) ? value / 2 + 1 : 0) : 1;
}

/** Codes of a long list are compared in the same way, so some of them are enough. */
function someOf<T>(values: readonly T[]): readonly T[] {
  const step = Math.ceil(values.length / MOST_VALUES);
  return values.filter((_, index) => index % step === 0);
}

function* otherTexts(pattern: string, value: string | null): Generator<string> {
  if (pattern.includes('T(')) {
    const time = value === null ? Date.parse('2026-02-20T09:00:00Z') : Date.parse(value);
    yield new Date(time - HOUR_MS).toISOString();
    yield new Date(time + HOUR_MS).toISOString();
  } else if (pattern.includes('{64}')) yield '9'.repeat(64);
  else if (pattern.includes('{12}')) yield OTHER_ID;
  else yield `${value ?? (pattern.includes('data') ? 'data/' : '')}x`;
}
