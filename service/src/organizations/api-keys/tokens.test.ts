import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeToken, hashToken, mintToken, organizationOf } from './tokens.ts';

const kinds = ['rrs', 'ses', 'shr'] as const;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describe('a minted token', () => {
  it('contains its organization, readable only for its own kind', () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.uuid(), (own, orgId) => {
        const { token } = mintToken(own, orgId);
        for (const kind of kinds) expect(organizationOf(kind, token)).toBe(kind === own ? orgId : null);
      }),
    );
  });

  it('is different each time, with 256 random bits', () => {
    const tokens = Array.from({ length: 1_000 }, () => mintToken('rrs', '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11').token);
    expect(new Set(tokens.map((token) => token.slice(4, 44))).size).toBe(tokens.length);
    expect(Buffer.from(tokens[0]?.slice(4) ?? '', 'base64url')).toHaveLength(32 + 16);
  });

  it('has a different hash if one character differs', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.nat(67), fc.constantFrom(...ALPHABET), (orgId, at, character) => {
        const { token, hash } = mintToken('rrs', orgId);
        const changed = token.slice(0, at) + character + token.slice(at + 1);
        expect(hashToken(changed).equals(hash)).toBe(changed === token);
      }),
    );
  });

  it('reveals less than a quarter of its secret in the prefix', () => {
    const { token, prefix } = mintToken('rrs', '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11');
    expect(token.startsWith(prefix)).toBe(true);
    const shownBits = (prefix.length - 'rrs_'.length) * 6;
    expect(shownBits).toBeGreaterThan(0);
    expect(shownBits).toBeLessThan(256 / 4);
  });

  it('is stored as its SHA-256', () => {
    const { token, hash } = mintToken('ses', '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11');
    expect(hash).toEqual(createHash('sha256').update(token).digest());
  });
});

describe('a token from a request', () => {
  it('contains no organization unless it has exactly the expected form', () => {
    const { token } = mintToken('rrs', '01994f3e-8a10-7c31-9d3c-5f1f4b8f0a11');
    for (const other of [
      '',
      'rrs_',
      token.slice(0, -1),
      `${token}A`,
      `${token}\n`,
      ` ${token}`,
      token.replace('rrs_', 'RRS_'),
      `${token.slice(0, 20)}.${token.slice(21)}`,
    ]) {
      expect(organizationOf('rrs', other)).toBeNull();
    }
    fc.assert(fc.property(fc.string(), (text) => organizationOf('rrs', text) === null));
  });

  it('that the operator chose has a hash and a prefix like a minted one', () => {
    const chosen = 'a key of the operator’s own choice';
    expect(describeToken(chosen)).toEqual({ token: chosen, hash: hashToken(chosen), prefix: 'a key of the' });
  });
});
