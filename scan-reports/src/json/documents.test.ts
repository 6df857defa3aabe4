import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromBuffer } from '../shared/input.ts';
import { collect, inChunks } from '../testing/reading.ts';
import { jsonDocuments } from './documents.ts';

const read = (text: string | Uint8Array) => collect(jsonDocuments(fromBuffer(text)));

test.each([
  ['{"a":1}\n{bad json\n{"a":3}\n', 'the record is not valid JSON'],
  ['{"a":1}\noops\n{"a":3}\n', 'the record is not valid JSON'],
  ['{"a":1}\n{"title":"B","severity":"low"\n{"a":3}\n', 'the record is not valid JSON'],
  ['{"a":1}\r\n}\r\n{"a":3}', 'the record is not valid JSON'],
])('a line that is not JSON is rejected alone: %j', async (text, error) => {
  expect(await read(text)).toEqual([
    { place: 'line 1', value: { a: 1 } },
    { place: 'line 2', value: undefined, error },
    { place: 'line 3', value: { a: 3 } },
  ]);
});

test('line numbers count blank lines', async () => {
  expect(await read('\n{"a":1}\n \n{"a":2}')).toEqual([
    { place: 'line 2', value: { a: 1 } },
    { place: 'line 4', value: { a: 2 } },
  ]);
  expect(await read('')).toEqual([]);
  expect(await read('\n \n')).toEqual([]);
});

test('a last line that is cut off is rejected', async () => {
  const bytes = Buffer.from('{"a":1}\n{"a":"é"}\n');
  const whole = [
    { place: 'line 1', value: { a: 1 } },
    { place: 'line 2', value: { a: 'é' } },
  ];
  for (let end = 9; end <= bytes.length; end++) {
    const cut = { place: 'line 2', value: undefined, error: 'the record is not valid JSON: the file ends inside it' };
    expect(await read(bytes.subarray(0, end)), String(end)).toEqual(end < 18 ? [whole[0], cut] : whole);
  }
  for (let end = 1; end < 7; end++) await expect(read(bytes.subarray(0, end))).rejects.toThrow('The file is not complete');
});

test('documents may span several lines', async () => {
  expect(await read('{\n"a":1\n}\n{\n"a":2\n}')).toMatchObject([
    { place: 'document', value: { a: 1 } },
    { place: 'line 2', value: { a: 2 } },
  ]);
  await expect(read('{\n"a":1\n}\noops')).rejects.toThrow('unexpected "o"');
});

test('returns what was written, for any chunk sizes', async () => {
  const value = fc.oneof(fc.object({ maxDepth: 2 }), fc.string({ unit: 'grapheme' }), fc.integer()).map((one) => JSON.parse(JSON.stringify(one)));
  await fc.assert(
    fc.asyncProperty(fc.array(value), fc.constantFrom('\n', '\r\n'), fc.array(fc.nat(300), { maxLength: 10 }), async (values, end, cuts) => {
      const text = values.map((one) => `${JSON.stringify(one)}${end}`).join('');
      const found = await collect(jsonDocuments(inChunks(Buffer.from(text), cuts)));
      expect(found).toEqual(values.map((one, index) => ({ place: `line ${index + 1}`, value: JSON.parse(JSON.stringify(one)) })));
    }),
    { numRuns: 300 },
  );
});

test('a line above the size limit is rejected without being kept in memory', async () => {
  const input = {
    filename: null,
    async *open() {
      yield Buffer.from('{"a":1}\n"');
      for (let part = 0; part < 20; part++) yield Buffer.alloc(1024 * 1024, 'x');
      yield Buffer.from('"\n2');
    },
  };
  expect(await collect(jsonDocuments(input))).toEqual([
    { place: 'line 1', value: { a: 1 } },
    { place: 'line 2', value: undefined, error: 'the record is larger than 16777216 bytes' },
    { place: 'line 3', value: 2 },
  ]);
});
