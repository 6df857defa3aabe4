import { crc32 as zlibCrc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { utf8 } from './bytes.ts';
import { crc32 } from './crc32.ts';

test('matches the standard check value', () => {
  expect(crc32(utf8('123456789'))).toBe(0xcbf43926);
});

test('matches zlib, in one piece and continued', () => {
  const bytes = fc.uint8Array({ maxLength: 100 });
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      expect(crc32(a)).toBe(zlibCrc32(a));
      expect(crc32(b, crc32(a))).toBe(zlibCrc32(Buffer.concat([a, b])));
    }),
  );
});
