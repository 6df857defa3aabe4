import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyFor, seal, unseal } from './sealed.ts';

const secret = randomBytes(32);
const key = keyFor('tests', secret);

describe('seal', () => {
  it('encrypts text that unseal decrypts, differently each time', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) => unseal(key, seal(key, text, context), context) === text));
    expect(seal(key, 'text').equals(seal(key, 'text'))).toBe(false);
    expect(seal(key, 'a text of its own').toString('latin1')).not.toContain('a text');
  });

  it('produces a value that another key, another context or a changed byte cannot open', () => {
    const sealed = seal(key, 'text', 'here');
    expect(() => unseal(keyFor('another purpose', secret), sealed, 'here')).toThrow();
    expect(() => unseal(key, sealed, 'there')).toThrow();
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
      expect(() => unseal(key, changed, 'here')).toThrow();
    }
  });
});
