import fc from 'fast-check';
import { expect, test } from 'vitest';
import { concat, equalBytes, fromBase64, fromHex, fromUtf8, toBase64, toHex, utf8 } from './bytes.ts';

const bytes = fc.uint8Array({ maxLength: 200 });

test('hexadecimal and base64 match the platform and round-trip', () => {
  fc.assert(
    fc.property(bytes, (value) => {
      expect(toHex(value)).toBe(Buffer.from(value).toString('hex'));
      expect(toBase64(value)).toBe(Buffer.from(value).toString('base64'));
      expect(fromHex(toHex(value))).toEqual(value);
      expect(fromBase64(toBase64(value))).toEqual(value);
    }),
  );
});

test.each(['A', 'AA', 'AAA', 'AA=', 'AA==\n', ' AAAA', 'AB==', 'AAB=', '====', '=AAA', 'AA=A', 'A===', 'AA-_', 'AAAA====', 'ÄAAA', 'AAAA\u0000AAA'])(
  'refuses %j as base64',
  (text) => {
    expect(() => fromBase64(text)).toThrow('base64');
  },
);

test('accepts a base64 text only in the form that it writes', () => {
  const nearly = fc.array(fc.constantFrom(...'ABCwxyz0189+/=-_ \n'), { maxLength: 12 }).map((characters) => characters.join(''));
  fc.assert(
    fc.property(nearly, (text) => {
      let read: Uint8Array;
      try {
        read = fromBase64(text);
      } catch {
        return;
      }
      expect(toBase64(read)).toBe(text);
    }),
    { numRuns: 5000 },
  );
});

test.each(['0', 'AB', '0g', ' 00', '0x00'])('refuses %j as hexadecimal', (text) => {
  expect(() => fromHex(text)).toThrow('hexadecimal');
});

test('refuses invalid UTF-8 and keeps a byte order mark', () => {
  expect(() => fromUtf8(Uint8Array.of(0xc3, 0x28))).toThrow('not UTF-8');
  expect(() => fromUtf8(Uint8Array.of(0xed, 0xa0, 0x80))).toThrow('not UTF-8');
  expect(fromUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61))).toBe('\ufeffa');
  expect(fromUtf8(utf8('Grüße 😀'))).toBe('Grüße 😀');
});

test('concatenates and compares bytes', () => {
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      expect([...concat(a, b)]).toEqual([...a, ...b]);
      expect(equalBytes(a, b)).toBe(Buffer.compare(a, b) === 0);
      expect(equalBytes(a, a.slice())).toBe(true);
    }),
  );
});
