import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromHex, toHex, utf8 } from './bytes.ts';
import { childrenOf, derInteger, derOid, readDer, readGeneralizedTime, readInteger, readOid, TAG, writeDer } from './der.ts';

test('integers round-trip in their shortest form', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 130n), max: 2n ** 130n }), (value) => {
      expect(readInteger(readDer(derInteger(value)))).toBe(value);
    }),
  );
  expect([0n, 127n, 128n, 256n, -128n, -129n].map((value) => toHex(derInteger(value)))).toEqual([
    '020100',
    '02017f',
    '02020080',
    '02020100',
    '020180',
    '0202ff7f',
  ]);
});

test.each(['0200', '02020001', '0202ff80', '02020000'])('refuses the integer %s', (hex) => {
  expect(() => readInteger(readDer(fromHex(hex)))).toThrow('integer');
});

test('object identifiers round-trip', () => {
  for (const oid of ['2.16.840.1.101.3.4.2.1', '1.2.840.113549.1.9.16.1.4', '0.9.2342', '2.999.1', '1.3.132.0.34'])
    expect(readOid(readDer(derOid(oid)))).toBe(oid);
  for (const hex of ['0600', '060180', '06032a8001', '060388']) expect(() => readOid(readDer(fromHex(hex)))).toThrow();
});

test('values of any length round-trip', () => {
  for (const length of [0, 1, 127, 128, 255, 256, 65_535, 65_536]) {
    const value = readDer(writeDer(TAG.octetString, new Uint8Array(length).fill(7)), TAG.octetString);
    expect(value.content).toHaveLength(length);
  }
  const [first, second] = childrenOf(readDer(writeDer(TAG.sequence, derInteger(1n), derInteger(2n))));
  expect([first, second].map((child) => child && readInteger(child))).toEqual([1n, 2n]);
});

test.each([
  ['', 'truncated'],
  ['30', 'truncated'],
  ['3001', 'truncated'],
  ['3080', 'definite'],
  ['0481' + '01' + '00', 'shortest form'],
  ['04820001' + '00', 'shortest form'],
  [`04820080${'00'.repeat(128)}`, 'shortest form'],
  ['0485' + '0000000001' + '00', 'definite'],
  ['04ff', 'definite'],
  ['1f0100', 'several bytes'],
  ['040000', 'extra bytes'],
  ['0484ffffffff', 'truncated'],
])('refuses %s', (hex, message) => {
  expect(() => readDer(fromHex(hex))).toThrow(message);
});

test('refuses a tag other than the expected one', () => {
  expect(() => readDer(fromHex('0400'), TAG.sequence)).toThrow('expected DER tag 48, found 4');
  expect(() => childrenOf(readDer(fromHex('0400')))).toThrow('not constructed');
});

test('reads times in UTC with seconds and refuses other forms', () => {
  const time = (text: string): string => readGeneralizedTime(readDer(writeDer(TAG.generalizedTime, utf8(text)))).toISOString();
  expect(time('20261115101112Z')).toBe('2026-11-15T10:11:12.000Z');
  expect(time('20261115101112.5Z')).toBe('2026-11-15T10:11:12.500Z');
  expect(time('20261115101112.123456Z')).toBe('2026-11-15T10:11:12.123Z');
  for (const wrong of [
    '20261115101112',
    '20261115101112.50Z',
    '20261115101112.Z',
    '20261315101112Z',
    '20260230101112Z',
    '20261115101160Z',
    '2026111510Z',
    '20261115101112+0100',
  ]) {
    expect(() => time(wrong), wrong).toThrow('not a valid time');
  }
});
