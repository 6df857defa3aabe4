import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toHex, utf8 } from './bytes.ts';
import { sha1 } from './sha1.ts';

test('has the values of the standard', () => {
  expect(toHex(sha1(utf8('abc')))).toBe('a9993e364706816aba3e25717850c26c9cd0d89d');
  expect(toHex(sha1(utf8('')))).toBe('da39a3ee5e6b4b0d3255bfef95601890afd80709');
});

test('gives the same as the platform for every length', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(toHex(sha1(bytes))).toBe(createHash('sha1').update(bytes).digest('hex'));
    }),
  );
});
