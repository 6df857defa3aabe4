import { createPublicKey } from 'node:crypto';
import { join } from 'node:path';
import { pemFromSpki, spkiFromPem } from '@rrs/evidence-format';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { sql } from 'kysely';
import type { Database, SystemTx } from '../../db/database.ts';
import { OperatorError } from '../../shared/errors.ts';
import { type KeyKind, keyKinds, makeKeyFile, makeNextKey, prepareKeyFolder, readSigner, takeNextKey } from './key-files.ts';
import type { KeyUse, Signer, SigningAlgorithm } from './signer.ts';

export type Signers = Readonly<Record<keyof typeof keyKinds, Signer>>;

/**
 * The keys that sign now, made if this is the first start. Cheap enough to be asked for by each piece of work that signs,
 * so that a rotation counts at once.
 */
export function openSigners(db: Database, folder: string): Promise<Signers> {
  return db.withSystem(async (tx) => {
    await takeTurn(tx);
    await prepareKeyFolder(folder);
    const signers: Partial<Record<keyof typeof keyKinds, Signer>> = {};
    for (const [name, kind] of Object.entries(keyKinds) as [keyof typeof keyKinds, KeyKind][]) signers[name] = await openSigner(tx, folder, kind);
    return signers as Signers;
  });
}

/** New keys from now on; the old public ones stay published for what they have signed. */
export async function rotateKeys(db: Database, folder: string): Promise<Signer[]> {
  await prepareKeyFolder(folder);
  const kinds = Object.values(keyKinds);
  const signers = await db.withSystem(async (tx) => {
    await takeTurn(tx);
    await tx.updateTable('evidence_keys').set({ valid_to: sql<Date>`now()` }).where('valid_to', 'is', null).execute();
    const made: Signer[] = [];
    for (const kind of kinds) {
      const signer = await makeNextKey(folder, kind);
      await register(tx, kind, signer);
      made.push(signer);
    }
    return made;
  });
  for (const [index, kind] of kinds.entries()) await takeNextKey(folder, kind, signers[index]?.keyId ?? '');
  return signers;
}

async function takeTurn(tx: SystemTx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('evidence keys', 0))`.execute(tx);
}

async function openSigner(tx: SystemTx, folder: string, kind: KeyKind): Promise<Signer> {
  const registered = await tx
    .selectFrom('evidence_keys')
    .select('key_id')
    .where('use', '=', kind.use)
    .where('algorithm', '=', kind.algorithm)
    .where('valid_to', 'is', null)
    .executeTakeFirst();
  let signer = await readSigner(folder, kind);
  if (registered) {
    if (signer?.keyId !== registered.key_id && (await takeNextKey(folder, kind, registered.key_id))) signer = await readSigner(folder, kind);
    if (signer?.keyId !== registered.key_id) throw notTheRegisteredKey(join(folder, kind.file), signer, registered.key_id);
    return signer;
  }
  if (!signer) {
    await makeKeyFile(folder, kind);
    signer = await readSigner(folder, kind);
  }
  if (!signer) throw new Error(`${kind.file} is gone a moment after it was written`);
  await register(tx, kind, signer);
  return signer;
}

function notTheRegisteredKey(path: string, found: Signer | null, keyId: string): OperatorError {
  const what = found ? `is another one (${found.keyId}) than the registered ${keyId}` : `is missing, but ${keyId} is registered`;
  return new OperatorError(
    `The signing key ${path} ${what}. All processes on one database share the folder of keys: set RRS_KEYS_DIR to it, put a copy back, or let "rrs keys rotate" make new ones.`,
  );
}

async function register(tx: SystemTx, { use, algorithm }: KeyKind, { keyId, publicKeyPem }: Signer): Promise<void> {
  await tx
    .insertInto('evidence_keys')
    .values({ key_id: keyId, use, algorithm, spki: Buffer.from(spkiFromPem(publicKeyPem)) })
    .execute();
}

export interface PublishedKey {
  keyId: string;
  use: KeyUse;
  algorithm: SigningAlgorithm;
  spki: Buffer;
  publicKeyPem: string;
  jwk: JWK & { kid: string };
  validFrom: Date;
  validTo: Date | null;
}

/** All that ever signed, the newest first. */
export async function publishedKeys(tx: SystemTx): Promise<PublishedKey[]> {
  const rows = await tx.selectFrom('evidence_keys').selectAll().orderBy(sql`valid_to desc nulls first, valid_from desc, use desc, algorithm`).execute();
  return Promise.all(
    rows.map(async ({ key_id, use, algorithm, spki, valid_from, valid_to }) => ({
      keyId: key_id,
      use,
      algorithm,
      spki,
      publicKeyPem: pemFromSpki(spki),
      jwk: await jwkOf(spki, algorithm),
      validFrom: valid_from,
      validTo: valid_to,
    })),
  );
}

async function jwkOf(spki: Buffer, alg: SigningAlgorithm): Promise<JWK & { kid: string }> {
  const jwk = createPublicKey({ key: spki, type: 'spki', format: 'der' }).export({ format: 'jwk' }) as JWK;
  return { ...jwk, kid: await calculateJwkThumbprint(jwk), alg, use: 'sig' };
}
