import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonPieces } from './json-pieces.ts';

const written = (value: unknown) => [...jsonPieces(value)].join('');

test('equals the output of JSON.stringify', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(written(value)).toBe(JSON.stringify(value, null, 2));
    }),
  );
});

test('writes an iterator like an array, at any depth', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (items) => {
      expect(written(items.values())).toBe(JSON.stringify(items, null, 2));
      expect(written({ a: [{ items: items.values(), last: {} }] })).toBe(JSON.stringify({ a: [{ items, last: {} }] }, null, 2));
    }),
  );
});

test('reads an item only after the previous ones are written', () => {
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

test('leaves out undefined members', () => {
  expect(written({ a: undefined, b: 1 })).toBe('{\n  "b": 1\n}');
});
