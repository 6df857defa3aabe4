import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import type { BlobStore } from '../../blobs/blobs.ts';
import { migrate, readMigrations } from '../../db/migrate.ts';
import { prepareKeyFolder, writePrivate } from '../../evidence/keys/key-files.ts';
import { AppError, errorCodeOf, messageOf, OperatorError } from '../../shared/errors.ts';
import { inParallel } from './files.ts';
import { type BackupSummary, blobPath, isKeyFile, type Manifest, summarize } from './format.ts';
import { changedDuringRestore, requireEmptyDatabase, restoreDatabase } from './restore-database.ts';
import { sha256Of, verifyBackup } from './verify.ts';

interface RestoreOptions {
  url: string;
  blobs: BlobStore;
  keysFolder: string;
  source: string;
}

/** Verifies the whole backup before it changes anything. The database has no organization until the last step, so that a failed restore can be repeated. */
export async function restore({ url, blobs, keysFolder, source }: RestoreOptions): Promise<BackupSummary> {
  const folder = resolve(source);
  const manifest = await verifyBackup(folder);
  await requireKnownSchema(manifest);
  await blobs.check();
  await requireEmptyDatabase(url, manifest);
  await restoreKeys(keysFolder, folder, manifest);
  await migrate(url, { upTo: manifest.schemaVersion });
  // Before the rows that refer to them, and outside of the transaction, which must not wait for an object store.
  await restoreBlobs(blobs, folder, manifest);
  await restoreDatabase(url, folder, manifest);
  try {
    await migrate(url);
  } catch (error) {
    throw new OperatorError(
      `The backup was restored with schema version ${manifest.schemaVersion}, but a later migration failed (${messageOf(error)}). Run "rrs-server migrate" to retry it.`,
      { cause: error },
    );
  }
  return summarize(manifest);
}

async function requireKnownSchema({ schemaVersion, programVersion, migrations }: Manifest): Promise<void> {
  const known = await readMigrations();
  const newest = known.at(-1)?.version ?? 0;
  if (schemaVersion > newest) {
    throw new OperatorError(
      `The backup has schema version ${schemaVersion}, but this version supports only ${newest}. Use version ${programVersion} or newer.`,
    );
  }
  const ours = known.filter(({ version }) => version <= schemaVersion).map(({ version, name, checksum }) => ({ version, name, checksum }));
  if (!isDeepStrictEqual(ours, migrations)) {
    throw new OperatorError(`The migrations up to version ${schemaVersion} differ from those of the backup. Use version ${programVersion} to restore it.`);
  }
}

async function restoreBlobs(blobs: BlobStore, folder: string, { files }: Manifest): Promise<void> {
  await inParallel(files, async ({ path, sha256 }) => {
    if (path !== blobPath(sha256)) return;
    const stored = await pipeline(createReadStream(join(folder, path)), (content) => blobs.put(content)).catch((error: unknown) => {
      if (!(error instanceof AppError)) throw error;
      throw new OperatorError(`The file ${path} of the backup was not stored: ${error.message} The database is still empty. Run the restore again.`, {
        cause: error,
      });
    });
    if (stored.sha256 !== sha256) throw changedDuringRestore(path);
  });
}

/** Never overwrites a different key, because an overwritten key is lost. */
async function restoreKeys(keysFolder: string, folder: string, { files }: Manifest): Promise<void> {
  const keys = files.filter(isKeyFile);
  const copies = keys.map(({ path, sha256 }) => ({ from: join(folder, path), to: join(keysFolder, basename(path)), sha256 }));
  const missing: typeof copies = [];
  for (const copy of copies) {
    const present = await sha256Of(copy.to).catch((error: unknown) => {
      if (errorCodeOf(error) === 'ENOENT') return null;
      throw error;
    });
    if (present === null) missing.push(copy);
    else if (present !== copy.sha256) {
      throw new OperatorError(`${copy.to} differs from the key in the backup. Move it away, or set RRS_KEYS_DIR to a new folder.`);
    }
  }
  if (missing.length > 0) await prepareKeyFolder(keysFolder);
  for (const { from, to } of missing) await writePrivate(to, await readFile(from, 'utf8'));
}
