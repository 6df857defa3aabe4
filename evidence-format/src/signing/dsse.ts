import { type Bytes, concat, toBase64, utf8 } from '../bytes/bytes.ts';

export const PAYLOAD_TYPE = 'application/vnd.in-toto+json';

interface EnvelopeSignature {
  keyid: string;
  /** DER in base64. */
  sig: string;
}

/** A Sigstore bundle has exactly one signature. */
export interface Envelope {
  /** In base64. */
  payload: string;
  payloadType: typeof PAYLOAD_TYPE;
  signatures: [EnvelopeSignature];
}

/** DSSE v1 pre-authentication encoding: the bytes that are signed. */
export function preAuthEncoding(type: string, payload: Uint8Array): Bytes {
  return concat(utf8(`DSSEv1 ${utf8(type).length} ${type} ${payload.length} `), payload);
}

export function envelopeOf(payload: Uint8Array, signed: { keyId: string; signature: Uint8Array }): Envelope {
  return { payload: toBase64(payload), payloadType: PAYLOAD_TYPE, signatures: [{ keyid: signed.keyId, sig: toBase64(signed.signature) }] };
}
