import { type FileHandle, open } from 'node:fs/promises';

/** Opens a file and closes it however the work ends. (Not `using`, because dependency-cruiser cannot parse it yet.) */
export async function withFile<T>(path: string, flags: string, work: (file: FileHandle) => Promise<T>, mode?: number): Promise<T> {
  const file = await open(path, flags, mode);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

/** A new file name survives a power failure only after its folder is synced. */
export function syncFolder(path: string): Promise<void> {
  return withFile(path, 'r', (folder) => folder.sync());
}
