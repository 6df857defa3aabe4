import { childrenOf, equalBytes, expectTag, readDer, TAG } from '@rrs/evidence-format';
import type { Subtle } from '../platform.ts';
import { type Curve, P256, P384 } from './ecdsa.ts';
import { type Signed, verifyEcdsa, verifyRsa } from './signatures.ts';
import type { Certificate } from './x509.ts';

export const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';
const ANY_PURPOSE = '2.5.29.37.0';
const MAX_CHAIN = 8;
/** A crafted token could contain many certificates that name each other as issuer. */
const MAX_STEPS = 100;

const RSA_KEY = '1.2.840.113549.1.1.1';
const EC_KEY = '1.2.840.10045.2.1';
const CURVES: Record<string, Curve> = { '1.2.840.10045.3.1.7': P256, '1.3.132.0.34': P384 };
export const HASHES: Record<string, 'SHA-256' | 'SHA-384' | 'SHA-512'> = {
  '2.16.840.1.101.3.4.2.1': 'SHA-256',
  '2.16.840.1.101.3.4.2.2': 'SHA-384',
  '2.16.840.1.101.3.4.2.3': 'SHA-512',
};
const SIGNATURES: Record<string, { key: string; hash: 'SHA-256' | 'SHA-384' | 'SHA-512' | null }> = {
  [RSA_KEY]: { key: RSA_KEY, hash: null },
  '1.2.840.113549.1.1.11': { key: RSA_KEY, hash: 'SHA-256' },
  '1.2.840.113549.1.1.12': { key: RSA_KEY, hash: 'SHA-384' },
  '1.2.840.113549.1.1.13': { key: RSA_KEY, hash: 'SHA-512' },
  '1.2.840.10045.4.3.2': { key: EC_KEY, hash: 'SHA-256' },
  '1.2.840.10045.4.3.3': { key: EC_KEY, hash: 'SHA-384' },
  '1.2.840.10045.4.3.4': { key: EC_KEY, hash: 'SHA-512' },
};
const MIN_RSA_BYTES = 256;

/** Whether the key of a certificate made the signature. `digest` is the hash for algorithms that do not include one. */
export async function signedBy(subtle: Subtle, key: Certificate, algorithm: { oid: string; digest?: string }, signed: Signed): Promise<boolean> {
  const known = SIGNATURES[algorithm.oid];
  const hash = known?.hash ?? HASHES[algorithm.digest ?? ''];
  if (known === undefined || hash === undefined || known.key !== key.keyAlgorithm.oid) return false;
  if (known.key === RSA_KEY) return rsaModulusBytes(key) >= MIN_RSA_BYTES && verifyRsa(subtle, { spki: key.spki, hash }, signed);
  const curve = CURVES[key.keyAlgorithm.curve ?? ''];
  return curve !== undefined && verifyEcdsa(subtle, { spki: key.spki, curve, hash }, signed);
}

function rsaModulusBytes({ spki }: Certificate): number {
  const key = expectTag(childrenOf(readDer(spki))[1], TAG.bitString).content.subarray(1);
  const modulus = expectTag(childrenOf(readDer(key, TAG.sequence))[0], TAG.integer).content;
  return modulus[0] === 0 ? modulus.length - 1 : modulus.length;
}

export interface ChainRequest {
  leaf: Certificate;
  others: Certificate[];
  trusted: Certificate[];
  at: Date;
}

/** Whether a chain of certificates leads from the leaf to a trusted one. Each must be valid at `at` and allowed to sign the previous one (RFC 5280 section 6, without policies). */
export async function chainsToTrusted(subtle: Subtle, { leaf, others, trusted, at }: ChainRequest): Promise<boolean> {
  let steps = 0;
  return walk(leaf, 0, [leaf]);

  async function walk(certificate: Certificate, above: number, path: Certificate[]): Promise<boolean> {
    if (++steps > MAX_STEPS || !isValidAt(certificate, at)) return false;
    if (trusted.some(({ der }) => equalBytes(der, certificate.der))) return true;
    if (path.length >= MAX_CHAIN) return false;
    for (const issuer of [...trusted, ...others]) {
      if (path.includes(issuer) || !equalBytes(issuer.subject, certificate.issuer) || !maySign(issuer, above)) continue;
      const signed = { message: certificate.tbs, signature: certificate.signature };
      if (!(await signedBy(subtle, issuer, { oid: certificate.signatureAlgorithm }, signed))) continue;
      if (await walk(issuer, above + 1, [...path, issuer])) return true;
    }
    return false;
  }
}

function isValidAt({ notBefore, notAfter, extensions }: Certificate, at: Date): boolean {
  return notBefore <= at && at <= notAfter && extensions.unknownCritical.length === 0;
}

function maySign({ extensions: { ca, pathLength, keyUsage, extendedKeyUsage } }: Certificate, below: number): boolean {
  const purpose = extendedKeyUsage === null || extendedKeyUsage.purposes.some((oid) => oid === TIME_STAMPING || oid === ANY_PURPOSE);
  return ca && purpose && (pathLength === null || below <= pathLength) && (keyUsage === null || keyUsage.has('keyCertSign'));
}
