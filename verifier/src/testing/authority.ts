import { type Bytes, concat, contextTag, derInteger, derOid, sha256, TAG, utf8, writeDer } from '@rrs/evidence-format';
import { p256Key, type TestKey } from './signer.ts';

const OID = {
  sha256: '2.16.840.1.101.3.4.2.1',
  ecdsaSha256: '1.2.840.10045.4.3.2',
  signedData: '1.2.840.113549.1.7.2',
  tstInfo: '1.2.840.113549.1.9.16.1.4',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingCertificateV2: '1.2.840.113549.1.9.16.2.47',
  commonName: '2.5.4.3',
  basicConstraints: '2.5.29.19',
  keyUsage: '2.5.29.15',
  extendedKeyUsage: '2.5.29.37',
  timeStamping: '1.3.6.1.5.5.7.3.8',
  codeSigning: '1.3.6.1.5.5.7.3.3',
  policy: '1.2.3.4.1',
} as const;

const seq = (...parts: Uint8Array[]) => writeDer(TAG.sequence, ...parts);
const set = (...parts: Uint8Array[]) => writeDer(TAG.set, ...parts);
const octets = (...parts: Uint8Array[]) => writeDer(TAG.octetString, ...parts);
const yes = writeDer(TAG.boolean, Uint8Array.of(0xff));
const algorithm = (oid: string) => seq(derOid(oid));
const commonName = (text: string) => seq(set(seq(derOid(OID.commonName), writeDer(TAG.utf8String, utf8(text)))));
const time = (iso: string) => writeDer(TAG.generalizedTime, utf8(`${iso.slice(0, 19).replaceAll(/[-:T]/g, '')}Z`));

/** Ways in which the test authority can be faulty. */
export interface AuthorityFaults {
  name?: string;
  /** Extended key usage of the certificate. */
  purposes?: ('timeStamping' | 'codeSigning')[];
  purposeNotCritical?: boolean;
  validUntil?: string;
  /** The root is not allowed to sign certificates. */
  rootIsNotAuthority?: boolean;
  /** The token identifies another certificate as its signer's. */
  namesOther?: boolean;
  imprint?: 'other';
  /** The signed digest is that of other content. */
  digest?: 'other';
  status?: number;
  /** The stamped time. */
  at?: string;
  signWith?: TestKey;
}

export interface Authority {
  /** PEM. */
  root: string;
  stamp(signature: Uint8Array): Promise<Uint8Array>;
}

export async function testAuthority(faults: AuthorityFaults = {}): Promise<Authority> {
  const name = faults.name ?? 'Test TSA';
  const [rootKey, key] = [p256Key(`${name} root`), p256Key(name)];
  const rootName = `${name} Root`;
  const root = await certificate({
    subject: rootName,
    issuer: rootName,
    key: rootKey,
    signer: rootKey,
    serial: 1n,
    until: '2040-01-01',
    extensions: authorityExtensions(faults),
  });
  const leafExtensions = [purposeExtension(faults)];
  const leaf = await certificate({
    subject: name,
    issuer: rootName,
    key,
    signer: rootKey,
    serial: 2n,
    until: faults.validUntil ?? '2036-01-01',
    extensions: leafExtensions,
  });
  return { root: pem(root), stamp: (signature) => response({ signature, leaf, key: faults.signWith ?? key, issuer: commonName(rootName), faults }) };
}

function authorityExtensions({ rootIsNotAuthority }: AuthorityFaults): Bytes[] {
  return [extension.constraints({ ca: rootIsNotAuthority !== true }), extension.usage(0x06)];
}

/** Critical extensions. */
export const extension = {
  constraints: ({ ca, pathLength }: { ca: boolean; pathLength?: number }) =>
    seq(derOid(OID.basicConstraints), yes, octets(seq(...(ca ? [yes] : []), ...(pathLength === undefined ? [] : [derInteger(BigInt(pathLength))])))),
  /** First byte of the flags: 0x80 allows signing data, 0x04 allows signing certificates. */
  usage: (flags: number) => seq(derOid(OID.keyUsage), yes, octets(writeDer(TAG.bitString, Uint8Array.of(0, flags)))),
  purpose: (oid: string) => seq(derOid(OID.extendedKeyUsage), yes, octets(seq(derOid(oid)))),
  unknown: () => seq(derOid('1.2.3.4.5'), yes, octets(writeDer(TAG.null))),
};

function purposeExtension({ purposes = ['timeStamping'], purposeNotCritical }: AuthorityFaults): Bytes {
  const value = octets(seq(...purposes.map((purpose) => derOid(OID[purpose]))));
  return purposeNotCritical ? seq(derOid(OID.extendedKeyUsage), value) : seq(derOid(OID.extendedKeyUsage), yes, value);
}

export interface CertificateFacts {
  subject: string;
  issuer: string;
  key: TestKey;
  signer: TestKey;
  serial: bigint;
  until: string;
  extensions: Bytes[];
}

export async function certificate({ subject, issuer, key, signer, serial, until, extensions }: CertificateFacts): Promise<Bytes> {
  const tbs = seq(
    writeDer(contextTag(0), derInteger(2n)),
    derInteger(serial),
    algorithm(OID.ecdsaSha256),
    commonName(issuer),
    seq(time('2020-01-01T00:00:00'), time(`${until}T00:00:00`)),
    commonName(subject),
    key.spki,
    writeDer(contextTag(3), seq(...extensions)),
  );
  return seq(tbs, algorithm(OID.ecdsaSha256), writeDer(TAG.bitString, Uint8Array.of(0), await signer.sign(tbs)));
}

interface StampFacts {
  signature: Uint8Array;
  leaf: Bytes;
  key: TestKey;
  issuer: Bytes;
  faults: AuthorityFaults;
}

async function response({ signature, leaf, key, issuer, faults }: StampFacts): Promise<Uint8Array> {
  if (faults.status !== undefined) return seq(seq(derInteger(BigInt(faults.status))));
  const imprint = seq(algorithm(OID.sha256), octets(sha256(faults.imprint === 'other' ? utf8('other') : signature)));
  const info = seq(derInteger(1n), derOid(OID.policy), imprint, derInteger(7n), time(faults.at ?? '2026-03-04T05:07:00'));
  const named = faults.namesOther ? sha256(utf8('another certificate')) : sha256(leaf);
  const attributes = [
    seq(derOid(OID.contentType), set(derOid(OID.tstInfo))),
    seq(derOid(OID.messageDigest), set(octets(sha256(faults.digest === 'other' ? utf8('other') : info)))),
    seq(derOid(OID.signingCertificateV2), set(seq(seq(seq(octets(named)))))),
  ];
  const signer = seq(
    derInteger(1n),
    seq(issuer, derInteger(2n)),
    algorithm(OID.sha256),
    writeDer(contextTag(0), ...attributes),
    algorithm(OID.ecdsaSha256),
    octets(await key.sign(set(...attributes))),
  );
  const content = seq(derOid(OID.tstInfo), writeDer(contextTag(0), octets(info)));
  const signedData = seq(derInteger(3n), set(algorithm(OID.sha256)), content, writeDer(contextTag(0), leaf), set(signer));
  return seq(seq(derInteger(0n)), seq(derOid(OID.signedData), writeDer(contextTag(0), signedData)));
}

function pem(der: Uint8Array): string {
  const lines =
    Buffer.from(concat(der))
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
