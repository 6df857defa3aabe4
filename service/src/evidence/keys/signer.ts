import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { logId, opensshFingerprint, pemFromSpki, toHex } from '@rrs/evidence-format';

export type SigningAlgorithm = 'ES256' | 'Ed25519';
export type KeyUse = 'package' | 'log';

/** What signs evidence: a key in a file here; a key management service can stand behind it as well. */
export interface Signer {
  readonly keyId: string;
  readonly algorithm: SigningAlgorithm;
  readonly publicKeyPem: string;
  /** Over the bytes themselves: ECDSA P-256 with SHA-256 in DER, or Ed25519. */
  sign(bytes: Uint8Array): Promise<Uint8Array>;
}

const signAsync = promisify(sign) as (digest: string | null, bytes: Uint8Array, key: KeyObject) => Promise<Buffer>;

/** Verifiers of DSSE know a key only by its OpenSSH fingerprint; a log is known by the SHA-256 of its key (RFC 6962 section 3.2). */
function keyIdOf(use: KeyUse, spki: Uint8Array): string {
  return use === 'package' ? opensshFingerprint(spki) : toHex(logId(spki));
}

function spkiOf(privateKeyPem: string): Buffer {
  return createPublicKey(createPrivateKey(privateKeyPem)).export({ type: 'spki', format: 'der' });
}

/** `null`: the text is no private key of that kind. */
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
