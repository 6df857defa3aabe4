import { type Bytes, fromBase64, toBase64, utf8 } from '../bytes/bytes.ts';
import { sha256Hex } from '../bytes/sha256.ts';
import { canonicalJson } from '../json/jcs.ts';
import type { Envelope } from '../signing/dsse.ts';

/**
 * Returns the log leaf: a `dsse` 0.0.1 entry of Rekor v1, which standard tools can read. It contains hashes, a signature and a public key,
 * but nothing confidential.
 */
export function leafEntry(envelope: Envelope, pem: string): string {
  return canonicalJson({
    apiVersion: '0.0.1',
    kind: 'dsse',
    spec: {
      envelopeHash: { algorithm: 'sha256', value: sha256Hex(utf8(canonicalJson(envelope))) },
      payloadHash: { algorithm: 'sha256', value: sha256Hex(fromBase64(envelope.payload)) },
      signatures: envelope.signatures.map(({ sig }) => ({ signature: sig, verifier: toBase64(utf8(pem)) })),
    },
  });
}

export interface LogPromise {
  /** Leaf in base64. */
  body: string;
  /** Seconds since 1970. */
  integratedTime: number;
  /** In hexadecimal. */
  logId: string;
  logIndex: number;
}

/** Returns the bytes that the log signs with its P-256 key when it adds an entry. */
export function promiseBytes({ body, integratedTime, logId, logIndex }: LogPromise): Bytes {
  return utf8(canonicalJson({ body, integratedTime, logID: logId, logIndex }));
}
