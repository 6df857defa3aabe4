import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, canonicalPieces } from './jcs.ts';

test('matches the example of RFC 8785 section 3.2.2', () => {
  const text = String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`;
  expect(canonicalJson(JSON.parse(text))).toBe(
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
});

test('sorts keys by UTF-16 code units, not by code points (RFC 8785 section 3.2.3)', () => {
  const value = { '€': 5, '\r': 1, '\ufb33': 7, '1': 2, '😀': 6, '\u0080': 3, ö: 4 };
  expect(canonicalJson(value)).toBe('{"\\r":1,"1":2,"\u0080":3,"ö":4,"€":5,"😀":6,"\ufb33":7}');
});

test.each([
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
])('RFC 8785 appendix B: %s is %s', (ieee, text) => {
  expect(canonicalJson(Buffer.from(ieee, 'hex').readDoubleBE())).toBe(text);
});

test('a value has one form, whatever the order of its keys, and the form preserves the value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      expect(canonicalJson(reversed(value))).toBe(text);
      expect(canonicalJson(JSON.parse(text))).toBe(text);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, member]) => [key, reversed(member)] as const);
  return Object.fromEntries(entries.reverse());
}

const cycle: unknown[] = [];
cycle.push({ cycle });

test.each([
  ['NaN', Number.NaN],
  ['Infinity', [Number.POSITIVE_INFINITY]],
  ['undefined', undefined],
  ['an undefined member', { a: undefined }],
  ['a hole in a list', new Array(1)],
  ['a bigint', 1n],
  ['a function', () => 1],
  ['a symbol', Symbol('a')],
  ['a date', new Date(0)],
  ['a map', new Map()],
  ['a lone surrogate', '\ud800'],
  ['a lone surrogate in a key', { '\udc00': 1 }],
  ['a cycle', cycle],
])('refuses %s', (_, value) => {
  expect(() => canonicalJson(value)).toThrow(TypeError);
  expect(() => [...canonicalPieces(value)]).toThrow(TypeError);
  expect(() => [...canonicalPieces({ a: [value] })]).toThrow(TypeError);
});

test('the pieces join to the whole text, with one piece per list item', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect([...canonicalPieces(value)].join('')).toBe(canonicalJson(value));
    }),
  );
  expect([...canonicalPieces({ b: [{ d: 1, c: [2, 3] }, 4], a: null })]).toEqual(['{', '"a":', 'null', ',"b":', '[', '{"c":[2,3],"d":1}', ',4', ']', '}']);
});

test('refuses an object that contains itself', () => {
  const knot: Record<string, unknown> = {};
  knot.list = [knot];
  expect(() => [...canonicalPieces(knot)]).toThrow('cycles');
});

test('accepts the same object twice, which is not a cycle', () => {
  const shared = { a: 1 };
  expect(canonicalJson([shared, shared])).toBe('[{"a":1},{"a":1}]');
});
