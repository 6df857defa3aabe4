import { expect, test } from 'vitest';
import { arr, count, date, isObj, MAX_STRING, num, obj, plain, str, strs } from './read.ts';

test('obj accepts only objects', () => {
  expect(obj({ a: 1 })).toEqual({ a: 1 });
  for (const other of [null, undefined, 1, 'x', [1]]) {
    expect(obj(other)).toEqual({});
    expect(isObj(other)).toBe(false);
  }
  expect(isObj({})).toBe(true);
});

test('arr turns any value except null and undefined into a list', () => {
  expect(arr([1, 2])).toEqual([1, 2]);
  expect(arr('x')).toEqual(['x']);
  expect(arr(null)).toEqual([]);
  expect(arr(undefined)).toEqual([]);
});

test('str accepts text, numbers and booleans', () => {
  expect([str(' a '), str(5), str(false), str(''), str('  '), str(null), str({}), str([])]).toEqual([
    'a',
    '5',
    'false',
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect(strs(['a', '', 1, null, {}])).toEqual(['a', '1']);
  expect(strs('a')).toEqual(['a']);
});

test('texts are cut to a length that nothing needs', () => {
  expect(str(` ${'a'.repeat(3 * MAX_STRING)}`)).toHaveLength(MAX_STRING);
  expect(plain(`<p>${'a'.repeat(3 * MAX_STRING)}</p>`)?.length).toBeLessThanOrEqual(MAX_STRING);
});

test('num and count accept numbers and numeric text', () => {
  expect([num(1.5), num(' 2 '), num(''), num('x'), num('1e400'), num(Number.NaN), num(true)]).toEqual([
    1.5,
    2,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect([count('80'), count(0), count(-1), count(1.5), count(2 ** 40), count('8080/tcp')]).toEqual([
    80,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test.each([
  ['2024-05-06', '2024-05-06T00:00:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['2024/05/06', '2024-05-06T00:00:00.000Z'],
  ['2024-05-06T07:08:09Z', '2024-05-06T07:08:09.000Z'],
  ['2024-05-06T07:08:09', '2024-05-06T07:08:09.000Z'],
  ['2024-05-06 07:08:09', '2024-05-06T07:08:09.000Z'],
  ['2024-05-06 07:08:09+00:00', '2024-05-06T07:08:09.000Z'],
  ['2024-05-06T07:08:09.123456+02:00', '2024-05-06T05:08:09.123Z'],
  ['2024-05-06T07:08:09+0200', '2024-05-06T05:08:09.000Z'],
  ['Mon May  6 07:08:09 2024', '2024-05-06T07:08:09.000Z'],
  ['May 6, 2024 07:08:09 UTC', '2024-05-06T07:08:09.000Z'],
  ['May 6, 2024 07:08:09 MST', '2024-05-06T14:08:09.000Z'],
  ['Mon, 06 May 2024 07:08:09 GMT', '2024-05-06T07:08:09.000Z'],
  [1_714_979_289, '2024-05-06T07:08:09.000Z'],
  ['1714979289', '2024-05-06T07:08:09.000Z'],
  [1_714_979_289_000, '2024-05-06T07:08:09.000Z'],
])('date reads %s', (given, expected) => {
  expect(date(given)?.toISOString()).toBe(expected);
});

test.each([
  null,
  undefined,
  '',
  'N/A',
  'yesterday',
  '0001-01-01T00:00:00Z',
  '9999-12-31',
  0,
  {},
  '2024-13-45',
  '2024-02-30',
  '2023/02/29',
  '2024-04-31T10:00:00Z',
  '12:00',
])('date returns null for %s', (given) => {
  expect(date(given)).toBeNull();
});

test('plain converts HTML to text', () => {
  expect(plain('<p>One &amp; <b>two</b></p><ul><li>a</li><li>b &lt;c&gt;</li></ul>')).toBe('One & two\na\nb <c>');
  expect(plain('a<br/>b<br>c&nbsp;&quot;d&#39;')).toBe('a\nb\nc "d\'');
  expect(plain('1 < 2 and &amp;lt;')).toBe('1 < 2 and &lt;');
  expect(plain('<p></p>')).toBeNull();
  expect(plain(undefined)).toBeNull();
});
