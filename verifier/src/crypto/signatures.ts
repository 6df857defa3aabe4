import type { Bytes } from '@rrs/evidence-format';
import type { Subtle } from '../platform.ts';
import { type Curve, P256, rawSignature } from './ecdsa.ts';

/** Each answers false for a wrong signature and for a key that is none, and throws only where the platform does not know the algorithm. */
export async function verifyEcdsa(subtle: Subtle, key: { spki: Uint8Array; curve?: Curve; hash?: string }, signed: Signed): Promise<boolean> {
  const curve = key.curve ?? P256;
  const raw = rawSignature(signed.signature, curve);
  if (raw === null) return false;
  return holds(async () => {
    const imported = await subtle.importKey('spki', owned(key.spki), { name: 'ECDSA', namedCurve: curve.name }, false, ['verify']);
    return subtle.verify({ name: 'ECDSA', hash: key.hash ?? 'SHA-256' }, imported, raw, owned(signed.message));
  });
}

export async function verifyEd25519(subtle: Subtle, spki: Uint8Array, signed: Signed): Promise<boolean> {
  return holds(async () => {
    const imported = await subtle.importKey('spki', owned(spki), { name: 'Ed25519' }, false, ['verify']);
    return subtle.verify({ name: 'Ed25519' }, imported, owned(signed.signature), owned(signed.message));
  });
}

export async function verifyRsa(subtle: Subtle, key: { spki: Uint8Array; hash: string }, signed: Signed): Promise<boolean> {
  return holds(async () => {
    const imported = await subtle.importKey('spki', owned(key.spki), { name: 'RSASSA-PKCS1-v1_5', hash: key.hash }, false, ['verify']);
    return subtle.verify({ name: 'RSASSA-PKCS1-v1_5' }, imported, owned(signed.signature), owned(signed.message));
  });
}

export interface Signed {
  message: Uint8Array;
  signature: Uint8Array;
}

async function holds(check: () => Promise<boolean>): Promise<boolean> {
  try {
    return (await check()) === true;
  } catch (error) {
    // Some browsers do not know Ed25519: that is no fault of the package, and must not pass for one.
    if (error instanceof Error && error.name === 'NotSupportedError')
      throw new Error('This browser cannot check signatures of this kind; use a newer one, or the command.');
    return false;
  }
}

function owned(bytes: Uint8Array): Bytes {
  return new Uint8Array(bytes);
}
