import { fromBase64, toBase64, utf8 } from '../bytes/bytes.ts';
import { decimal } from '../bytes/decimal.ts';
import { assertFormat, FormatError } from '../bytes/errors.ts';
import { canonicalJson } from '../json/jcs.ts';
import { parseStrictJson } from '../json/strict-json.ts';
import { anyText, constant, list, name, type Of, object, one, text } from '../json/typed-schema.ts';
import { validate } from '../json/validate.ts';
import { type Envelope, PAYLOAD_TYPE } from './dsse.ts';

export const BUNDLE_MEDIA_TYPE = 'application/vnd.dev.sigstore.bundle.v0.3+json';

/** Content of proof/package.sigstore.json. Bytes are in base64. 64-bit numbers are strings. */
export interface Bundle {
  mediaType: typeof BUNDLE_MEDIA_TYPE;
  verificationMaterial: {
    publicKey: { hint: string };
    tlogEntries: [BundleLogEntry];
    timestampVerificationData: { rfc3161Timestamps: { signedTimestamp: string }[] };
  };
  dsseEnvelope: Envelope;
}

export interface BundleLogEntry {
  logIndex: string;
  logId: { keyId: string };
  kindVersion: { kind: 'dsse'; version: '0.0.1' };
  integratedTime: string;
  inclusionPromise: { signedEntryTimestamp: string };
  inclusionProof: { logIndex: string; rootHash: string; treeSize: string; hashes: string[]; checkpoint: { envelope: string } };
  canonicalizedBody: string;
}

export interface BundleParts {
  envelope: Envelope;
  /** RFC 3161 responses in DER. */
  timestamps: readonly Uint8Array[];
  log: {
    index: number;
    logId: Uint8Array;
    /** Seconds since 1970. */
    integratedTime: number;
    promise: Uint8Array;
    root: Uint8Array;
    size: number;
    hashes: readonly Uint8Array[];
    /** Checkpoint as a note signed with the P-256 key. */
    checkpoint: string;
    /** Log leaf, from leafEntry. */
    entry: string;
  };
}

export function bundleJson({ envelope, timestamps, log }: BundleParts): string {
  const entry: BundleLogEntry = {
    logIndex: decimal(log.index),
    logId: { keyId: toBase64(log.logId) },
    kindVersion: { kind: 'dsse', version: '0.0.1' },
    integratedTime: decimal(log.integratedTime),
    inclusionPromise: { signedEntryTimestamp: toBase64(log.promise) },
    inclusionProof: {
      logIndex: decimal(log.index),
      rootHash: toBase64(log.root),
      treeSize: decimal(log.size),
      hashes: log.hashes.map(toBase64),
      checkpoint: { envelope: log.checkpoint },
    },
    canonicalizedBody: toBase64(utf8(log.entry)),
  };
  const bundle: Bundle = {
    mediaType: BUNDLE_MEDIA_TYPE,
    verificationMaterial: {
      publicKey: { hint: envelope.signatures[0].keyid },
      tlogEntries: [entry],
      timestampVerificationData: { rfc3161Timestamps: timestamps.map((token) => ({ signedTimestamp: toBase64(token) })) },
    },
    dsseEnvelope: envelope,
  };
  return `${canonicalJson(bundle)}\n`;
}

const base64 = text(/^[A-Za-z0-9+/]+={0,2}$/);
const int64 = text(/^(?:0|[1-9]\d{0,15})$/);
type Material = Bundle['verificationMaterial'];

const logEntrySchema = object<BundleLogEntry>({
  logIndex: int64,
  logId: object({ keyId: base64 }),
  kindVersion: object<BundleLogEntry['kindVersion']>({ kind: constant('dsse'), version: constant('0.0.1') }),
  integratedTime: int64,
  inclusionPromise: object({ signedEntryTimestamp: base64 }),
  inclusionProof: object<BundleLogEntry['inclusionProof']>({
    logIndex: int64,
    rootHash: base64,
    treeSize: int64,
    hashes: list(base64),
    checkpoint: object({ envelope: anyText }),
  }),
  canonicalizedBody: base64,
});

export const envelopeSchema: Of<Envelope> = object<Envelope>({
  payload: base64,
  payloadType: constant(PAYLOAD_TYPE),
  signatures: one(object<Envelope['signatures'][0]>({ keyid: name, sig: base64 })),
});

const bundleSchema: Of<Bundle> = object<Bundle>({
  mediaType: constant(BUNDLE_MEDIA_TYPE),
  verificationMaterial: object<Material>({
    publicKey: object({ hint: name }),
    tlogEntries: one(logEntrySchema),
    timestampVerificationData: object<Material['timestampVerificationData']>({ rfc3161Timestamps: list(object({ signedTimestamp: base64 })) }),
  }),
  dsseEnvelope: envelopeSchema,
});

/** Accepts only the exact form that bundleJson writes. */
export function parseBundle(json: string): Bundle {
  const parsed = parseStrictJson(json);
  const [fault] = validate(bundleSchema, parsed);
  assertFormat(fault === undefined, `the bundle${fault?.path === '' ? '' : ` field ${fault?.path}`} ${fault?.message}`);
  const bundle = parsed as Bundle;
  for (const [field, value] of base64Fields(bundle)) assertBase64(field, value);
  assertFormat(`${canonicalJson(bundle)}\n` === json, 'the bundle is not in canonical form');
  return bundle;
}

function base64Fields({ dsseEnvelope, verificationMaterial: { tlogEntries, timestampVerificationData } }: Bundle): [string, string][] {
  const [entry] = tlogEntries;
  return [
    ['payload', dsseEnvelope.payload],
    ['sig', dsseEnvelope.signatures[0].sig],
    ['keyId', entry.logId.keyId],
    ['signedEntryTimestamp', entry.inclusionPromise.signedEntryTimestamp],
    ['rootHash', entry.inclusionProof.rootHash],
    ['canonicalizedBody', entry.canonicalizedBody],
    ...entry.inclusionProof.hashes.map((hash): [string, string] => ['hashes', hash]),
    ...timestampVerificationData.rfc3161Timestamps.map(({ signedTimestamp }): [string, string] => ['signedTimestamp', signedTimestamp]),
  ];
}

function assertBase64(field: string, value: string): void {
  try {
    fromBase64(value);
  } catch (error) {
    throw error instanceof FormatError ? new FormatError(`the bundle field ${field} is not valid: ${error.message}`) : error;
  }
}
