import {
  childrenOf,
  contextTag,
  type Der,
  equalBytes,
  expectTag,
  FormatError,
  readDer,
  readGeneralizedTime,
  readInteger,
  readOid,
  TAG,
} from '@rrs/evidence-format';

/** The fields of a certificate that chain validation needs (RFC 5280). Names are compared byte by byte. */
export interface Certificate {
  der: Uint8Array;
  /** The signed part (TBSCertificate). */
  tbs: Uint8Array;
  serial: bigint;
  issuer: Uint8Array;
  subject: Uint8Array;
  /** Common name, or the organization if there is none. For display only. */
  subjectText: string;
  notBefore: Date;
  notAfter: Date;
  spki: Uint8Array;
  keyAlgorithm: { oid: string; curve: string | null };
  signatureAlgorithm: string;
  signature: Uint8Array;
  extensions: Extensions;
}

interface Extensions {
  ca: boolean;
  pathLength: number | null;
  /** Null if the extension is absent. */
  keyUsage: Set<'digitalSignature' | 'nonRepudiation' | 'keyCertSign'> | null;
  extendedKeyUsage: { critical: boolean; purposes: string[] } | null;
  subjectKeyId: Uint8Array | null;
  /** Unsupported critical extensions. RFC 5280 requires rejecting the certificate. */
  unknownCritical: string[];
}

const OID = {
  basicConstraints: '2.5.29.19',
  keyUsage: '2.5.29.15',
  extendedKeyUsage: '2.5.29.37',
  subjectKeyId: '2.5.29.14',
  authorityKeyId: '2.5.29.35',
  certificatePolicies: '2.5.29.32',
  commonName: '2.5.4.3',
  organizationName: '2.5.4.10',
} as const;

export function parseCertificate(der: Uint8Array): Certificate {
  const [tbs, algorithm, signature, ...rest] = childrenOf(readDer(der, TAG.sequence));
  if (rest.length > 0) throw new FormatError('the certificate has more than three parts');
  const body = expectTag(tbs, TAG.sequence);
  const [version, serial, inner, issuer, validity, subject, spki, ...optional] = childrenOf(body);
  if (readInteger(only(version, contextTag(0))) !== 2n) throw new FormatError('the certificate is not version 3');
  const outer = expectTag(algorithm, TAG.sequence);
  if (!equalBytes(outer.bytes, expectTag(inner, TAG.sequence).bytes)) throw new FormatError('the certificate has two different signature algorithms');
  const [notBefore, notAfter] = childrenOf(expectTag(validity, TAG.sequence));
  const key = expectTag(spki, TAG.sequence);
  const extensions = optional.find(({ tag }) => tag === contextTag(3));
  return {
    der,
    tbs: body.bytes,
    serial: readInteger(expectTag(serial)),
    issuer: expectTag(issuer, TAG.sequence).bytes,
    subject: expectTag(subject, TAG.sequence).bytes,
    subjectText: nameText(expectTag(subject, TAG.sequence)),
    notBefore: readTime(notBefore),
    notAfter: readTime(notAfter),
    spki: key.bytes,
    keyAlgorithm: readKeyAlgorithm(key),
    signatureAlgorithm: readOid(expectTag(childrenOf(outer)[0])),
    signature: bits(expectTag(signature, TAG.bitString)),
    extensions: readExtensions(extensions),
  };
}

function readKeyAlgorithm(spki: Der): Certificate['keyAlgorithm'] {
  const [oid, parameters] = childrenOf(expectTag(childrenOf(spki)[0], TAG.sequence));
  return { oid: readOid(expectTag(oid)), curve: parameters?.tag === TAG.oid ? readOid(parameters) : null };
}

/** RFC 5280 section 4.1.2.5. */
function readTime(value: Der | undefined): Date {
  if (value?.tag !== TAG.utcTime) return readGeneralizedTime(expectTag(value));
  const text = String.fromCharCode(...value.content);
  const [, year = '', rest = ''] = /^(\d\d)(\d{10}Z)$/.exec(text) ?? [];
  const full = `${Number(year) >= 50 ? '19' : '20'}${year}${rest}`;
  return readGeneralizedTime({ ...value, tag: TAG.generalizedTime, content: Uint8Array.from(full, (character) => character.charCodeAt(0)) });
}

function readExtensions(wrapped: Der | undefined): Extensions {
  const found: Extensions = { ca: false, pathLength: null, keyUsage: null, extendedKeyUsage: null, subjectKeyId: null, unknownCritical: [] };
  if (wrapped === undefined) return found;
  const seen = new Set<string>();
  for (const extension of childrenOf(only(wrapped, contextTag(3), TAG.sequence))) {
    const parts = childrenOf(expectTag(extension, TAG.sequence));
    const oid = readOid(expectTag(parts[0]));
    if (seen.has(oid)) throw new FormatError(`the certificate has a duplicate extension ${oid}`);
    seen.add(oid);
    const critical = parts.length === 3 && expectTag(parts[1], TAG.boolean).content[0] === 0xff;
    if (parts.length < 2 || parts.length > 3 || (parts.length === 3 && !critical)) throw new FormatError('the certificate has a malformed extension');
    readExtension(found, { oid, critical, content: expectTag(parts.at(-1), TAG.octetString).content });
  }
  return found;
}

function readExtension(found: Extensions, { oid, critical, content }: { oid: string; critical: boolean; content: Uint8Array }): void {
  switch (oid) {
    case OID.basicConstraints: {
      const parts = childrenOf(readDer(content, TAG.sequence));
      found.ca = parts[0]?.tag === TAG.boolean && parts[0].content[0] === 0xff;
      const length = parts.find(({ tag }) => tag === TAG.integer);
      found.pathLength = length === undefined ? null : Number(readInteger(length));
      return;
    }
    case OID.keyUsage: {
      const first = bits(readDer(content, TAG.bitString), true)[0] ?? 0;
      found.keyUsage = new Set();
      if (first & 0x80) found.keyUsage.add('digitalSignature');
      if (first & 0x40) found.keyUsage.add('nonRepudiation');
      if (first & 0x04) found.keyUsage.add('keyCertSign');
      return;
    }
    case OID.extendedKeyUsage:
      found.extendedKeyUsage = { critical, purposes: childrenOf(readDer(content, TAG.sequence)).map(readOid) };
      return;
    case OID.subjectKeyId:
      found.subjectKeyId = readDer(content, TAG.octetString).content;
      return;
    case OID.authorityKeyId:
    case OID.certificatePolicies:
      return;
    default:
      if (critical) found.unknownCritical.push(oid);
  }
}

function nameText(name: Der): string {
  const parts = new Map<string, string>();
  for (const set of childrenOf(name)) {
    for (const pair of childrenOf(set)) {
      const [type, value] = childrenOf(pair);
      if (type !== undefined && value !== undefined) parts.set(readOid(type), new TextDecoder().decode(value.content));
    }
  }
  return parts.get(OID.commonName) ?? parts.get(OID.organizationName) ?? 'unnamed authority';
}

/** Returns the bytes of a bit string. Only a string of flags may have unused bits. */
function bits({ content }: Der, flags = false): Uint8Array {
  const [unused = 8] = content;
  if (unused > (flags ? 7 : 0)) throw new FormatError('a bit string has unused bits');
  return content.subarray(1);
}

function only(value: Der | undefined, tag: number, inner?: number): Der {
  const [child, ...rest] = childrenOf(expectTag(value, tag));
  if (rest.length > 0) throw new FormatError('several values instead of one');
  return expectTag(child, inner);
}
