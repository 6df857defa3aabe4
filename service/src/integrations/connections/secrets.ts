import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder, withFile } from '../../blobs/files.ts';
import { assertOutsideTransaction, isInsideTransaction } from '../../db/transaction-scope.ts';
import { OperatorError } from '../../shared/errors.ts';
import { seal, unseal } from '../../shared/sealed.ts';

/** Keys that encrypt credentials. They are files next to the signing keys, so a copy of the database alone reveals no credential. */
export interface KeyRing {
  /** Reads the key files, and creates the first key. Call it before a transaction that encrypts or decrypts: inside, files are not read. */
  refresh(): Promise<string>;
  /** Encrypts with the newest key. The values can only be decrypted with the same `context`. */
  seal(context: string, values: Record<string, unknown>): Promise<Sealed>;
  open(context: string, sealed: Sealed): Promise<Record<string, unknown>>;
  /** Creates a new key, which `seal` uses from now on. The caller encrypts all stored values again and then deletes the other keys. */
  rotate(): Promise<string>;
  forgetAllBut(keyId: string): Promise<void>;
}

interface Sealed {
  keyId: string;
  bytes: Buffer;
}

/** Matches the file names of credential keys. Backups use it to find them. */
export const CREDENTIAL_KEY = /^credentials-([0-9]{13}-[0-9a-f]{8})\.key$/;

export function openKeyRing(folder: string): KeyRing {
  const loaded = new Map<string, Buffer>();

  const pathOf = (id: string): string => join(folder, `credentials-${id}.key`);
  let newest: string | undefined;
  const load = async (): Promise<string | undefined> => {
    assertOutsideTransaction('reading key files');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const ids = (await readdir(folder)).flatMap((file) => CREDENTIAL_KEY.exec(file)?.[1] ?? []).sort();
    for (const id of ids) if (!loaded.has(id)) loaded.set(id, Buffer.from((await readFile(pathOf(id), 'utf8')).trim(), 'hex'));
    newest = ids.at(-1);
    return newest;
  };
  const create = async (): Promise<string> => {
    const id = `${String(Date.now()).padStart(13, '0')}-${randomBytes(4).toString('hex')}`;
    const draft = `${pathOf(id)}.new`;
    const write = async (file: FileHandle): Promise<void> => {
      await file.writeFile(`${randomBytes(32).toString('hex')}\n`);
      await file.sync();
    };
    await withFile(draft, 'wx', write, 0o600);
    await rename(draft, pathOf(id));
    await syncFolder(folder);
    return id;
  };
  const refresh = async (): Promise<string> => {
    if ((await load()) === undefined) await create();
    // If two processes create the first key at the same time, both use the newer one.
    return (await load()) ?? '';
  };
  const keyOf = async (id: string): Promise<Buffer> => {
    if (!loaded.has(id)) await load();
    const key = loaded.get(id);
    if (!key)
      throw new OperatorError(`The credential key "${id}" is missing from the keys folder. Restore it, or enter the credentials of the connections again.`);
    return key;
  };

  return {
    refresh,
    async seal(context, values) {
      const keyId = isInsideTransaction() && newest !== undefined ? newest : await refresh();
      return { keyId, bytes: seal(await keyOf(keyId), JSON.stringify(values), context) };
    },
    async open(context, { keyId, bytes }) {
      return JSON.parse(unseal(await keyOf(keyId), bytes, context)) as Record<string, unknown>;
    },
    async rotate() {
      await load();
      await create();
      return refresh();
    },
    async forgetAllBut(keyId) {
      await load();
      for (const id of loaded.keys()) {
        if (id === keyId) continue;
        await rm(pathOf(id), { force: true });
        loaded.delete(id);
      }
    },
  };
}
