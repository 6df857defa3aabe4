import { type Bytes, concat, fromBase64, fromHex, toBase64, toHex, utf8 } from '../bytes/bytes.ts';
import { assertFormat } from '../bytes/errors.ts';
import { sha256 } from '../bytes/sha256.ts';
import type { NoteSignature } from './note.ts';

/** C2SP tlog-cosignature: a witness states at a time that the checkpoint is consistent with everything it saw of the log. */
export interface Cosignature {
  name: string;
  keyId: Uint8Array;
  /** Seconds since 1970. */
  time: number;
  /** Ed25519. */
  signature: Uint8Array;
}

/** A witness and its raw Ed25519 key. */
export interface WitnessKey {
  name: string;
  key: Uint8Array;
}

const TYPE = 4;
const TIME_BYTES = 8;
const SIGNATURE_BYTES = 64;

/** Returns the bytes that a witness signs. `text` is the checkpoint without its signatures. */
export function cosignatureMessage(text: string, time: number): Bytes {
  return utf8(`cosignature/v1\ntime ${time}\n${text}`);
}

export function witnessKeyId({ name, key }: WitnessKey): Bytes {
  return sha256(concat(utf8(`${name}\n`), Uint8Array.of(TYPE), key)).slice(0, 4);
}

/** A signature line of a note that contains a cosignature. */
export function cosignatureLine({ name, keyId, time, signature }: Cosignature): NoteSignature {
  const seconds = new Uint8Array(TIME_BYTES);
  new DataView(seconds.buffer).setBigUint64(0, BigInt(time));
  return { name, keyId, signature: concat(seconds, signature) };
}

export function parseCosignature({ name, keyId, signature }: NoteSignature): Cosignature {
  assertFormat(signature.length === TIME_BYTES + SIGNATURE_BYTES, 'not a cosignature of a witness');
  const time = Number(new DataView(signature.buffer, signature.byteOffset).getBigUint64(0));
  assertFormat(Number.isSafeInteger(time) && time > 0, 'the cosignature has no valid time');
  return { name, keyId, time, signature: signature.slice(TIME_BYTES) };
}

/** Verifier key of a witness: `<name>+<key id>+<base64 of type and key>`. */
export function witnessVkey(witness: WitnessKey): string {
  return `${witness.name}+${toHex(witnessKeyId(witness))}+${toBase64(concat(Uint8Array.of(TYPE), witness.key))}`;
}

export function parseWitnessVkey(text: string): WitnessKey {
  const [, name, id, body] = /^([^\s+]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text) ?? [];
  assertFormat(name !== undefined && id !== undefined && body !== undefined, 'not a verifier key');
  const bytes = fromBase64(body);
  assertFormat(bytes.length === 33 && bytes[0] === TYPE, 'not the Ed25519 verifier key of a witness (type 4)');
  const witness = { name, key: bytes.slice(1) };
  assertFormat(toHex(witnessKeyId(witness)) === toHex(fromHex(id)), 'the ID of the verifier key does not match its name and key');
  return witness;
}
