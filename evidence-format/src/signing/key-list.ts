import { toBase64, toHex, utf8 } from '../bytes/bytes.ts';
import { assertFormat } from '../bytes/errors.ts';
import { sha256 } from '../bytes/sha256.ts';
import { canonicalJson } from '../json/jcs.ts';
import { parseStrictJson } from '../json/strict-json.ts';
import { choice, list, name, nullable, object, time } from '../json/typed-schema.ts';
import { validate } from '../json/validate.ts';
import { ed25519RawFromSpki, logId, opensshFingerprint, spkiFromPem } from './keys.ts';

export const KEY_LIST_VERSION = 2;
export const KEY_USES = ['package', 'log', 'note'] as const;
export type ListedKeyUse = (typeof KEY_USES)[number];

export interface PublicJwk {
  kty: string;
  crv: string;
  x: string;
  y?: string;
  kid: string;
  alg: string;
  use: string;
}

/** A public key in the published list of keys. */
export interface ListedKey {
  key_id: string;
  use: ListedKeyUse;
  algorithm: 'ES256' | 'Ed25519';
  public_key_pem: string;
  jwk: PublicJwk;
  valid_from: string;
  valid_to: string | null;
  revoked_at: string | null;
  revoked_reason: string | null;
}

/** The published list of keys, as auditors keep it. */
export interface KeyList {
  version: typeof KEY_LIST_VERSION;
  /** Logs that the keys sign for: a host, which means every log on it, or the full name of a log. */
  origins: string[];
  keys: ListedKey[];
}

const listedKey = object<ListedKey>({
  key_id: name,
  use: choice(KEY_USES),
  algorithm: choice(['ES256', 'Ed25519']),
  public_key_pem: name,
  jwk: { type: 'object' },
  valid_from: time,
  valid_to: nullable(time),
  revoked_at: nullable(time),
  revoked_reason: nullable(name),
});

const keyList = object<KeyList>({ version: { type: 'integer', const: KEY_LIST_VERSION }, origins: list(name), keys: list(listedKey) });

/** Parses keys.json. Refuses what it does not know, because a field that is ignored could be the one that revokes a key. */
export function parseKeyList(text: string): KeyList {
  const value = parseStrictJson(text);
  const [fault] = validate(keyList, value);
  assertFormat(fault === undefined, `${fault?.path || 'the list of keys'} ${fault?.message}`);
  const { keys } = value as KeyList;
  for (const key of keys) checkKey(key);
  assertFormat(new Set(keys.map(({ key_id }) => key_id)).size === keys.length, 'the list contains a key twice');
  return value as KeyList;
}

function checkKey(key: ListedKey): void {
  const spki = spkiFromPem(key.public_key_pem);
  assertFormat(key.algorithm === (key.use === 'note' ? 'Ed25519' : 'ES256'), `the key ${key.key_id} has the wrong algorithm for its use`);
  assertFormat(keyIdOf(key.use, spki) === key.key_id, `the key_id ${key.key_id} does not match its public key`);
  assertFormat(canonicalJson(key.jwk) === canonicalJson(jwkOf(key.use, spki)), `the jwk of the key ${key.key_id} does not match its public key`);
  assertFormat(key.valid_to === null || key.valid_to >= key.valid_from, `the key ${key.key_id} ends before it starts`);
  assertFormat((key.revoked_at === null) === (key.revoked_reason === null), `the key ${key.key_id} must have both revoked_at and revoked_reason, or neither`);
}

/** Package keys are identified by their OpenSSH fingerprint, log keys by the SHA-256 of the key (RFC 6962, section 3.2). */
export function keyIdOf(use: ListedKeyUse, spki: Uint8Array): string {
  if (use === 'note') ed25519RawFromSpki(spki);
  else opensshFingerprint(spki);
  return use === 'package' ? opensshFingerprint(spki) : toHex(logId(spki));
}

const P256_COORDINATE = 32;

/** The key as a JSON Web Key whose `kid` is its thumbprint (RFC 7638). */
export function jwkOf(use: ListedKeyUse, spki: Uint8Array): PublicJwk {
  const point = spki.subarray(-2 * P256_COORDINATE);
  const required =
    use === 'note'
      ? { kty: 'OKP', crv: 'Ed25519', x: base64url(ed25519RawFromSpki(spki)) }
      : { kty: 'EC', crv: 'P-256', x: base64url(point.subarray(0, P256_COORDINATE)), y: base64url(point.subarray(P256_COORDINATE)) };
  return { ...required, kid: base64url(sha256(utf8(canonicalJson(required)))), alg: use === 'note' ? 'Ed25519' : 'ES256', use: 'sig' };
}

function base64url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
