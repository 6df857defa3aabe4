import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { detectFormat, hasColumns, hasKeys, headOf, keysInList } from './detect.ts';
import { formats } from './registry.ts';
import { fromBuffer } from './shared/input.ts';
import { readFixtures } from './testing/fixtures.ts';
import { inChunks } from './testing/reading.ts';

const head = (content: string | Uint8Array, filename: string | null = null) => headOf(fromBuffer(content, filename));

test('headOf returns the keys of the first object', async () => {
  const text = ' \n{"a":{"hidden":1,"x":"}"},"b":["{",{"hidden":2}],"c\\"":"\\\\","d":1}';
  expect(await head(text)).toMatchObject({ jsonShape: 'object', jsonKeys: ['a', 'b', 'c\\"', 'd'], xmlRoot: null, csvRows: [] });
  expect(await head('[{"a":1},{"b":2}]')).toMatchObject({ jsonShape: 'array', jsonKeys: ['a'] });
  expect(await head('{"a":1}\n{"b":2}\n')).toMatchObject({ jsonShape: 'lines', jsonKeys: ['a'] });
  expect(await head('[]')).toMatchObject({ jsonShape: 'array', jsonKeys: [] });
  expect(hasKeys(await head('{"a":1,"b":2}'), 'a', 'b')).toBe(true);
  expect(hasKeys(await head('{"a":1}'), 'a', 'b')).toBe(false);
});

test('headOf returns the keys that fit in the head', async () => {
  expect((await head(`{"a":1,"b":"${'x'.repeat(100_000)}","c":2}`)).jsonKeys).toEqual(['a', 'b']);
  expect((await head(`{"a":{"long":"${'x'.repeat(100_000)}"},"c":2}`)).jsonKeys).toEqual(['a']);
});

test('keysInList returns the keys of the first object in a list', async () => {
  expect(keysInList(await head('{"x":[{"no":1}], "list" : [ {"a":1,"b":{"c":2}} ]}'), 'list')).toEqual(['a', 'b']);
  expect(keysInList(await head('{"list":[]}'), 'list')).toEqual([]);
  expect(keysInList(await head('{"list":5}'), 'list')).toBeNull();
  expect(keysInList(await head('{"other":{"list":[{"a":1}]}}'), 'list')).toBeNull();
  expect(keysInList(await head('[{"list":[{"a":1}]}]'), 'list')).toBeNull();
});

test.each([
  ['<r/>', 'r', ''],
  ['<?xml version="1.0"?>\n<!-- <x> -->\n<r a="1">', 'r', ''],
  ['<!DOCTYPE r SYSTEM "r.dtd"><r>', 'r', ''],
  ['<!DOCTYPE r [\n<!ELEMENT x (a)>\n]>\n<r>', 'r', ''],
  ['<r xmlns="urn:x" >', 'r', 'urn:x'],
  ["<p:r xmlns='urn:d' xmlns:p='urn:p'>", 'r', 'urn:p'],
  ['\ufeff<r>', 'r', ''],
])('headOf returns the root of %s', async (text, name, namespace) => {
  expect(await head(text)).toMatchObject({ xmlRoot: { name, namespace }, jsonShape: null, csvRows: [] });
});

test('headOf returns rows for any delimiter and with lines before the header', async () => {
  for (const [text, row] of [
    ['a,b\n1,2\n', ['a', 'b']],
    ['Title\n\n a ; b ;c,d\n1;2;3\n', ['a', 'b', 'c,d']],
    ['a\tb\n', ['a', 'b']],
    ['"a, x","b"\n"open', ['a, x', 'b']],
  ] as const) {
    const found = await head(text);
    expect(hasColumns(found, ...row), text).toBe(true);
    expect(found.jsonShape).toBeNull();
  }
  expect(hasColumns(await head('a,b\n'), 'a', 'c')).toBe(false);
  expect((await head(`${'line\n'.repeat(30)}a,b\n`)).csvRows.length).toBe(20);
});

test('the head does not depend on chunk sizes', async () => {
  const bytes = Buffer.from('\ufeff{"é":1,"b":[2]}');
  const whole = await head(bytes);
  expect(await headOf(inChunks(bytes, [1, 2, 3, 5, 6, 7]))).toEqual(whole);
  expect(whole).toMatchObject({ text: '{"é":1,"b":[2]}', jsonKeys: ['é', 'b'] });
});

describe.each(formats)('$id', ({ id }) => {
  test.each(readFixtures(id))('$name is detected as its own format first', async ({ name, bytes }) => {
    const found = await head(bytes, name);
    const claimed = formats.filter((format) => format.detect(found)).map((format) => format.id);
    if (/empty|none/.test(name)) expect([[], [id]]).toContainEqual(claimed);
    else expect(claimed[0]).toBe(id);
  });
});

test('detects no format for empty, binary and plain text files', async () => {
  const files = [
    '',
    ' \n',
    'null',
    '{}',
    '[]',
    '<',
    '<html><body></body></html>',
    'PK\u0003\u0004',
    '\u0089PNG\r\n\u001a\n',
    '%PDF-1.7',
    'Hello, world\nhow are you',
    '\u0000'.repeat(1_000),
  ];
  for (const content of files) expect(detectFormat(formats, await head(content))?.id ?? null, JSON.stringify(content)).toBeNull();
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 2_000 }), async (bytes) => {
      expect(detectFormat(formats, await head(bytes))).toBeNull();
    }),
    { numRuns: 300 },
  );
});
