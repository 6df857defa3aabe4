import type { Bytes } from '@rrs/evidence-format';
import type { Subtle } from '../platform.ts';
import { type Curve, P256, rawSignature } from './ecdsa.ts';

/** Returns false for an invalid signature or key. Throws only if the platform does not support the algorithm. */
export async function verifyEcdsa(subtle: Subtle, key: { spki: Uint8Array; curve?: Curve; hash?: string }, signed: Signed): Promise<boolean> {
  const curve = key.curve ?? P256;
  const raw = rawSignature(signed.signature, curve);
  if (raw === null) return false;
  return falseOnError(async () => {
    const imported = await subtle.importKey('spki', copyOf(key.spki), { name: 'ECDSA', namedCurve: curve.name }, false, ['verify']);
    return subtle.verify({ name: 'ECDSA', hash: key.hash ?? 'SHA-256' }, imported, raw, copyOf(signed.message));
  });
}

export async function verifyEd25519(subtle: Subtle, spki: Uint8Array, signed: Signed): Promise<boolean> {
  return falseOnError(async () => {
    const imported = await subtle.importKey('spki', copyOf(spki), { name: 'Ed25519' }, false, ['verify']);
    return subtle.verify({ name: 'Ed25519' }, imported, copyOf(signed.signature), copyOf(signed.message));
  });
}

export async function verifyRsa(subtle: Subtle, key: { spki: Uint8Array; hash: string }, signed: Signed): Promise<boolean> {
  return falseOnError(async () => {
    const imported = await subtle.importKey('spki', copyOf(key.spki), { name: 'RSASSA-PKCS1-v1_5', hash: key.hash }, false, ['verify']);
    return subtle.verify({ name: 'RSASSA-PKCS1-v1_5' }, imported, copyOf(signed.signature), copyOf(signed.message));
  });
}

export interface Signed {
  message: Uint8Array;
  signature: Uint8Array;
}

async function falseOnError(check: () => Promise<boolean>): Promise<boolean> {
  try {
    return (await check()) === true;
  } catch (error) {
    // Some browsers do not support Ed25519. This must not be reported as an invalid signature.
    if (error instanceof Error && error.name === 'NotSupportedError')
      throw new Error('This browser does not support this kind of signature. Use a newer browser or the rrs-verify command.');
    return false;
  }
}

function copyOf(bytes: Uint8Array): Bytes {
  return new Uint8Array(bytes);
}
