import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ReportError } from '../contract.ts';
import { fromBuffer } from '../shared/input.ts';
import { collect, inChunks } from '../testing/reading.ts';
import type { JsonValue } from './extractor.ts';
import { jsonValues, placeOf } from './values.ts';

type Extracted = Pick<JsonValue, 'document' | 'path' | 'pattern' | 'value'>;

/** The expected result of `jsonValues`, computed by walking the parsed documents. */
function expectedValues(documents: readonly unknown[], patterns: readonly string[]): Extracted[] {
  const segments = patterns.map((pattern) => (pattern === '' ? [] : pattern.split('.')));
  const walk = (document: number, value: unknown, path: (string | number)[]): Extracted[] => {
    const fits = segments.map((parts) => path.every((key, index) => parts[index] === '*' || parts[index] === String(key)));
    const pattern = segments.findIndex((parts, index) => fits[index] && parts.length === path.length);
    if (pattern !== -1) return [{ document, path, pattern, value }];
    if (value === null || typeof value !== 'object' || !fits.some((fit, index) => fit && (segments[index]?.length ?? 0) > path.length)) return [];
    return Array.isArray(value)
      ? value.flatMap((item, index) => walk(document, item, [...path, index]))
      : Object.entries(value).flatMap(([key, item]) => walk(document, item, [...path, key]));
  };
  return documents.flatMap((value, document) => walk(document, value, []));
}

// V8 13.6 misreads keys with an escape after an object with a key of one backslash: JSON.parse('{"x":1,"\\\\":1}') followed by
// JSON.parse('{"x":1,"\\"":1}') returns the backslash key twice. The generator therefore avoids backslashes in keys.
const key = fc
  .oneof(fc.constantFrom('a', 'b', 'c', 'é', '"', '0', '1', '*', '__proto__', 'toString'), fc.string({ unit: 'binary', maxLength: 5 }))
  .filter((name) => !name.includes('\\'));
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5, depthSize: 'medium' },
    fc.oneof(fc.string({ unit: 'binary' }), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('tree'), { maxLength: 5 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 5 }),
  ),
}));
const segment = fc.oneof(fc.constant('*'), fc.constantFrom('a', 'b', 'c', 'é', '"', '0', '1', '__proto__', 'toString'));
const pattern = fc.array(segment, { maxLength: 4 }).map((parts) => parts.join('.'));
const style = fc.record({ indent: fc.constantFrom(undefined, 1, '\t'), ascii: fc.boolean() });

function written(value: unknown, { indent, ascii }: { indent?: number | string | undefined; ascii: boolean }): string {
  const text = JSON.stringify(value, null, indent);
  return ascii ? text.replaceAll(/[\u007f-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`) : text;
}

const splits = fc.array(fc.nat(2_000), { maxLength: 30 });

test('returns the same values as JSON.parse and a walk, for any chunk sizes', async () => {
  await fc.assert(
    fc.asyncProperty(tree, style, fc.array(pattern, { minLength: 1, maxLength: 6 }), splits, async (value, how, patterns, offsets) => {
      const text = written(value, how);
      const found = await collect(jsonValues(inChunks(Buffer.from(text), offsets), patterns));
      expect(found).toEqual(expectedValues([JSON.parse(text)], patterns));
    }),
    { numRuns: 1_500 },
  );
});

test('reads a sequence of documents such as JSON Lines', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(tree, { maxLength: 5 }),
      fc.constantFrom('\n', '\r\n', '\n\n', ' '),
      fc.array(pattern, { minLength: 1, maxLength: 4 }),
      splits,
      async (values, between, patterns, offsets) => {
        const texts = values.map((value) => JSON.stringify(value));
        const found = await collect(jsonValues(inChunks(Buffer.from(texts.join(between)), offsets), patterns));
        expect(found).toEqual(
          expectedValues(
            texts.map((text) => JSON.parse(text)),
            patterns,
          ),
        );
      },
    ),
    { numRuns: 500 },
  );
});

test('yields all values of a chunk that has more than one batch', async () => {
  const bytes = Buffer.from(JSON.stringify({ list: Array.from({ length: 2_000 }, (_, index) => index) }));
  const found = await collect(jsonValues(inChunks(bytes, []), ['list.*']));
  expect(found.map(({ value }) => value)).toEqual(Array.from({ length: 2_000 }, (_, index) => index));
});

describe('encodings', () => {
  const text = '{"ключ":["значение 😀"]}';
  const utf16 = Buffer.from(text, 'utf16le');
  test.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16 LE', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16 BE', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
    ['UTF-16 LE without a byte order mark', utf16],
    ['UTF-16 BE without a byte order mark', Buffer.from(utf16).swap16()],
  ])('%s', async (_, bytes) => {
    for (const offsets of [[], [1, 2, 3, 4, 5], Array.from({ length: bytes.length }, (_, index) => index)]) {
      const found = await collect(jsonValues(inChunks(bytes, offsets), ['ключ.*']));
      expect(found).toEqual([{ document: 0, path: ['ключ', 0], pattern: 0, value: 'значение 😀' }]);
    }
  });
});

test('compares unescaped keys', async () => {
  const text = '{"\\u0061\\/\\"":{"b":1}}';
  expect(await collect(jsonValues(fromBuffer(text), ['a/".b']))).toMatchObject([{ path: ['a/"', 'b'], value: 1 }]);
});

test('rejects every non-empty prefix of a document as incomplete', async () => {
  const text = '{"list": [ {"a":"x\\"\\\\"}, [1.5e3, true, null], "é" ], "more": {"b": {}}}';
  const bytes = Buffer.from(text);
  for (const patterns of [['list.*'], [''], ['more.b'], ['list.*.a', '*'], ['nothing']])
    for (let end = 1; end < bytes.length; end++)
      await expect(collect(jsonValues(fromBuffer(bytes.subarray(0, end)), patterns)), `${patterns} ${end}`).rejects.toThrow(ReportError);
  expect(await collect(jsonValues(fromBuffer(''), ['list.*']))).toEqual([]);
  expect(await collect(jsonValues(fromBuffer(' \n'), ['list.*']))).toEqual([]);
});

test('accepts a file that ends between two lines and rejects one that ends inside a line', async () => {
  const bytes = Buffer.from('{"a":1}\n{"a":2}\n');
  for (let end = 0; end <= bytes.length; end++) {
    const reading = collect(jsonValues(fromBuffer(bytes.subarray(0, end)), ['a']));
    if ([0, 7, 8, 15, 16].includes(end)) expect((await reading).length).toBe(end < 7 ? 0 : end < 15 ? 1 : 2);
    else await expect(reading).rejects.toThrow('The file is not complete');
  }
});

test.each([
  ['{} x', ['a'], 'unexpected "x" at byte 3'],
  ['[1,]', ['*'], 'unexpected "]" at byte 3'],
  ['[,1]', ['*'], 'unexpected "," at byte 1'],
  ['[1 2]', ['*'], 'unexpected "2" at byte 3'],
  ['{"a":1,}', ['a'], 'expected a key at byte 7'],
  ['{a:1}', ['a'], 'expected a key at byte 1'],
  ['{"a" 1}', ['a'], 'expected ":" at byte 5'],
  ['{"a":[1}', ['b'], 'unexpected "}" at byte 7'],
  ['{"b":1]', ['b'], 'unexpected "]" at byte 6'],
  ['{"\\x":1}', ['b'], 'invalid key at byte 4'],
  ['hello', [''], 'unexpected "h" at byte 0'],
  ['PK\u0003\u0004', [''], 'unexpected "P" at byte 0'],
])('reports where %s is not JSON', async (text, patterns, message) => {
  await expect(collect(jsonValues(fromBuffer(text), patterns))).rejects.toThrow(`The file is not valid JSON: ${message}.`);
});

test('an extracted value that is not JSON is an error of that value only', async () => {
  const found = await collect(jsonValues(fromBuffer('[{"a":1},{"a":tru},nope,{"a":3}]'), ['*']));
  expect(found.map(({ value, error }) => error ?? value)).toEqual([{ a: 1 }, 'the record is not valid JSON', 'the record is not valid JSON', { a: 3 }]);
});

test('limits the nesting of wanted and skipped values', async () => {
  const deep = (levels: number): string => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  for (const patterns of [['a'], ['b']]) {
    await expect(collect(jsonValues(fromBuffer(deep(201)), patterns))).rejects.toThrow('more than 200 nested levels');
    await collect(jsonValues(fromBuffer(deep(200)), patterns));
  }
});

test('a value above the size limit is an error without being kept in memory', async () => {
  const input = {
    filename: null,
    async *open() {
      yield Buffer.from('{"list":["');
      for (let part = 0; part < 20; part++) yield Buffer.alloc(1024 * 1024, 'x');
      yield Buffer.from('","y"]}');
    },
  };
  const found = await collect(jsonValues(input, ['list.*']));
  expect(found.map(({ value, error }) => error ?? value)).toEqual(['the record is larger than 16777216 bytes', 'y']);
  expect(await collect(jsonValues(input, ['other']))).toEqual([]);
});

test('limits the size of keys', async () => {
  const input = fromBuffer(`{"${'k'.repeat(2 * 1024 * 1024)}":1}`);
  await expect(collect(jsonValues(input, ['a']))).rejects.toThrow('key longer than 1048576 bytes');
});

test('passes on errors of the source unchanged', async () => {
  const input = {
    filename: null,
    async *open() {
      yield Buffer.from('{"a":');
      throw new Error('disk failure');
    },
  };
  await expect(collect(jsonValues(input, ['a']))).rejects.toThrow('disk failure');
});

test('positions read like code', () => {
  expect(placeOf({ document: 0, path: ['Results', 0, 'Vulnerabilities', 3] })).toBe('Results[0].Vulnerabilities[3]');
  expect(placeOf({ document: 0, path: [2] })).toBe('[2]');
  expect(placeOf({ document: 0, path: [] })).toBe('document');
  expect(placeOf({ document: 4, path: [] })).toBe('line 5');
  expect(placeOf({ document: 4, path: ['a', 1] })).toBe('line 5 a[1]');
});
