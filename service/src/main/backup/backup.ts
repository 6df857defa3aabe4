import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BlobStore } from '../../blobs/blobs.ts';
import { syncFolder, withFile } from '../../blobs/files.ts';
import { spool } from '../../blobs/streams.ts';
import { keyKinds } from '../../evidence/keys/key-files.ts';
import { CREDENTIAL_KEY } from '../../integrations/connections/secrets.ts';
import { AppError, OperatorError } from '../../shared/errors.ts';
import { createFolder, exists, FILE_MODE, FOLDER_MODE, inParallel, writeNew } from './files.ts';
import { type BackupFile, type BackupSummary, blobPath, FORMAT_VERSION, MANIFEST, type Manifest, summarize } from './format.ts';
import { copySnapshot } from './snapshot.ts';

interface BackupOptions {
  url: string;
  blobs: BlobStore;
  /** The folder of the private signing keys. Without them, a restored service could not sign with its published keys. */
  keysFolder: string;
  target: string;
  version: string;
}

/** Writes a consistent snapshot of all data to a new folder while the service runs. The folder gets its final name only when it is complete. */
export async function backup({ url, blobs, keysFolder, target, version }: BackupOptions): Promise<BackupSummary> {
  const finalPath = resolve(target);
  if (await exists(finalPath)) throw new OperatorError(`${finalPath} already exists. Name a folder that does not exist yet.`);
  const folder = `${finalPath}.unfinished`;
  await createFolder(folder);
  try {
    // Created first and renamed last: if a concurrent backup to the same path deletes this folder and mixes its files with ours, the rename fails.
    const manifestFile = join(folder, randomUUID());
    await (await open(manifestFile, 'wx', FILE_MODE)).close();

    const { files: copied, ...snapshot } = await copySnapshot(url, folder);
    // After the snapshot: a blob is stored before the row that refers to it, and never changes.
    const blobFiles = await copyBlobs(blobs, folder);
    const files = [...copied, ...blobFiles, ...(await copyKeys(keysFolder, folder))];
    const manifest: Manifest = { formatVersion: FORMAT_VERSION, programVersion: version, ...snapshot, blobs: blobFiles.length, files };

    await writeManifest(manifestFile, manifest);
    await rename(manifestFile, join(folder, MANIFEST));
    const shards = (await readdir(join(folder, 'blobs'))).map((name) => join(folder, 'blobs', name));
    for (const path of [...shards, join(folder, 'blobs'), join(folder, 'keys'), join(folder, 'tables'), folder]) await syncFolder(path);
    await rename(folder, finalPath);
    await syncFolder(dirname(finalPath));
    return summarize(manifest);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if (!(error instanceof AppError)) throw error;
    throw new OperatorError(`No backup was written to ${finalPath}: ${error.message}`, { cause: error });
  }
}

async function copyBlobs(blobs: BlobStore, folder: string): Promise<BackupFile[]> {
  const files: BackupFile[] = [];
  await mkdir(join(folder, 'blobs'), { mode: FOLDER_MODE });
  await inParallel(blobs.list(), async ({ sha256 }) => {
    const path = blobPath(sha256);
    await mkdir(join(folder, dirname(path)), { recursive: true, mode: FOLDER_MODE });
    let removed = false;
    const file = await writeNew(folder, path, async (target) => {
      const content = await blobs.get(sha256);
      removed = content === null;
      return pipeline(content ?? Readable.from([]), (bytes) => spool(bytes, target));
    });
    if (removed) return rm(join(folder, path));
    if (file.sha256 !== sha256) throw new OperatorError(`The stored file ${sha256} is corrupt: its content does not match its name. No backup was written.`);
    files.push(file);
  });
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function copyKeys(keysFolder: string, folder: string): Promise<BackupFile[]> {
  const files: BackupFile[] = [];
  await mkdir(join(folder, 'keys'), { mode: FOLDER_MODE });
  const credentialKeys = (await exists(keysFolder)) ? (await readdir(keysFolder)).filter((file) => CREDENTIAL_KEY.test(file)) : [];
  for (const file of [...Object.values(keyKinds).map((kind) => kind.file), ...credentialKeys.sort()]) {
    const source = join(keysFolder, file);
    if (await exists(source))
      files.push(await writeNew(folder, `keys/${file}`, (target) => pipeline(createReadStream(source), (bytes) => spool(bytes, target))));
  }
  return files;
}

async function writeManifest(path: string, manifest: Manifest): Promise<void> {
  await withFile(path, 'r+', async (file) => {
    await file.writeFile(`${JSON.stringify(manifest, null, 1)}\n`);
    await file.sync();
  });
}
