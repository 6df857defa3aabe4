import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EvidenceDocument } from '../document/evidence.ts';
import { choice, nullable, type Of, object } from '../json/typed-schema.ts';
import { type Schema, type SchemaFault, validate } from '../json/validate.ts';
import { sampleEvidence } from '../testing/sample-evidence.ts';
import { findingSchema } from './finding.ts';
import { evidenceSchema, schemaFiles } from './schema.ts';

const compiled = schemaFiles.map(({ text }) => new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true }).compile(JSON.parse(text)));

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Path = (string | number)[];

function pathsOf(value: Json, path: Path = []): Path[] {
  const children = Array.isArray(value) ? [...value.entries()] : value !== null && typeof value === 'object' ? Object.entries(value) : [];
  return [path, ...children.flatMap(([key, child]) => pathsOf(child as Json, [...path, key]))];
}

function mutated(document: Json, path: Path, change: (parent: Record<string | number, Json>, key: string | number) => void): Json {
  const copy = structuredClone({ document });
  let parent = copy as unknown as Record<string | number, Json>;
  const whole = ['document', ...path];
  for (const key of whole.slice(0, -1)) parent = parent[key] as unknown as Record<string | number, Json>;
  change(parent, whole.at(-1) as string | number);
  return copy.document;
}

interface Subject {
  name: string;
  schema: Schema;
  sample: Json;
}

const { findings, ...document } = structuredClone(sampleEvidence);
const subjects: Subject[] = [
  { name: 'a line of findings.jsonl', schema: findingSchema, sample: findings[0] as unknown as Json },
  { name: 'another line of findings.jsonl', schema: findingSchema, sample: findings[1] as unknown as Json },
  { name: 'evidence.json', schema: evidenceSchema, sample: document as unknown as Json },
];

/** Compares our validator with ajv. */
function agree({ schema }: Subject, value: Json): SchemaFault[] {
  const ajv = compiled[schema === findingSchema ? 0 : 1];
  const faults = validate(schema, value);
  const theirs = ajv?.(value) ? [] : (ajv?.errors ?? []).map(({ instancePath }) => instancePath);
  expect([...new Set(faults.map(({ path }) => path))].sort()).toEqual([...new Set(theirs)].sort());
  return faults;
}

const invalidValues: Json[] = [
  null,
  true,
  0,
  -1,
  1,
  1.5,
  2 ** 53,
  11,
  101,
  '',
  'x',
  'data/a',
  'data/../a',
  `data/${'a/'.repeat(90)}a`,
  '2026-11-15T10:00:00.000Z',
  '2026-11-15',
  '2026-13-15T10:00:00.000Z',
  [],
  ['pdf', 'pdf'],
  {},
  { id: 1 },
  'ab'.repeat(32),
  'AB'.repeat(32),
];

describe.each(subjects)('$name', (subject) => {
  const { sample } = subject;
  const paths = pathsOf(sample);

  test('accepts the sample', () => {
    expect(agree(subject, sample)).toEqual([]);
  });

  test('requires every key and refuses unknown keys in every object', () => {
    for (const path of paths) {
      const key = path.at(-1);
      if (typeof key === 'string') {
        expect(
          agree(
            subject,
            mutated(sample, path, (parent) => delete parent[key]),
          ),
          path.join('/'),
        ).not.toEqual([]);
        expect(
          agree(
            subject,
            mutated(sample, path, (parent) => Object.assign(parent, { unknown_key: 1 })),
          ),
          path.join('/'),
        ).not.toEqual([]);
      }
    }
  });

  test('reports the same faulty paths as ajv for random mutations', () => {
    const change = fc.record({
      path: fc.constantFrom(...paths.slice(1)),
      value: fc.oneof(fc.constantFrom(...invalidValues), fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>),
    });
    let refused = 0;
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        const value = changes.reduce((before, { path, value: invalid }) => {
          try {
            return mutated(before, path, (parent, key) => {
              parent[key] = structuredClone(invalid);
            });
          } catch {
            return before;
          }
        }, sample);
        if (agree(subject, value).length > 0) refused++;
      }),
      { numRuns: 700 },
    );
    expect(refused).toBeGreaterThan(450);
  });
});

test('treats names from the object prototype as unknown keys', () => {
  const subject = subjects[2] as Subject;
  for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    const value = JSON.parse(JSON.stringify(subject.sample).replace('"note":null', `"note":null,"${key}":{}`)) as Json;
    expect(agree(subject, value), key).toHaveLength(1);
  }
});

test('a fault states the path and the problem', () => {
  const value = mutated((subjects[1] as Subject).sample, ['severity'], (parent, key) => {
    parent[key] = 'terrible';
  });
  expect(validate(findingSchema, value)).toEqual([{ path: '/severity', message: 'is not one of critical, high, medium, low, info, unknown' }]);
});

test('a schema that differs from its type does not compile', () => {
  // @ts-expect-error a value too few
  const few: Of<'a' | 'b'> = choice(['a']);
  // @ts-expect-error a value too many
  const many: Of<'a'> = choice(['a', 'b']);
  // @ts-expect-error null is allowed by the schema only
  const never: Of<'a'> = nullable(choice(['a']));
  // @ts-expect-error a key is missing
  const missing: Of<EvidenceDocument['generator']> = object<EvidenceDocument['generator']>({ name: {} });
  expect([few, many, never, missing]).toHaveLength(4);
});

test('every field has a description', () => {
  const undescribed = (schema: Schema, path: string): string[] => [
    ...(schema.description === undefined ? [path] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([key, property]) => undescribed(property, `${path}/${key}`)),
    ...Object.entries(schema.items?.properties ?? {}).flatMap(([key, property]) => undescribed(property, `${path}/*/${key}`)),
  ];
  expect([evidenceSchema, findingSchema].flatMap((schema) => undescribed(schema, ''))).toEqual([]);
});
