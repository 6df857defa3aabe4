import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonPieces } from './json-pieces.ts';

const written = (value: unknown) => [...jsonPieces(value)].join('');

test('is what JSON.stringify writes', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(written(value)).toBe(JSON.stringify(value, null, 2));
    }),
  );
});

test('writes a list that is made as it is read like one that was there, wherever it stands', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (items) => {
      expect(written(items.values())).toBe(JSON.stringify(items, null, 2));
      expect(written({ a: [{ items: items.values(), last: {} }] })).toBe(JSON.stringify({ a: [{ items, last: {} }] }, null, 2));
    }),
  );
});

test('asks for an item only when the ones before are written', () => {
  const asked: number[] = [];
  const pieces = jsonPieces({
    items: [1, 2, 3].values().map((item) => {
      asked.push(item);
      return { item };
    }),
  });
  const text = pieces.find((piece) => piece.includes('"item"'));
  expect({ text, asked }).toEqual({ text: expect.stringContaining('1'), asked: [1] });
});

test('leaves out members that are undefined', () => {
  expect(written({ a: undefined, b: 1 })).toBe('{\n  "b": 1\n}');
});
