import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder, withFile } from '../../blobs/files.ts';
import { assertOutsideTransaction } from '../../db/transaction-scope.ts';
import { errorCodeOf, messageOf, OperatorError } from '../../shared/errors.ts';
import { type KeyUse, pemSigner, type Signer, type SigningAlgorithm } from './signer.ts';

export interface KeyKind {
  readonly file: string;
  readonly use: KeyUse;
  readonly algorithm: SigningAlgorithm;
}

export const keyKinds = {
  package: { file: 'package.pem', use: 'package', algorithm: 'ES256' },
  log: { file: 'log.pem', use: 'log', algorithm: 'ES256' },
  logNote: { file: 'log-note.pem', use: 'log', algorithm: 'Ed25519' },
} as const satisfies Record<string, KeyKind>;

const OPEN_TO_OTHERS = 0o077;
/** A rotation registers the new key first and renames its file afterwards. The next start finishes an interrupted rotation. */
const NEXT = '.next';

export async function prepareKeyFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new OperatorError(`The key folder ${folder} cannot be created (${messageOf(error)}). Set RRS_KEYS_DIR to a folder that the service can write to.`, {
      cause: error,
    });
  }
}

/** Returns `null` if the file does not exist. */
export async function readSigner(folder: string, kind: KeyKind, suffix: '' | typeof NEXT = ''): Promise<Signer | null> {
  const path = join(folder, kind.file + suffix);
  const pem = await readPrivate(path);
  if (pem === null) return null;
  const signer = pemSigner(kind.use, kind.algorithm, pem);
  if (!signer) throw new OperatorError(`The file ${path} is not a private ${kind.algorithm} key in PEM (PKCS#8). Replace it with the correct key.`);
  return signer;
}

async function readPrivate(path: string): Promise<string | null> {
  assertOutsideTransaction('the service reads a signing key');
  try {
    const { mode } = await stat(path);
    if ((mode & OPEN_TO_OTHERS) !== 0) {
      const shown = `0${(mode & 0o777).toString(8)}`;
      throw new OperatorError(`Other users can read or change the signing key ${path} (mode ${shown}). Run: chmod 600 ${path}`);
    }
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return null;
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`The signing key ${path} cannot be read (${messageOf(error)}). Start the service as the user who owns the file.`, { cause: error });
  }
}

/** If two processes create the key at the same time, one file wins and both use it. */
export async function createKeyFile(folder: string, kind: KeyKind): Promise<void> {
  const path = join(folder, kind.file);
  const unfinished = `${path}.${randomUUID()}`;
  await writePrivate(unfinished, newPrivateKey(kind));
  try {
    await link(unfinished, path);
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error;
  } finally {
    await rm(unfinished, { force: true });
  }
  await syncFolder(folder);
}

export async function createNextKey(folder: string, kind: KeyKind): Promise<Signer> {
  const path = join(folder, kind.file + NEXT);
  await rm(path, { force: true });
  await writePrivate(path, newPrivateKey(kind));
  await syncFolder(folder);
  const signer = await readSigner(folder, kind, NEXT);
  if (!signer) throw new Error(`${path} disappeared after it was written`);
  return signer;
}

/** Puts the next key into use if it has this id. Returns whether it did. */
export async function activateNextKey(folder: string, kind: KeyKind, keyId: string): Promise<boolean> {
  const next = await readSigner(folder, kind, NEXT);
  if (next?.keyId !== keyId) return false;
  const path = join(folder, kind.file);
  await rename(path + NEXT, path);
  await syncFolder(folder);
  return true;
}

export async function writePrivate(path: string, text: string): Promise<void> {
  assertOutsideTransaction('the service writes a key file');
  const write = async (file: { writeFile(text: string): Promise<void>; sync(): Promise<void> }) => {
    await file.writeFile(text);
    await file.sync();
  };
  try {
    await withFile(path, 'wx', write, 0o600);
  } catch (error) {
    throw new OperatorError(
      `The service cannot write to the key folder ${dirname(path)} (${messageOf(error)}). Set RRS_KEYS_DIR to a folder that it can write to.`,
      {
        cause: error,
      },
    );
  }
}

function newPrivateKey({ algorithm }: KeyKind): string {
  const { privateKey } = algorithm === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}
