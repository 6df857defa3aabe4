import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FormatError } from '../bytes/errors.ts';
import { parseStrictJson } from './strict-json.ts';

test('returns the same values as JSON.parse', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(parseStrictJson(text)).toEqual(JSON.parse(text));
    }),
  );
});

test.each([
  '{"a":1,"a":1}',
  '{"a":1,"\\u0061":2}',
  '[{"b":{"x":1, "y":2 , "x" \n:3}}]',
  '{"a":{"a":1},"a":2}',
  '{"__proto__":1,"__proto__":2}',
  '{"\\"":1,"\\u0022":2}',
])('refuses the duplicate key in %s', (text) => {
  expect(() => parseStrictJson(text)).toThrow('duplicate');
});

test('accepts the same key in different objects or as a value', () => {
  const text = '{"a":{"a":"a"},"b":["a","a",{"a":":"}],"c":"{\\"a\\":1,\\"a\\":2}"}';
  expect(parseStrictJson(text)).toEqual(JSON.parse(text));
});

test('refuses an object with a duplicate key anywhere in the text', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.nat(), (value, pick) => {
      const keys = Object.keys(value);
      const key = keys[pick % keys.length] as string;
      const text = `[${JSON.stringify(value).slice(0, -1)},${JSON.stringify(key)}:0}]`;
      expect(() => parseStrictJson(text)).toThrow(FormatError);
    }),
  );
});

test('refuses nesting only beyond the limit', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  expect(() => parseStrictJson(nested(5), { depth: 5 })).not.toThrow();
  expect(() => parseStrictJson(nested(6), { depth: 5 })).toThrow('nested deeper than 5');
  expect(() => parseStrictJson('['.repeat(1_000_000))).toThrow('nested deeper');
  expect(() => parseStrictJson('{"a":'.repeat(1_000_000))).toThrow('nested deeper');
});

test('refuses more values than the limit before it creates any', () => {
  expect(() => parseStrictJson('[1,2,3]', { nodes: 4 })).not.toThrow();
  expect(() => parseStrictJson('[1,2,3,4]', { nodes: 4 })).toThrow('more than 4 values');
  expect(() => parseStrictJson('{"a":[1,{"b":",[{"}]}', { nodes: 5 })).not.toThrow();
  expect(() => parseStrictJson('{"a":[1,{"b":",[{"}]}', { nodes: 4 })).toThrow('more than 4 values');
  expect(() => parseStrictJson(`[${'{},'.repeat(200_000)}{}]`)).toThrow('more than 200000 values');
});

test('never counts fewer values than there are', () => {
  const size = (value: unknown): number =>
    value !== null && typeof value === 'object' ? Object.values(value).reduce<number>((sum, one) => sum + size(one), 1) : 1;
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(() => parseStrictJson(JSON.stringify([value]), { nodes: size(value) })).toThrow('values');
    }),
  );
});

test.each(['', '{', '{"a"', '"', '"\\', '[1,]', '{"a":1}}', ']', '\ufeff{}', '{"\\x":1}', "{'a':1}", '1 2', 'NaN', '"a":1'])('refuses %j', (text) => {
  expect(() => parseStrictJson(text)).toThrow(FormatError);
});

test('any text is either refused or parsed as JSON.parse parses it', () => {
  const noise = fc.array(fc.constantFrom('{', '}', '[', ']', '"', ':', ',', 'a', '\\', '1', ' '), { maxLength: 15 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(noise, (text) => {
      let read: unknown;
      try {
        read = parseStrictJson(text);
      } catch (error) {
        expect(error).toBeInstanceOf(FormatError);
        return;
      }
      expect(read).toEqual(JSON.parse(text));
    }),
    { numRuns: 5000 },
  );
});
