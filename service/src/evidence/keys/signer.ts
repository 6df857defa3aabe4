import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { logId, opensshFingerprint, pemFromSpki, toHex } from '@rrs/evidence-format';

export type SigningAlgorithm = 'ES256' | 'Ed25519';
export type KeyUse = 'package' | 'log';

/** Signs evidence. The keys are files. A key management service could implement this interface as well. */
export interface Signer {
  readonly keyId: string;
  readonly algorithm: SigningAlgorithm;
  readonly publicKeyPem: string;
  /** Signs the bytes with ECDSA P-256 and SHA-256 (signature in DER), or with Ed25519. */
  sign(bytes: Uint8Array): Promise<Uint8Array>;
}

const signAsync = promisify(sign) as (digest: string | null, bytes: Uint8Array, key: KeyObject) => Promise<Buffer>;

/** Package keys are identified by their OpenSSH fingerprint, log keys by the SHA-256 of the key (RFC 6962, section 3.2). */
function keyIdOf(use: KeyUse, spki: Uint8Array): string {
  return use === 'package' ? opensshFingerprint(spki) : toHex(logId(spki));
}

function spkiOf(privateKeyPem: string): Buffer {
  return createPublicKey(createPrivateKey(privateKeyPem)).export({ type: 'spki', format: 'der' });
}

/** Returns `null` if the text is not a private key of this kind. */
export function pemSigner(use: KeyUse, algorithm: SigningAlgorithm, privateKeyPem: string): Signer | null {
  let key: KeyObject;
  try {
    key = createPrivateKey(privateKeyPem);
  } catch {
    return null;
  }
  const fits = algorithm === 'ES256' ? key.asymmetricKeyDetails?.namedCurve === 'prime256v1' : key.asymmetricKeyType === 'ed25519';
  if (!fits) return null;
  const spki = spkiOf(privateKeyPem);
  return {
    keyId: keyIdOf(use, spki),
    algorithm,
    publicKeyPem: pemFromSpki(spki),
    sign: (bytes) => signAsync(algorithm === 'ES256' ? 'sha256' : null, bytes, key),
  };
}
