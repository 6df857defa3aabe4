import { type FileHandle, lstat, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BlobRef } from '../../blobs/blobs.ts';
import { withFile } from '../../blobs/files.ts';
import { errorCodeOf, messageOf, OperatorError } from '../../shared/errors.ts';
import type { BackupFile } from './format.ts';

export const FOLDER_MODE = 0o700;
export const FILE_MODE = 0o600;

export async function writeNew(folder: string, path: string, fill: (file: FileHandle) => Promise<BlobRef>): Promise<BackupFile> {
  return withFile(
    join(folder, path),
    'wx',
    async (file) => {
      const { size, sha256 } = await fill(file);
      await file.sync();
      return { path, size, sha256 };
    },
    FILE_MODE,
  );
}

export async function createFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
    await mkdir(path, { mode: FOLDER_MODE });
  } catch (error) {
    throw new OperatorError(`Cannot write to the folder ${dirname(path)} (${messageOf(error)}). Choose a writable folder for the backup.`, { cause: error });
  }
}

export async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

const PARALLEL = 8;

/** Processes the items with a fixed number of workers. If one fails, the others finish their current item and stop. */
export async function inParallel<T>(items: AsyncIterable<T> | Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const shared = (async function* () {
    yield* items;
  })();
  const workers = Array.from({ length: PARALLEL }, async () => {
    for await (const item of shared) await work(item);
  });
  const failed = (await Promise.allSettled(workers)).find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}
