import { execFileSync, spawnSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, hash, type KeyObject, verify } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { equalBytes, toHex, utf8 } from '../bytes/bytes.ts';
import { parseNote } from '../log/note.ts';
import {
  ed25519RawFromSpki,
  logId,
  noteKeyIdEcdsa,
  noteKeyIdEd25519,
  opensshFingerprint,
  parseVkey,
  pemFromSpki,
  spkiFromEd25519Raw,
  spkiFromPem,
  vkey,
} from './keys.ts';

const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey;
const ed25519 = generateKeyPairSync('ed25519').publicKey;
const spki = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });
const pem = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString();

test('PEM matches the platform and round-trips', () => {
  for (const key of [p256, p384, ed25519]) {
    expect(pemFromSpki(spki(key))).toBe(pem(key));
    expect(equalBytes(spkiFromPem(pem(key)), spki(key))).toBe(true);
    expect(equalBytes(spkiFromPem(pem(key).replaceAll('\n', '\r\n')), spki(key))).toBe(true);
  }
});

test('refuses text that is not exactly one PEM public key', () => {
  const good = pem(p256);
  const wrong = [
    '',
    `${good}${good}`,
    `comment\n${good}`,
    good.replaceAll('PUBLIC', 'PRIVATE'),
    good.replace('M', ' M'),
    good.slice(0, -10),
    good.replace('==', '='),
  ];
  for (const text of wrong) expect(() => spkiFromPem(text), text).toThrow();
});

const sshKeygen = spawnSync('ssh-keygen', ['-?']).error === undefined;

test.runIf(sshKeygen)('the fingerprint matches ssh-keygen', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keys-'));
  try {
    const file = join(folder, 'key.pem');
    writeFileSync(file, pem(p256), { mode: 0o600 });
    const line = execFileSync('ssh-keygen', ['-i', '-m', 'PKCS8', '-f', file]);
    const printed = execFileSync('ssh-keygen', ['-lf', '-'], { input: line }).toString();
    expect(printed.split(' ')[1]).toBe(opensshFingerprint(spki(p256)));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the fingerprint of a fixed key does not change', () => {
  const jwk = { kty: 'EC', crv: 'P-256', x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU', y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0' };
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  expect(opensshFingerprint(spki(key))).toMatchInlineSnapshot(`"SHA256:bS8oTA6hNH8G3HQdJojNniyC971QyV7eW7LFik+qmv4"`);
});

test('refuses keys of other kinds', () => {
  for (const key of [p384, ed25519]) expect(() => opensshFingerprint(spki(key))).toThrow('P-256');
  expect(() => ed25519RawFromSpki(spki(p256))).toThrow('Ed25519');
  expect(() => opensshFingerprint(spki(p256).subarray(0, 90))).toThrow('P-256');
});

test('log and note key IDs are SHA-256 hashes of the key', () => {
  expect(toHex(logId(spki(p256)))).toBe(hash('sha256', spki(p256)));
  expect(toHex(noteKeyIdEcdsa(spki(p256)))).toBe(hash('sha256', spki(p256)).slice(0, 8));
  expect(equalBytes(spkiFromEd25519Raw(ed25519RawFromSpki(spki(ed25519))), spki(ed25519))).toBe(true);
});

test('the example note of the specification verifies with its key', () => {
  const { name, keyId, key } = parseVkey('PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW');
  const { text, signatures } = parseNote(
    "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n",
  );
  const [signature] = signatures;
  expect(signature?.name).toBe(name);
  expect(signature?.keyId).toEqual(keyId);
  expect(noteKeyIdEd25519(name, key)).toEqual(keyId);
  const publicKey = createPublicKey({ key: Buffer.from(spkiFromEd25519Raw(key)), type: 'spki', format: 'der' });
  expect(verify(null, utf8(text), publicKey, signature?.signature ?? new Uint8Array())).toBe(true);
});

test('a verifier key round-trips, and a damaged one is refused', () => {
  const raw = ed25519RawFromSpki(spki(ed25519));
  const line = vkey('rrs.example/orgs/a', raw);
  expect(equalBytes(parseVkey(line).key, raw)).toBe(true);
  expect(parseVkey(line).name).toBe('rrs.example/orgs/a');
  for (const wrong of [`x${line}`, line.slice(0, -4), line.replace('+', ' '), `${line}\n`, '']) expect(() => parseVkey(wrong), wrong).toThrow();
  expect(() => vkey('a b', raw)).toThrow('must not contain spaces');
  expect(() => vkey('a+b', raw)).toThrow('must not contain spaces or plus');
});
