import { join } from 'node:path';
import {
  canonicalJson,
  jwkOf,
  type KeyList,
  type KeySuccession,
  type ListedKeyUse,
  PAYLOAD_TYPE,
  type PublicJwk,
  pemFromSpki,
  preAuthEncoding,
  type SuccessionEnvelope,
  sha256Hex,
  spkiFromPem,
  successionStatement,
  toBase64,
} from '@rrs/evidence-format';
import { sql } from 'kysely';
import type { Database, SystemTx, TenantTx } from '../../db/database.ts';
import { allowedInTransaction } from '../../db/transaction-scope.ts';
import { OperatorError } from '../../shared/errors.ts';
import { activateNextKey, createKeyFile, createNextKey, type KeyKind, keyKinds, prepareKeyFolder, readSigner } from './key-files.ts';
import type { KeyUse, Signer, SigningAlgorithm } from './signer.ts';

export type Signers = Readonly<Record<keyof typeof keyKinds, Signer>>;

/** Returns the current signing keys and creates them on the first start. Each job that signs calls it again, so that a rotation takes effect immediately. */
export async function openSigners(db: Database, folder: string): Promise<Signers> {
  await prepareKeyFolder(folder);
  return (await openRegistered(db, folder)) ?? db.withSystem((tx) => createOrRepair(tx, folder));
}

const named = Object.entries(keyKinds) as [keyof typeof keyKinds, KeyKind][];

/** The keys in the files, if they are the registered ones. Otherwise `null`. */
async function openRegistered(db: Database, folder: string): Promise<Signers | null> {
  const signers: Partial<Record<keyof typeof keyKinds, Signer | null>> = {};
  for (const [name, kind] of named) signers[name] = await readSigner(folder, kind);
  const rows = await db.withSystem((tx) => tx.selectFrom('evidence_keys').select(['use', 'algorithm', 'key_id']).where('valid_to', 'is', null).execute());
  const isRegistered = named.every(([name, { use, algorithm }]) =>
    rows.some((row) => row.use === use && row.algorithm === algorithm && row.key_id === signers[name]?.keyId),
  );
  return isRegistered ? (signers as Signers) : null;
}

/** The first start, or the first one after an interrupted rotation. The lock of the transaction keeps other processes away from the files. */
function createOrRepair(tx: SystemTx, folder: string): Promise<Signers> {
  return allowedInTransaction(async () => {
    await lockKeys(tx);
    const signers: Partial<Record<keyof typeof keyKinds, Signer>> = {};
    for (const [name, kind] of named) signers[name] = await openSigner(tx, folder, kind);
    return signers as Signers;
  });
}

/**
 * Replaces all signing keys. The old public keys stay published, so that earlier packages can be verified. The old keys sign a statement that
 * names the new ones, unless they are lost.
 */
export async function rotateKeys(db: Database, folder: string, reason: KeySuccession['reason'] = 'scheduled'): Promise<Signer[]> {
  await prepareKeyFolder(folder);
  const kinds = Object.values(keyKinds);
  // The lock of the transaction keeps other processes away from the files.
  const rotate = async (tx: SystemTx): Promise<Signer[]> => {
    await lockKeys(tx);
    const old = await currentSigners(tx, folder);
    await tx.updateTable('evidence_keys').set({ valid_to: sql<Date>`now()` }).where('valid_to', 'is', null).execute();
    const created: Signer[] = [];
    for (const kind of kinds) {
      const signer = await createNextKey(folder, kind);
      await register(tx, kind, signer);
      created.push(signer);
    }
    if (old.length === kinds.length) await recordSuccession(tx, [...old, ...created], reason);
    return created;
  };
  const signers = await db.withSystem((tx) => allowedInTransaction(() => rotate(tx)));
  for (const [index, kind] of kinds.entries()) await activateNextKey(folder, kind, signers[index]?.keyId ?? '');
  return signers;
}

/** The registered keys whose files are readable. */
async function currentSigners(tx: SystemTx, folder: string): Promise<Signer[]> {
  const registered = new Set((await tx.selectFrom('evidence_keys').select('key_id').where('valid_to', 'is', null).execute()).map(({ key_id }) => key_id));
  const signers: Signer[] = [];
  for (const kind of Object.values(keyKinds)) {
    const signer = await readSigner(folder, kind).catch(() => null);
    if (signer && registered.has(signer.keyId)) signers.push(signer);
  }
  return signers;
}

/** `signers` are the three old keys and the three new ones. */
async function recordSuccession(tx: SystemTx, signers: readonly Signer[], reason: KeySuccession['reason']): Promise<void> {
  const [packageKey = '', log = '', note = '', ...next] = signers.map(({ publicKeyPem }) => publicKeyPem);
  const [nextPackage = '', nextLog = '', nextNote = ''] = next;
  const statement = successionStatement({
    old: { package: packageKey, log, note },
    new: { package: nextPackage, log: nextLog, note: nextNote },
    effective_at: new Date().toISOString(),
    reason,
  });
  const message = preAuthEncoding(PAYLOAD_TYPE, statement);
  const signatures = await Promise.all(signers.map(async (signer) => ({ keyid: signer.keyId, sig: toBase64(await signer.sign(message)) })));
  const envelope: SuccessionEnvelope = { payload: toBase64(statement), payloadType: PAYLOAD_TYPE, signatures };
  await tx
    .insertInto('key_successions')
    .values({ id: sha256Hex(statement), envelope: canonicalJson(envelope) })
    .execute();
}

/** Every rotation that the old keys signed, oldest first. */
export async function readSuccessions(tx: SystemTx | TenantTx): Promise<{ envelope: SuccessionEnvelope; at: Date }[]> {
  const { rows } = await sql<{ envelope: string; created_at: Date }>`select envelope, created_at from key_successions order by created_at, id`.execute(tx);
  return rows.map(({ envelope, created_at }) => ({ envelope: JSON.parse(envelope) as SuccessionEnvelope, at: created_at }));
}

async function lockKeys(tx: SystemTx): Promise<void> {
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
    if (signer?.keyId !== registered.key_id && (await activateNextKey(folder, kind, registered.key_id))) signer = await readSigner(folder, kind);
    if (signer?.keyId !== registered.key_id) throw wrongKeyFile(join(folder, kind.file), signer, registered.key_id);
    return signer;
  }
  if (!signer) {
    await createKeyFile(folder, kind);
    signer = await readSigner(folder, kind);
  }
  if (!signer) throw new Error(`${kind.file} disappeared after it was written`);
  await register(tx, kind, signer);
  return signer;
}

function wrongKeyFile(path: string, found: Signer | null, keyId: string): OperatorError {
  const problem = found ? `has the id ${found.keyId}, but ${keyId} is registered` : `is missing, but ${keyId} is registered`;
  return new OperatorError(
    `The signing key ${path} ${problem}. All processes that use one database must share one key folder. Set RRS_KEYS_DIR to that folder, restore the key from a backup, or run "rrs-server keys rotate" to create new keys.`,
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
  jwk: PublicJwk;
  validFrom: Date;
  validTo: Date | null;
}

/** Every key that was ever registered. Keys in use come first. */
export async function publishedKeys(tx: SystemTx): Promise<PublishedKey[]> {
  const rows = await tx.selectFrom('evidence_keys').selectAll().orderBy(sql`valid_to desc nulls first, valid_from desc, use desc, algorithm`).execute();
  return rows.map(({ key_id, use, algorithm, spki, valid_from, valid_to }) => ({
    keyId: key_id,
    use,
    algorithm,
    spki,
    publicKeyPem: pemFromSpki(spki),
    jwk: jwkOf(listedUse({ use, algorithm }), spki),
    validFrom: valid_from,
    validTo: valid_to,
  }));
}

/** The published list separates the two keys of the log by what they sign. */
export function listedUse({ use, algorithm }: Pick<PublishedKey, 'use' | 'algorithm'>): ListedKeyUse {
  return algorithm === 'Ed25519' ? 'note' : use;
}

/** The list that auditors keep as keys.json. Names hosts instead of logs, because the names of the logs would reveal the organizations. */
export async function publishedKeyList(tx: SystemTx, publicUrl: string): Promise<KeyList> {
  const { rows } = await sql<{ host: string }>`select distinct split_part(origin, '/', 1) as host from log_epochs`.execute(tx);
  const hosts = new Set([new URL(publicUrl).host, ...rows.map(({ host }) => host)]);
  const keys = (await publishedKeys(tx)).map((key) => ({
    key_id: key.keyId,
    use: listedUse(key),
    algorithm: key.algorithm,
    public_key_pem: key.publicKeyPem,
    jwk: key.jwk,
    valid_from: key.validFrom.toISOString(),
    valid_to: key.validTo?.toISOString() ?? null,
    revoked_at: null,
    revoked_reason: null,
  }));
  return { version: 2, origins: [...hosts].sort(), keys };
}
