import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toHex, utf8 } from './bytes.ts';
import { createSha256, paddingOf, sha256Hex } from './sha256.ts';

test('matches the examples of FIPS 180-2 appendix B', () => {
  expect(sha256Hex(utf8('abc'))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(sha256Hex(utf8('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq'))).toBe('248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1');
  expect(sha256Hex(utf8('a'.repeat(1_000_000)))).toBe('cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0');
});

test('matches the platform for every length around the block size', () => {
  const bytes = Uint8Array.from({ length: 300 }, (_, at) => at * 7);
  for (let length = 0; length <= bytes.length; length++) {
    const part = bytes.subarray(0, length);
    expect(sha256Hex(part)).toBe(hash('sha256', part));
  }
});

test('the hash does not depend on how the bytes are chunked', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 10 }), (chunks) => {
      const hasher = createSha256();
      for (const chunk of chunks) hasher.update(chunk);
      expect(toHex(hasher.digest())).toBe(hash('sha256', Buffer.concat(chunks)));
    }),
  );
});

test('the padding fills the last block and ends with the length, even beyond 2^32 bits', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (length) => {
      const padding = paddingOf(length);
      expect((BigInt(length) + BigInt(padding.length)) % 64n).toBe(0n);
      expect(padding.length).toBeLessThanOrEqual(72);
      expect(toHex(padding)).toBe(`80${'00'.repeat(padding.length - 9)}${(BigInt(length) * 8n).toString(16).padStart(16, '0')}`);
    }),
  );
});

test('digest can be called only once', () => {
  const hasher = createSha256();
  hasher.digest();
  expect(() => hasher.update(new Uint8Array(1))).toThrow('already');
  expect(() => hasher.digest()).toThrow('already');
});
