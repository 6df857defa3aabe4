import { type Bytes, concat, equalBytes, fromBase64, fromHex, toBase64, toHex, utf8 } from '../bytes/bytes.ts';
import { assertFormat } from '../bytes/errors.ts';
import { sha256 } from '../bytes/sha256.ts';

/** RFC 5480: SubjectPublicKeyInfo of an uncompressed P-256 point, without its last 64 bytes. */
const P256_PREFIX = fromHex('3059301306072a8648ce3d020106082a8648ce3d03010703420004');
/** RFC 8410: SubjectPublicKeyInfo of an Ed25519 key, without its last 32 bytes. */
const ED25519_PREFIX = fromHex('302a300506032b6570032100');

const PEM = /^-----BEGIN PUBLIC KEY-----\r?\n((?:[A-Za-z0-9+/=]{1,76}\r?\n)+)-----END PUBLIC KEY-----\r?\n?$/;

export function spkiFromPem(pem: string): Bytes {
  const [, body] = PEM.exec(pem) ?? [];
  assertFormat(body !== undefined, 'expected exactly one PEM public key');
  return fromBase64(body.replaceAll(/\r?\n/g, ''));
}

export function pemFromSpki(spki: Uint8Array): string {
  const lines = toBase64(spki).match(/.{1,64}/g) ?? [];
  return ['-----BEGIN PUBLIC KEY-----', ...lines, '-----END PUBLIC KEY-----', ''].join('\n');
}

/** Returns `SHA256:…` as ssh-keygen prints it. DSSE verifiers use this as the key ID. */
export function opensshFingerprint(spki: Uint8Array): string {
  const point = spki.subarray(P256_PREFIX.length - 1);
  assertFormat(hasPrefix(spki, P256_PREFIX) && point.length === 65, 'not a P-256 key');
  const wire = concat(...[utf8('ecdsa-sha2-nistp256'), utf8('nistp256'), point].map(sshString));
  return `SHA256:${toBase64(sha256(wire)).replaceAll('=', '')}`;
}

/** RFC 4251 section 5. */
function sshString(bytes: Uint8Array): Bytes {
  return concat(Uint8Array.of(0, 0, bytes.length >> 8, bytes.length & 0xff), bytes);
}

/** RFC 6962 section 3.2. */
export function logId(spki: Uint8Array): Bytes {
  return sha256(spki);
}

export function ed25519RawFromSpki(spki: Uint8Array): Uint8Array {
  assertFormat(hasPrefix(spki, ED25519_PREFIX) && spki.length === ED25519_PREFIX.length + 32, 'not an Ed25519 key');
  return spki.subarray(ED25519_PREFIX.length);
}

export function spkiFromEd25519Raw(key: Uint8Array): Bytes {
  assertFormat(key.length === 32, 'not an Ed25519 key');
  return concat(ED25519_PREFIX, key);
}

function hasPrefix(bytes: Uint8Array, prefix: Uint8Array): boolean {
  return equalBytes(bytes.subarray(0, prefix.length), prefix);
}

const NOTE_ED25519 = 1;

/** C2SP signed-note, type 1. */
export function noteKeyIdEd25519(name: string, key: Uint8Array): Bytes {
  return sha256(concat(utf8(`${name}\n`), Uint8Array.of(NOTE_ED25519), key)).slice(0, 4);
}

/** C2SP signed-note, type 2. The ID does not depend on the name. */
export function noteKeyIdEcdsa(spki: Uint8Array): Bytes {
  return sha256(spki).slice(0, 4);
}

/** Returns a C2SP verifier key: `<name>+<key id>+<base64 of type and key>`. */
export function vkey(name: string, key: Uint8Array): string {
  assertFormat(key.length === 32, 'not an Ed25519 key');
  assertFormat(/^[^\s+]+$/.test(name), 'a key name must not contain spaces or plus signs');
  return `${name}+${toHex(noteKeyIdEd25519(name, key))}+${toBase64(concat(Uint8Array.of(NOTE_ED25519), key))}`;
}

export function parseVkey(text: string): { name: string; keyId: Bytes; key: Bytes } {
  const [, name, id, body] = /^([^\s+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? [];
  assertFormat(name !== undefined && id !== undefined && body !== undefined, 'not a verifier key');
  const bytes = fromBase64(body);
  assertFormat(bytes.length === 33 && bytes[0] === NOTE_ED25519, 'not an Ed25519 verifier key');
  const key = bytes.slice(1);
  assertFormat(toHex(noteKeyIdEd25519(name, key)) === id, 'the ID of the verifier key does not match its name and key');
  return { name, keyId: fromHex(id), key };
}
