import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { pemFromSpki } from '@rrs/evidence-format';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ecdsaDer, p256Key } from '../testing/signer.ts';
import { P256, P384, rawSignature } from './ecdsa.ts';
import { verifyEcdsa } from './signatures.ts';

const { subtle } = globalThis.crypto;
const hex = (value: bigint, size: number) => value.toString(16).padStart(2 * size, '0');

test.for([P256, P384])('preserves numbers from 1 to the order minus 1 in $name', (curve) => {
  const number = fc.bigInt({ min: 1n, max: curve.order - 1n });
  fc.assert(
    fc.property(number, number, (r, s) => {
      expect(Buffer.from(rawSignature(ecdsaDer(r, s), curve) ?? []).toString('hex')).toBe(hex(r, curve.size) + hex(s, curve.size));
    }),
  );
});

test('refuses zero, negative and too large numbers', () => {
  for (const wrong of [0n, -1n, P256.order, P256.order + 1n, 1n << 300n]) {
    expect(rawSignature(ecdsaDer(wrong, 1n), P256)).toBeNull();
    expect(rawSignature(ecdsaDer(1n, wrong), P256)).toBeNull();
  }
});

test('a signature has exactly one encoding', () => {
  const der = ecdsaDer(P256.order - 5n, 77n);
  const raw = Buffer.from(rawSignature(der, P256) ?? []);
  fc.assert(
    fc.property(fc.nat(der.length), fc.uint8Array({ maxLength: 3 }), fc.nat(3), (at, put, drop) => {
      const other = Buffer.concat([der.subarray(0, at), put, der.subarray(at + drop)]);
      const same = Buffer.from(rawSignature(other, P256) ?? []).equals(raw);
      expect(same).toBe(other.equals(der));
    }),
    { numRuns: 2000 },
  );
});

test('accepts signatures of openssl', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  for (let round = 0; round < 50; round++) {
    const message = Buffer.from(`message ${round}`);
    const signature = sign('sha256', message, privateKey);
    expect(await verifyEcdsa(subtle, { spki }, { message, signature })).toBe(true);
    expect(await verifyEcdsa(subtle, { spki }, { message: Buffer.from('other'), signature })).toBe(false);
  }
});

test('openssl accepts signatures of the test keys', async () => {
  const key = p256Key('a name');
  const message = Buffer.from('hello');
  expect(verify('sha256', message, createPublicKey(pemFromSpki(key.spki)), await key.sign(message))).toBe(true);
  expect(await key.sign(message)).toEqual(await key.sign(message));
});

test('returns false for an invalid key', async () => {
  const key = p256Key('a name');
  const message = Buffer.from('hello');
  expect(await verifyEcdsa(subtle, { spki: key.spki.slice(1) }, { message, signature: await key.sign(message) })).toBe(false);
});
