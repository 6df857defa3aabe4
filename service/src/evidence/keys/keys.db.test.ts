import { createPublicKey, verify } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseKeyList, utf8 } from '@rrs/evidence-format';
import { calculateJwkThumbprint } from 'jose';
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { withClient } from '../../db/connection/with-client.ts';
import { type Database, openDatabase } from '../../db/database.ts';
import { OperatorError } from '../../shared/errors.ts';
import { startApi } from '../../testing/http/api.ts';
import { createTestDatabase } from '../../testing/postgres.ts';
import { createNextKey, keyKinds } from './key-files.ts';
import { openSigners, publishedKeys, rotateKeys, type Signers } from './keys.ts';

const FILES = ['log-note.pem', 'log.pem', 'package.pem'];
const roots: string[] = [];
let db: Database;
let url: string;
let folder: string;

beforeEach(async () => {
  const database = await createTestDatabase();
  url = database.url;
  db = openDatabase({ url, poolSize: 8 });
  folder = await newFolder();
  const own = db;
  onTestFinished(async () => {
    await own.close();
    await database.drop();
  });
});
afterAll(() => Promise.all(roots.map((root) => rm(root, { recursive: true, force: true }))));

async function newFolder(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'rrs-keys-'));
  roots.push(root);
  return join(root, 'keys');
}

const idsOf = ({ package: packages, log, logNote }: Signers): string[] => [packages, log, logNote].map(({ keyId }) => keyId);
const active = async () => (await db.withSystem(publishedKeys)).filter(({ validTo }) => validTo === null).map(({ keyId }) => keyId);
async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => new Error('no refusal'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(OperatorError);
  return (error as Error).message;
}

describe('the first start', () => {
  it('creates three private key files, registers them, and reuses them', async () => {
    const first = await openSigners(db, folder);
    expect((await readdir(folder)).sort()).toEqual(FILES);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    for (const file of FILES) expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
    expect((await active()).sort()).toEqual(idsOf(first).sort());
    expect(idsOf(await openSigners(db, folder))).toEqual(idsOf(first));
  });

  it('of many processes at once creates one set of keys', async () => {
    const opened = await Promise.all(Array.from({ length: 8 }, () => openSigners(db, folder)));
    expect(new Set(opened.map((signers) => idsOf(signers).join())).size).toBe(1);
    expect(await active()).toHaveLength(3);
    expect((await readdir(folder)).sort()).toEqual(FILES);
  });

  it('succeeds for only one of many processes with separate folders', async () => {
    const folders = await Promise.all(Array.from({ length: 5 }, newFolder));
    const outcomes = await Promise.allSettled(folders.map((each) => openSigners(db, each)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const files = await Promise.all(folders.map(async (each) => (await readdir(each)).length));
    expect(files.sort()).toEqual([0, 0, 0, 0, 3]);
  });

  it('registers existing key files, as after a crash before registration', async () => {
    const elsewhere = await createTestDatabase();
    const other = openDatabase({ url: elsewhere.url, poolSize: 2 });
    const made = await openSigners(other, folder);
    await other.close();
    await elsewhere.drop();
    expect(idsOf(await openSigners(db, folder))).toEqual(idsOf(made));
  });
});

describe('opening the keys fails', () => {
  it('if the keys differ from the registered keys', async () => {
    const { package: registered } = await openSigners(db, folder);
    const other = join(await newFolder());
    const elsewhere = await createTestDatabase();
    const foreign = openDatabase({ url: elsewhere.url, poolSize: 2 });
    await openSigners(foreign, other);
    await foreign.close();
    await elsewhere.drop();
    const message = await refusal(openSigners(db, other));
    expect(message).toContain('package.pem has the id SHA256:');
    expect(message).toContain(`but ${registered.keyId} is registered`);
    expect(message).toContain('Set RRS_KEYS_DIR to that folder');
  });

  it('if a registered key is missing; it is not created again', async () => {
    await openSigners(db, folder);
    await rm(join(folder, 'log.pem'));
    expect(await refusal(openSigners(db, folder))).toMatch(/log\.pem is missing, but [0-9a-f]{64} is registered\. .*"rrs-server keys rotate"/);
    expect(await readdir(folder)).not.toContain('log.pem');
  });

  it.each([0o640, 0o604, 0o620, 0o666])('if a key file has mode %o', async (mode) => {
    await openSigners(db, folder);
    await chmod(join(folder, 'log-note.pem'), mode);
    const message = await refusal(openSigners(db, folder));
    expect(message).toContain(`(mode 0${mode.toString(8)})`);
    expect(message).toContain(`chmod 600 ${folder}/log-note.pem`);
  });

  it.each(['not a key', ''])('if a key file contains %j', async (text) => {
    await openSigners(db, folder);
    await writeFile(join(folder, 'package.pem'), text);
    expect(await refusal(openSigners(db, folder))).toContain('is not a private ES256 key');
  });

  it('if a key has the wrong algorithm', async () => {
    await openSigners(db, folder);
    await rename(join(folder, 'log-note.pem'), join(folder, 'package.pem'));
    expect(await refusal(openSigners(db, folder))).toContain('is not a private ES256 key');
  });

  it('if the folder cannot be created', async () => {
    await writeFile(folder, 'a file');
    expect(await refusal(openSigners(db, join(folder, 'keys')))).toContain('Set RRS_KEYS_DIR');
  });
});

describe('a rotation', () => {
  it('replaces the keys and keeps the old ones published', async () => {
    const old = await openSigners(db, folder);
    const made = await rotateKeys(db, folder);
    const now = await openSigners(db, folder);
    expect(idsOf(now)).toEqual(made.map(({ keyId }) => keyId));
    const keys = await db.withSystem(publishedKeys);
    expect(keys.map(({ keyId }) => keyId).sort()).toEqual([...idsOf(old), ...idsOf(now)].sort());
    for (const { keyId, validFrom, validTo } of keys) {
      if (idsOf(old).includes(keyId)) expect(validTo?.getTime()).toBeGreaterThanOrEqual(validFrom.getTime());
      else expect(validTo).toBeNull();
    }
    expect((await readdir(folder)).sort()).toEqual(FILES);
  });

  it('recovers from lost key files', async () => {
    await openSigners(db, folder);
    await rm(folder, { recursive: true });
    await rotateKeys(db, folder);
    expect(idsOf(await openSigners(db, folder)).sort()).toEqual((await active()).sort());
  });

  it('that was interrupted after its commit is finished by the next start', async () => {
    await openSigners(db, folder);
    const next = await Promise.all(Object.values(keyKinds).map((kind) => createNextKey(folder, kind)));
    await withClient(url, async (client) => {
      await client.query('update rrs.evidence_keys set valid_to = now()');
      for (const [index, { use, algorithm }] of Object.values(keyKinds).entries()) {
        const spki = createPublicKey(next[index]?.publicKeyPem ?? '').export({ type: 'spki', format: 'der' });
        await client.query('insert into rrs.evidence_keys (key_id, use, algorithm, spki) values ($1, $2, $3, $4)', [next[index]?.keyId, use, algorithm, spki]);
      }
    });
    expect(idsOf(await openSigners(db, folder))).toEqual(next.map(({ keyId }) => keyId));
    expect((await readdir(folder)).sort()).toEqual(FILES);
  });
});

describe('a published key', () => {
  it.each([
    ['update rrs.evidence_keys set spki = spki', 'can only be closed'],
    [`update rrs.evidence_keys set valid_to = now(), use = 'log'`, 'can only be closed'],
    ['delete from rrs.evidence_keys', 'can only be closed'],
    ['truncate rrs.evidence_keys', 'accepts only inserts'],
    ['update rrs.evidence_keys set valid_to = now(); update rrs.evidence_keys set valid_to = null', 'can only be closed'],
  ])('cannot be changed: %s', async (statement, message) => {
    await openSigners(db, folder);
    await withClient(url, (client) => expect(client.query(statement)).rejects.toThrow(message));
  });

  it('cannot be changed by the application role', async () => {
    await openSigners(db, folder);
    await withClient(url, async (client) => {
      await client.query('set role rrs_app');
      for (const statement of ['delete from rrs.evidence_keys', 'update rrs.evidence_keys set valid_to = now()']) {
        await expect(client.query(statement)).rejects.toMatchObject({ code: '42501' });
      }
    });
  });
});

describe('a signer', () => {
  it('creates signatures that its public key verifies', async () => {
    const message = utf8('what was signed');
    for (const signer of Object.values(await openSigners(db, folder))) {
      const signature = await signer.sign(message);
      expect(verify(signer.algorithm === 'ES256' ? 'sha256' : null, message, signer.publicKeyPem, signature)).toBe(true);
      expect(verify(signer.algorithm === 'ES256' ? 'sha256' : null, utf8('another'), signer.publicKeyPem, signature)).toBe(false);
    }
  });
});

describe('GET /riskops-evidence/keys', () => {
  it('returns all public keys without authentication, identical to the well-known files', async () => {
    const api = await startApi();
    onTestFinished(() => api.close());
    await openSigners(api.db, folder);
    await rotateKeys(api.db, folder);
    const { status, body } = await api.call('GET', '/api/v1/riskops-evidence/keys');
    expect(status).toBe(200);
    expect(parseKeyList(JSON.stringify(body))).toEqual(body);
    const { keys } = body as {
      keys: { key_id: string; use: string; algorithm: string; public_key_pem: string; jwk: Record<string, string>; valid_to: string | null }[];
    };
    expect(keys.map(({ use, algorithm, valid_to }) => [use, algorithm, valid_to === null])).toEqual([
      ['package', 'ES256', true],
      ['log', 'ES256', true],
      ['note', 'Ed25519', true],
      ['package', 'ES256', false],
      ['log', 'ES256', false],
      ['note', 'Ed25519', false],
    ]);
    for (const { public_key_pem, jwk } of keys) {
      const fromJwk = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' });
      expect(fromJwk).toBe(public_key_pem);
      expect(jwk.kid).toBe(await calculateJwkThumbprint(jwk));
      expect(jwk).not.toHaveProperty('d');
    }
    const jwks = (await api.call('GET', '/.well-known/evidence/jwks.json')).body;
    expect(jwks).toEqual({ keys: keys.map(({ jwk }) => jwk) });
    const log = keys.find(({ use }) => use === 'note');
    expect(await api.call('GET', `/.well-known/evidence/keys/${log?.key_id}.pem`)).toMatchObject({ status: 200, body: log?.public_key_pem });
    for (const name of ['x.pem', `${'0'.repeat(64)}.pem`, '..%2f..%2fpackage.pem']) {
      expect((await api.call('GET', `/.well-known/evidence/keys/${name}`)).status).toBe(404);
    }
    const secret = (await readFile(join(folder, 'package.pem'), 'utf8')).split('\n')[2] ?? '';
    expect(secret.length).toBeGreaterThan(20);
    expect(JSON.stringify([body, jwks])).not.toContain(secret);
  });
});
