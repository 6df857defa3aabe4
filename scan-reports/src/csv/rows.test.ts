import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromBuffer } from '../shared/input.ts';
import { collect, inChunks } from '../testing/reading.ts';
import { csvEnd, csvRows } from './rows.ts';

async function read(text: string | Uint8Array, required: string[] = ['a', 'b'], options = {}) {
  return (await collect(csvRows(fromBuffer(text), required, options))).map(({ cells, place }) => ({ ...cells, place }));
}

test('reads quotes, doubled quotes, commas and line breaks inside cells, and trims cells', async () => {
  expect(await read('a , b\r\n"x, ""y""","one\r\ntwo"\r\n  3  ,4\r\n')).toEqual([
    { a: 'x, "y"', b: 'one\r\ntwo', place: 'line 2' },
    { a: '3', b: '4', place: 'line 4' },
  ]);
});

test('accepts different line endings in one file', async () => {
  expect(await read('a,b\r\n1,2\n3,4\r5,6\r\n')).toEqual([
    { a: '1', b: '2', place: 'line 2' },
    { a: '3', b: '4', place: 'line 3' },
    { a: '5', b: '6', place: 'line 4' },
  ]);
});

test('keeps a quote in the middle of a cell', async () => {
  expect(await read('a,b\n5" disk,say "hi"\n')).toEqual([{ a: '5" disk', b: 'say "hi"', place: 'line 2' }]);
});

test('skips lines before the header, blank lines and rows of empty cells', async () => {
  const text = 'Report of today\n"Company, Inc."\n\nb,a,c\n\n1,2,3\n,,\n\n4,5,6\n';
  expect(await read(text)).toEqual([
    { b: '1', a: '2', c: '3', place: 'line 6' },
    { b: '4', a: '5', c: '6', place: 'line 9' },
  ]);
});

test('fills short rows with empty cells and drops cells without a column', async () => {
  expect(await read('a,b,c\n1\n1,2,3,4\n1,2\n')).toEqual([
    { a: '1', b: '', c: '', place: 'line 2' },
    { a: '1', b: '2', c: '3', place: 'line 3' },
    { a: '1', b: '2', c: '', place: 'line 4' },
  ]);
});

test('uses the first of several columns with the same name, and treats __proto__ as an ordinary name', async () => {
  const [row] = await collect(csvRows(fromBuffer('a,b,a,constructor,__proto__\n1,2,3,4,5\n'), ['a', 'b']));
  expect(Object.entries(row?.cells ?? {})).toEqual([
    ['a', '1'],
    ['b', '2'],
    ['constructor', '4'],
    ['__proto__', '5'],
  ]);
  expect(row?.cells.toString).toBeUndefined();
});

test.each([
  [';', 'a;b,b;c\n1,5;2;"x;y"\n'],
  ['\t', 'a\tb,b\tc\n1,5\t2\tx;y\n'],
  ['|', 'a|b,b|c\n1,5|2|x;y\n'],
])('detects the delimiter %j', async (_, text) => {
  expect(await read(text, ['a', 'c'])).toEqual([{ a: '1,5', 'b,b': '2', c: 'x;y', place: 'line 2' }]);
});

test('uses the given delimiter', async () => {
  await expect(read('a;b\n1;2\n', ['a', 'b'], { delimiter: ',' })).rejects.toThrow('The file has no CSV header with the columns a, b.');
});

test('reads UTF-8 with a byte order mark and UTF-16', async () => {
  for (const bytes of [Buffer.from('\ufeffa,b\n1,é\n'), Buffer.from('\ufeffa,b\n1,é\n', 'utf16le')])
    expect(await read(bytes)).toMatchObject([{ a: '1', b: 'é' }]);
});

test('accepts a header without rows and rejects a file without a header', async () => {
  expect(await read('a,b')).toEqual([]);
  await expect(read('')).rejects.toThrow('The file has no CSV header with the columns a, b.');
  await expect(read('x,y\n1,2\n')).rejects.toThrow('The file has no CSV header with the columns a, b.');
});

test('rejects a file that is cut off', async () => {
  await expect(read('a,b\n1,"2\n3')).rejects.toThrow('The file is not valid CSV: Quote Not Closed');
  await expect(read('a,b,c\n1,2,3\n4,5')).rejects.toThrow('The file is not complete: it ends inside a CSV row.');
  expect(await read('a,b,c\n1,2,3\n4,5\n')).toHaveLength(2);
  expect(await read('a,b,c\n1,2\n4,5')).toHaveLength(2);
});

test.each([
  ['a,b', true],
  ['a,b,c\n1,2', true],
  ['a,b\n', false],
  ['a,b\n1,2', false],
  ['a,b,c\n1,2\n3,4', false],
])('says whether the header or the only row of %j may be cut off, which must not pass for a report without findings', async (text, isCut) => {
  const end = csvEnd();
  await collect(csvRows(fromBuffer(text), ['a', 'b'], { end }));
  expect([...end.facts()]).toEqual(isCut ? [{ run: { unfinished: true } }] : []);
});

test('limits the size of a row', async () => {
  const input = {
    filename: null,
    async *open() {
      yield Buffer.from('a,b\n1,"');
      for (let part = 0; part < 8; part++) yield Buffer.alloc(1024 * 1024, 'x');
      yield Buffer.from('"\n');
    },
  };
  await expect(collect(csvRows(input, ['a', 'b']))).rejects.toThrow('The file is not valid CSV: Max Record Size');
});

test('passes on errors of the source unchanged, and lets the reader stop early', async () => {
  const input = {
    filename: null,
    async *open() {
      yield Buffer.from('a,b\n1,2\n');
      throw new Error('disk failure');
    },
  };
  await expect(collect(csvRows(input, ['a', 'b'], { delimiter: ',' }))).rejects.toThrow('disk failure');
  for await (const { cells } of csvRows(fromBuffer('a,b\n1,2\n3,4\n'), ['a', 'b'])) {
    expect(cells.a).toBe('1');
    break;
  }
});

test('returns what was written, for any chunk sizes', async () => {
  const cell = fc.string({ unit: 'grapheme', maxLength: 6 }).map((text) => text.replaceAll(/[\r\u2028\u2029\u0085]/g, ' ').trim());
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(cell, cell)), fc.constantFrom('\n', '\r\n'), fc.array(fc.nat(300), { maxLength: 10 }), async (rows, end, cuts) => {
      const text = `a,b${end}${rows.map((row) => `${row.map(quoted).join(',')}${end}`).join('')}`;
      const found = await collect(csvRows(inChunks(Buffer.from(text), cuts), ['a', 'b']));
      const expected = rows.flatMap(([a, b], index) => {
        const line = 2 + rows.slice(0, index).reduce((sum, row) => sum + row.join('').split('\n').length, 0);
        return a === '' && b === '' ? [] : [{ cells: { a, b }, place: `line ${line}`, unnamed: 0 }];
      });
      expect(found).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});

test('counts cells without a column and maps column names', async () => {
  const rows = await collect(csvRows(fromBuffer('A;B;\n1;2;;\n1;2;3;4\n'), ['a', 'b'], { nameOf: (cell) => cell.toLowerCase() }));
  expect(rows.map(({ cells, unnamed }) => [cells.a, cells.b, unnamed])).toEqual([
    ['1', '2', 0],
    ['1', '2', 2],
  ]);
});
