import { type FileHandle, open } from 'node:fs/promises';

/** A file that is closed again however the work ends. (Not `using`: the import checker cannot read it yet.) */
export async function withFile<T>(path: string, flags: string, work: (file: FileHandle) => Promise<T>, mode?: number): Promise<T> {
  const file = await open(path, flags, mode);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

/** A new name in a folder survives a power cut only when the folder itself is on disk. */
export function syncFolder(path: string): Promise<void> {
  return withFile(path, 'r', (folder) => folder.sync());
}
