import type { Bytes } from '../bytes/bytes.ts';
import {
  childrenOf,
  contextTag,
  type Der,
  derInteger,
  derOid,
  expectTag,
  readDer,
  readGeneralizedTime,
  readInteger,
  readOid,
  TAG,
  writeDer,
} from '../bytes/der.ts';
import { assertFormat } from '../bytes/errors.ts';

const OID = {
  sha256: '2.16.840.1.101.3.4.2.1',
  signedData: '1.2.840.113549.1.7.2',
  tstInfo: '1.2.840.113549.1.9.16.1.4',
} as const;

/** RFC 3161 section 2.4.1, with the certificate of the authority asked for: without it the answer cannot be checked alone. */
export function timestampRequest(sha256: Uint8Array, nonce: bigint): Bytes {
  assertFormat(sha256.length === 32 && nonce >= 0n, 'a SHA-256 hash and a nonce that is not negative');
  const algorithm = writeDer(TAG.sequence, derOid(OID.sha256), writeDer(TAG.null));
  const imprint = writeDer(TAG.sequence, algorithm, writeDer(TAG.octetString, sha256));
  return writeDer(TAG.sequence, derInteger(1n), imprint, derInteger(nonce), writeDer(TAG.boolean, Uint8Array.of(0xff)));
}

export interface TimestampResponse {
  /** RFC 3161 PKIStatus; 0 and 1 come with a token. */
  status: number;
  token: TimestampToken | null;
}

export interface TimestampToken {
  tstInfo: TstInfo;
  /** DER of the TSTInfo: what `messageDigest` is the hash of. */
  content: Uint8Array;
  /** As they are hashed for the signature: with the tag of a SET (RFC 5652 section 5.4). */
  signedAttributes: Uint8Array;
  /** Object identifier to its only value. */
  attributes: Map<string, Der>;
  /** The issuer and serial number, or the key identifier, of the signer. */
  signer: Der;
  digestAlgorithm: string;
  signatureAlgorithm: { oid: string; parameters: Der | null };
  signature: Uint8Array;
  /** X.509 in DER, in the order of the token. */
  certificates: Uint8Array[];
}

export interface TstInfo {
  policy: string;
  imprint: { algorithm: string; hash: Uint8Array };
  serial: bigint;
  genTime: Date;
  nonce: bigint | null;
}

export function parseTimestampResponse(der: Uint8Array): TimestampResponse {
  const [info, token, ...rest] = childrenOf(readDer(der, TAG.sequence));
  const status = Number(readInteger(expectTag(childrenOf(expectTag(info, TAG.sequence))[0], TAG.integer)));
  assertFormat(rest.length === 0, 'a timestamp response with more than a status and a token');
  assertFormat((token !== undefined) === (status === 0 || status === 1), 'a timestamp response whose status and token disagree');
  return { status, token: token === undefined ? null : parseToken(token) };
}

/** RFC 5652 section 5.1. */
function parseToken(contentInfo: Der): TimestampToken {
  const [type, wrapped] = childrenOf(expectTag(contentInfo, TAG.sequence));
  assertFormat(readOid(expectTag(type)) === OID.signedData, 'a timestamp token is signed data');
  const [version, digests, encapsulated, ...rest] = childrenOf(only(wrapped, contextTag(0), TAG.sequence));
  readInteger(expectTag(version));
  expectTag(digests, TAG.set);
  const [contentType, content] = childrenOf(expectTag(encapsulated, TAG.sequence));
  assertFormat(readOid(expectTag(contentType)) === OID.tstInfo, 'a timestamp token holds a TSTInfo');
  const { content: tstInfo } = only(content, contextTag(0), TAG.octetString);
  const signerInfos = expectTag(rest.at(-1), TAG.set);
  const certificates = rest.find(({ tag }) => tag === contextTag(0));
  assertFormat(
    rest.slice(0, -1).every(({ tag }, at, tags) => (tag === contextTag(0) && at === 0) || (tag === contextTag(1) && at === tags.length - 1)),
    'signed data with unknown parts',
  );
  return {
    tstInfo: parseTstInfo(tstInfo),
    content: tstInfo,
    certificates: certificates === undefined ? [] : childrenOf(certificates).flatMap(({ tag, bytes }) => (tag === TAG.sequence ? [bytes] : [])),
    ...parseSigner(only(signerInfos, TAG.set, TAG.sequence)),
  };
}

type Signer = Pick<TimestampToken, 'signedAttributes' | 'attributes' | 'signer' | 'digestAlgorithm' | 'signatureAlgorithm' | 'signature'>;

/** RFC 5652 section 5.3. What follows the signature is not signed, and not read. */
function parseSigner(signerInfo: Der): Signer {
  const [version, signer, digest, signed, algorithm, signature] = childrenOf(signerInfo);
  readInteger(expectTag(version));
  const attributes = expectTag(signed, contextTag(0));
  const [oid, parameters] = childrenOf(expectTag(algorithm, TAG.sequence));
  return {
    signer: expectTag(signer),
    digestAlgorithm: algorithmOf(digest),
    signedAttributes: writeDer(TAG.set, attributes.content),
    attributes: parseAttributes(attributes),
    signatureAlgorithm: { oid: readOid(expectTag(oid)), parameters: parameters ?? null },
    signature: expectTag(signature, TAG.octetString).content,
  };
}

function parseAttributes(attributes: Der): Map<string, Der> {
  const found = new Map<string, Der>();
  for (const attribute of childrenOf(attributes)) {
    const [type, values, ...rest] = childrenOf(expectTag(attribute, TAG.sequence));
    const oid = readOid(expectTag(type));
    const [value, ...others] = childrenOf(expectTag(values, TAG.set));
    assertFormat(rest.length === 0 && value !== undefined && others.length === 0 && !found.has(oid), 'a signed attribute with several values');
    found.set(oid, value);
  }
  return found;
}

/** RFC 3161 section 2.4.2. */
function parseTstInfo(der: Uint8Array): TstInfo {
  const [version, policy, imprint, serial, genTime, ...optional] = childrenOf(readDer(der, TAG.sequence));
  assertFormat(readInteger(expectTag(version)) === 1n, 'TSTInfo of an unknown version');
  const [algorithm, hash, ...rest] = childrenOf(expectTag(imprint, TAG.sequence));
  assertFormat(rest.length === 0, 'a message imprint with more than an algorithm and a hash');
  const nonce = optional.find(({ tag }) => tag === TAG.integer);
  return {
    policy: readOid(expectTag(policy)),
    imprint: { algorithm: algorithmOf(algorithm), hash: expectTag(hash, TAG.octetString).content },
    serial: readInteger(expectTag(serial)),
    genTime: readGeneralizedTime(expectTag(genTime)),
    nonce: nonce === undefined ? null : readInteger(nonce),
  };
}

function algorithmOf(identifier: Der | undefined): string {
  return readOid(expectTag(childrenOf(expectTag(identifier, TAG.sequence))[0]));
}

/** The only value inside another. */
function only(value: Der | undefined, tag: number, inner: number): Der {
  const [child, ...rest] = childrenOf(expectTag(value, tag));
  assertFormat(rest.length === 0, 'DER: several values in place of one');
  return expectTag(child, inner);
}
