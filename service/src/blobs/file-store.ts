import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, opendir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCodeOf, messageOf, OperatorError } from '../shared/errors.ts';
import { absent, assertSha256, type BlobRef, type BlobStore, incomplete, isSha256, type StoredBlob } from './blobs.ts';
import { syncFolder, withFile } from './files.ts';
import { outsideTransactions } from './outside-transactions.ts';
import { counted, spool, verified } from './streams.ts';

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const ABANDONED_AFTER_MS = 24 * 60 * 60 * 1000;
const PIECE = 256 * 1024;
const SHARD = /^[0-9a-f]{2}$/;

export function openFileStore(root: string): BlobStore {
  const temporary = join(root, 'tmp');
  let prepared: Promise<void> | undefined;

  function prepareOnce(): Promise<void> {
    prepared ??= prepare(root, temporary).catch((error: unknown) => {
      prepared = undefined;
      throw error;
    });
    return prepared;
  }

  function pathOf(sha256: string): string {
    assertSha256(sha256);
    return join(root, sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  }

  return outsideTransactions({
    folder: root,

    async put(content, options) {
      await prepareOnce();
      const unfinished = join(temporary, randomUUID());
      try {
        const ref = await write(unfinished, (file) => spool(content, file, options));
        const path = pathOf(ref.sha256);
        const folder = dirname(path);
        await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
        await rename(unfinished, path);
        // All three, even if they exist: a concurrent put may have created them without having synced them yet.
        await Promise.all([folder, dirname(folder), root].map(syncFolder));
        return ref;
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
    },

    async get(sha256) {
      const file = await unlessAbsent(open(pathOf(sha256), 'r'));
      return file && verified(file.createReadStream({ highWaterMark: PIECE }), sha256);
    },

    async getRange(sha256, range) {
      const file = await unlessAbsent(open(pathOf(sha256), 'r'));
      return file && counted(file.createReadStream({ ...range }), range);
    },

    async *pieces(sha256, { start, end }) {
      const file = await unlessAbsent(open(pathOf(sha256), 'r'));
      if (!file) throw absent(sha256);
      try {
        const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE, end - start + 1));
        for (let at = start; at <= end; ) {
          const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - at + 1), at);
          if (bytesRead === 0) throw incomplete(sha256);
          yield buffer.subarray(0, bytesRead);
          at += bytesRead;
        }
      } finally {
        await file.close();
      }
    },

    async stat(sha256) {
      const found = await unlessAbsent(stat(pathOf(sha256)));
      return found && { sha256, size: found.size, storedAt: found.mtime };
    },

    async delete(sha256) {
      await rm(pathOf(sha256), { force: true });
    },

    async *list() {
      for (const upper of await shardsIn(root)) {
        for (const lower of await shardsIn(join(root, upper))) {
          yield* blobsIn(join(root, upper, lower));
        }
      }
    },

    async check() {
      const probe = join(temporary, randomUUID());
      try {
        await prepare(root, temporary);
        await writeFile(probe, 'probe', { mode: FILE_MODE });
        await rm(probe);
      } catch (error) {
        await rm(probe, { force: true }).catch(() => {});
        throw new OperatorError(`Cannot write to the folder for stored files ${root} (${messageOf(error)}). Check RRS_DATA_DIR and its permissions.`, {
          cause: error,
        });
      }
    },
  });
}

async function prepare(root: string, temporary: string): Promise<void> {
  await mkdir(temporary, { recursive: true, mode: FOLDER_MODE });
  await syncFolder(dirname(root));
  const oldest = Date.now() - ABANDONED_AFTER_MS;
  for (const name of await readdir(temporary)) {
    const path = join(temporary, name);
    const found = await unlessAbsent(stat(path));
    if (found && found.mtimeMs < oldest) await rm(path, { force: true });
  }
}

function write(path: string, fill: (file: FileHandle) => Promise<BlobRef>): Promise<BlobRef> {
  return withFile(
    path,
    'wx',
    async (file) => {
      const ref = await fill(file);
      await file.sync();
      return ref;
    },
    FILE_MODE,
  );
}

async function shardsIn(folder: string): Promise<string[]> {
  const names = (await unlessAbsent(readdir(folder))) ?? [];
  return names.filter((name) => SHARD.test(name));
}

async function* blobsIn(folder: string): AsyncGenerator<StoredBlob> {
  for await (const { name } of await opendir(folder)) {
    if (!isSha256(name)) continue;
    const found = await unlessAbsent(stat(join(folder, name)));
    if (found) yield { sha256: name, size: found.size, storedAt: found.mtime };
  }
}

async function unlessAbsent<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
