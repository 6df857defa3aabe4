import { argon2Sync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashPassword, verifyPassword } from './passwords.ts';

/** Hashing is slow by design, so the properties run on few cases. */
const few = { numRuns: 6 };
const password = fc.string({ minLength: 1, maxLength: 200, unit: 'grapheme' });

describe('hashPassword', () => {
  it('writes argon2id in the PHC format with at least the cost that OWASP recommends', async () => {
    const [, memory, passes, lanes, salt = '', tag = ''] =
      /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(await hashPassword('correct horse battery staple')) ?? [];
    expect(Number(memory)).toBeGreaterThanOrEqual(19_456);
    expect(Number(passes)).toBeGreaterThanOrEqual(2);
    expect(Number(lanes)).toBe(1);
    expect(Buffer.from(salt, 'base64')).toHaveLength(16);
    expect(Buffer.from(tag, 'base64')).toHaveLength(32);
  });

  it('gives the same password a different hash each time', async () => {
    const hashes = await Promise.all(Array.from({ length: 5 }, () => hashPassword('correct horse battery staple')));
    expect(new Set(hashes).size).toBe(5);
  });
});

describe('verifyPassword', () => {
  it('accepts only the right password', async () => {
    await fc.assert(
      fc.asyncProperty(password, password, async (right, other) => {
        const hash = await hashPassword(right);
        expect(await verifyPassword(right, hash)).toBe(true);
        expect(await verifyPassword(other, hash)).toBe(other.normalize('NFKC') === right.normalize('NFKC'));
      }),
      few,
    );
  });

  it.each([
    ['an accent typed as one character or as two', 'caf\u00e9 au lait noir', 'cafe\u0301 au lait noir'],
    ['full-width letters', 'ｐａｓｓｗｏｒｄ ｐｈｒａｓｅ', 'password phrase'],
    ['a ligature', 'e\ufb03cient secret', 'efficient secret'],
  ])('treats %s as the same', async (_, typed, retyped) => {
    expect(typed).not.toBe(retyped);
    expect(await verifyPassword(retyped, await hashPassword(typed))).toBe(true);
  });

  it('distinguishes case, spaces and long suffixes', async () => {
    const hash = await hashPassword(`${'long '.repeat(39)}pass`);
    for (const other of [`${'long '.repeat(39)}Pass`, `${'long '.repeat(39)}pass `, 'long '.repeat(39)]) expect(await verifyPassword(other, hash)).toBe(false);
  });

  it('accepts nothing if there is no password, and takes as long', async () => {
    expect(await verifyPassword('', null)).toBe(false);
    const hash = await hashPassword('correct horse battery staple');
    const time = async (against: string | null): Promise<number> => {
      const started = performance.now();
      for (let i = 0; i < 3; i++) await verifyPassword('a wrong guess', against);
      return performance.now() - started;
    };
    const [without, withHash] = [await time(null), await time(hash)];
    expect(without).toBeGreaterThan(withHash / 4);
  });

  it('uses the parameters in the hash, so that older hashes stay valid when the cost is raised', async () => {
    const [memory, passes, parallelism, nonce] = [64, 3, 1, Buffer.from('an older salt')];
    const tag = argon2Sync('argon2id', { message: 'old password', nonce, memory, passes, parallelism, tagLength: 24 });
    const hash = `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(nonce)}$${base64(tag)}`;
    expect(await verifyPassword('old password', hash)).toBe(true);
    expect(await verifyPassword('new password', hash)).toBe(false);
  });
});

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
