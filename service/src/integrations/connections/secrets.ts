import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder, withFile } from '../../blobs/files.ts';
import { OperatorError } from '../../shared/errors.ts';

/** Keys for credentials, as files beside the signing keys: a copy of the database alone tells nobody a token. */
export interface KeyRing {
  seal(context: string, values: Record<string, unknown>): Promise<Sealed>;
  open(context: string, sealed: Sealed): Promise<Record<string, unknown>>;
  /** Makes a new key, with which everything is sealed from now on; the caller seals what there is again and then forgets the others. */
  rotate(): Promise<string>;
  forgetAllBut(keyId: string): Promise<void>;
}

interface Sealed {
  keyId: string;
  bytes: Buffer;
}

/** Their files, for who copies them. */
export const CREDENTIAL_KEY = /^credentials-([0-9]{13}-[0-9a-f]{8})\.key$/;
const NONCE = 12;
const TAG = 16;

export function openKeyRing(folder: string): KeyRing {
  const held = new Map<string, Buffer>();

  const load = async (): Promise<string | undefined> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const names = (await readdir(folder)).flatMap((file) => CREDENTIAL_KEY.exec(file)?.[1] ?? []).sort();
    for (const id of names) if (!held.has(id)) held.set(id, Buffer.from((await readFile(pathOf(id), 'utf8')).trim(), 'hex'));
    return names.at(-1);
  };
  const pathOf = (id: string): string => join(folder, `credentials-${id}.key`);
  const make = async (): Promise<string> => {
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
  const keyOf = async (id: string): Promise<Buffer> => {
    if (!held.has(id)) await load();
    const key = held.get(id);
    if (!key)
      throw new OperatorError(`The key "${id}" for credentials is not in the folder of keys. Bring it back, or set the credentials of the connections again.`);
    return key;
  };

  return {
    async seal(context, values) {
      let keyId = await load();
      if (keyId === undefined) {
        await make();
        // Of two processes that make the first key at once, both take the later one.
        keyId = (await load()) ?? '';
      }
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv('aes-256-gcm', await keyOf(keyId), nonce).setAAD(Buffer.from(context));
      const text = Buffer.concat([cipher.update(JSON.stringify(values)), cipher.final()]);
      return { keyId, bytes: Buffer.concat([nonce, cipher.getAuthTag(), text]) };
    },
    async open(context, { keyId, bytes }) {
      const decipher = createDecipheriv('aes-256-gcm', await keyOf(keyId), bytes.subarray(0, NONCE))
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(NONCE, NONCE + TAG));
      return JSON.parse(Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]).toString()) as Record<string, unknown>;
    },
    async rotate() {
      await load();
      return make();
    },
    async forgetAllBut(keyId) {
      await load();
      for (const id of held.keys()) {
        if (id === keyId) continue;
        await rm(pathOf(id), { force: true });
        held.delete(id);
      }
    },
  };
}
