import { childrenOf, type Der, equalBytes, expectTag, readInteger, readOid, sha256, TAG, type TimestampToken } from '@rrs/evidence-format';
import type { Subtle } from '../platform.ts';
import { HASHES, signedBy, TIME_STAMPING } from './chain.ts';
import { type Certificate, parseCertificate } from './x509.ts';

const OID = {
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingCertificate: '1.2.840.113549.1.9.16.2.12',
  signingCertificateV2: '1.2.840.113549.1.9.16.2.47',
  tstInfo: '1.2.840.113549.1.9.16.1.4',
  sha256: '2.16.840.1.101.3.4.2.1',
} as const;

/** Verifies the signature of a timestamp token (RFC 5652 section 5.6, RFC 3161 section 2.3, RFC 5816) and returns the signer. Throws if it is not valid. */
export async function verifyToken(subtle: Subtle, token: TimestampToken): Promise<{ signer: Certificate; others: Certificate[] }> {
  const certificates = token.certificates.map(parseCertificate);
  const signer = certificates.find((certificate) => isNamed(token.signer, certificate));
  if (signer === undefined) throw new Error('The timestamp token does not contain the certificate of its signer.');
  if (!isTimeStampingOnly(signer)) throw new Error("The signer's certificate is not restricted to time stamping (critical extended key usage).");
  await checkAttributes(subtle, token, signer);
  const { oid } = token.signatureAlgorithm;
  const signed = { message: token.signedAttributes, signature: token.signature };
  if (!(await signedBy(subtle, signer, { oid, digest: token.digestAlgorithm }, signed))) throw new Error('The signature of the timestamp token is not valid.');
  return { signer, others: certificates.filter((certificate) => certificate !== signer) };
}

/** RFC 5652 section 5.3: by issuer and serial number, or by key identifier. */
function isNamed(name: Der, { issuer, serial, extensions }: Certificate): boolean {
  if (name.tag === 0x80) return extensions.subjectKeyId !== null && equalBytes(name.content, extensions.subjectKeyId);
  const [namedIssuer, namedSerial, ...rest] = childrenOf(expectTag(name, TAG.sequence));
  return rest.length === 0 && equalBytes(expectTag(namedIssuer).bytes, issuer) && readInteger(expectTag(namedSerial)) === serial;
}

function isTimeStampingOnly({ extensions: { ca, keyUsage, extendedKeyUsage } }: Certificate): boolean {
  const [purpose, ...others] = extendedKeyUsage?.purposes ?? [];
  const mayUse = keyUsage === null || keyUsage.has('digitalSignature') || keyUsage.has('nonRepudiation');
  return !ca && mayUse && extendedKeyUsage?.critical === true && purpose === TIME_STAMPING && others.length === 0;
}

async function checkAttributes(subtle: Subtle, token: TimestampToken, signer: Certificate): Promise<void> {
  const { attributes, content } = token;
  const type = attributes.get(OID.contentType);
  if (type === undefined || readOid(type) !== OID.tstInfo) throw new Error('The signed content type of the token is not a timestamp.');
  const digest = attributes.get(OID.messageDigest);
  const hash = HASHES[token.digestAlgorithm];
  if (hash === undefined) throw new Error('The timestamp token uses an unsupported hash algorithm.');
  if (digest === undefined || !equalBytes(expectTag(digest, TAG.octetString).content, await hashOf(subtle, hash, content))) {
    throw new Error('The signed digest does not match the content of the timestamp token.');
  }
  await checkSigningCertificate(subtle, attributes, signer);
}

/** RFC 5035: the token identifies its certificate, so that it cannot be replaced with another certificate for the same key. */
async function checkSigningCertificate(subtle: Subtle, attributes: TimestampToken['attributes'], signer: Certificate): Promise<void> {
  const first = (oid: string): Der | null => {
    const attribute = attributes.get(oid);
    if (attribute === undefined) return null;
    return expectTag(childrenOf(expectTag(childrenOf(expectTag(attribute, TAG.sequence))[0], TAG.sequence))[0], TAG.sequence);
  };
  const [v2, v1] = [first(OID.signingCertificateV2), first(OID.signingCertificate)];
  if (v2 === null && v1 === null) throw new Error('The timestamp token does not identify its signing certificate.');
  if (v2 !== null && !(await matchesV2(subtle, v2, signer)))
    throw new Error('The signing certificate differs from the one that the timestamp token identifies.');
  // RFC 2634 supports only SHA-1. Here it only selects a certificate, and that certificate must still chain to a trusted one.
  if (v2 === null && v1 !== null && !equalBytes(certificateHash(v1, 0), await hashOf(subtle, 'SHA-1', signer.der))) {
    throw new Error('The signing certificate differs from the one that the timestamp token identifies.');
  }
}

async function matchesV2(subtle: Subtle, id: Der, signer: Certificate): Promise<boolean> {
  const [first] = childrenOf(id);
  // SHA-256 is the default and is omitted.
  if (first?.tag === TAG.octetString) return equalBytes(first.content, sha256(signer.der));
  const hash = HASHES[readOid(expectTag(childrenOf(expectTag(first, TAG.sequence))[0]))];
  return hash !== undefined && equalBytes(certificateHash(id, 1), await hashOf(subtle, hash, signer.der));
}

function certificateHash(id: Der, at: number): Uint8Array {
  return expectTag(childrenOf(id)[at], TAG.octetString).content;
}

async function hashOf(subtle: Subtle, algorithm: string, bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await subtle.digest(algorithm, new Uint8Array(bytes)));
}

/** Throws unless the token stamps the SHA-256 hash of these bytes. */
export function checkImprint({ tstInfo: { imprint } }: TimestampToken, stamped: Uint8Array): void {
  if (imprint.algorithm !== OID.sha256) throw new Error('The timestamp does not use SHA-256.');
  if (!equalBytes(imprint.hash, sha256(stamped))) throw new Error('The timestamp does not stamp the signature of this package.');
}
