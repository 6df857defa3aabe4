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

/** RFC 3161 section 2.4.1. Requests the authority's certificate, so that the response can be verified on its own. */
export function timestampRequest(sha256: Uint8Array, nonce: bigint): Bytes {
  assertFormat(sha256.length === 32 && nonce >= 0n, 'expected a SHA-256 hash and a nonce that is not negative');
  const algorithm = writeDer(TAG.sequence, derOid(OID.sha256), writeDer(TAG.null));
  const imprint = writeDer(TAG.sequence, algorithm, writeDer(TAG.octetString, sha256));
  return writeDer(TAG.sequence, derInteger(1n), imprint, derInteger(nonce), writeDer(TAG.boolean, Uint8Array.of(0xff)));
}

export interface TimestampResponse {
  /** RFC 3161 PKIStatus. 0 and 1 come with a token. */
  status: number;
  token: TimestampToken | null;
}

export interface TimestampToken {
  tstInfo: TstInfo;
  /** TSTInfo in DER, whose hash is `messageDigest`. */
  content: Uint8Array;
  /** In the form that is hashed for the signature: with the tag of a SET (RFC 5652 section 5.4). */
  signedAttributes: Uint8Array;
  /** Maps object identifiers to their only value. */
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
  assertFormat(rest.length === 0, 'the timestamp response has more than a status and a token');
  assertFormat((token !== undefined) === (status === 0 || status === 1), 'the status and the token of the timestamp response disagree');
  return { status, token: token === undefined ? null : parseToken(token) };
}

/** RFC 5652 section 5.1. */
function parseToken(contentInfo: Der): TimestampToken {
  const [type, wrapped] = childrenOf(expectTag(contentInfo, TAG.sequence));
  assertFormat(readOid(expectTag(type)) === OID.signedData, 'the timestamp token is not signed data');
  const [version, digests, encapsulated, ...rest] = childrenOf(only(wrapped, contextTag(0), TAG.sequence));
  readInteger(expectTag(version));
  expectTag(digests, TAG.set);
  const [contentType, content] = childrenOf(expectTag(encapsulated, TAG.sequence));
  assertFormat(readOid(expectTag(contentType)) === OID.tstInfo, 'the timestamp token does not contain a TSTInfo');
  const { content: tstInfo } = only(content, contextTag(0), TAG.octetString);
  const signerInfos = expectTag(rest.at(-1), TAG.set);
  const certificates = rest.find(({ tag }) => tag === contextTag(0));
  assertFormat(
    rest.slice(0, -1).every(({ tag }, at, tags) => (tag === contextTag(0) && at === 0) || (tag === contextTag(1) && at === tags.length - 1)),
    'the signed data has unknown parts',
  );
  return {
    tstInfo: parseTstInfo(tstInfo),
    content: tstInfo,
    certificates: certificates === undefined ? [] : childrenOf(certificates).flatMap(({ tag, bytes }) => (tag === TAG.sequence ? [bytes] : [])),
    ...parseSigner(only(signerInfos, TAG.set, TAG.sequence)),
  };
}

type Signer = Pick<TimestampToken, 'signedAttributes' | 'attributes' | 'signer' | 'digestAlgorithm' | 'signatureAlgorithm' | 'signature'>;

/** RFC 5652 section 5.3. Fields after the signature are not signed and are ignored. */
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
    assertFormat(rest.length === 0 && value !== undefined && others.length === 0 && !found.has(oid), 'a signed attribute does not have exactly one value');
    found.set(oid, value);
  }
  return found;
}

/** RFC 3161 section 2.4.2. */
function parseTstInfo(der: Uint8Array): TstInfo {
  const [version, policy, imprint, serial, genTime, ...optional] = childrenOf(readDer(der, TAG.sequence));
  assertFormat(readInteger(expectTag(version)) === 1n, 'unsupported TSTInfo version');
  const [algorithm, hash, ...rest] = childrenOf(expectTag(imprint, TAG.sequence));
  assertFormat(rest.length === 0, 'the message imprint has more than an algorithm and a hash');
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

/** Returns the only value inside another. */
function only(value: Der | undefined, tag: number, inner: number): Der {
  const [child, ...rest] = childrenOf(expectTag(value, tag));
  assertFormat(rest.length === 0, 'several DER values instead of one');
  return expectTag(child, inner);
}
