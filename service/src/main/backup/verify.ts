import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { Check } from 'typebox/schema';
import { errorCodeOf, messageOf, OperatorError } from '../../shared/errors.ts';
import { inParallel } from './files.ts';
import { type BackupFile, blobPath, FORMAT_VERSION, isKeyFile, JOBS, MANIFEST, Manifest, tablePath } from './format.ts';

export async function verifyBackup(folder: string): Promise<Manifest> {
  const manifest = await readManifest(folder);
  const faults = [...manifestFaults(manifest), ...(await fileFaults(folder, manifest.files))].sort();
  if (faults.length > 0) throw new OperatorError(`The backup ${folder} is corrupt: ${faults.join('; ')}. Nothing was restored. Use another backup.`);
  return manifest;
}

async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, MANIFEST);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const why = errorCodeOf(error) === 'ENOENT' ? `it has no ${MANIFEST}` : `${MANIFEST} cannot be read (${messageOf(error)})`;
    throw new OperatorError(`${folder} is not a backup: ${why}. Name a folder that "rrs-server backup" wrote.`, { cause: error });
  });
  const manifest = parseJson(text);
  const format = typeof manifest === 'object' && manifest !== null && 'formatVersion' in manifest ? manifest.formatVersion : undefined;
  if (typeof format === 'number' && format !== FORMAT_VERSION) {
    throw new OperatorError(
      `The backup ${folder} has format ${format}, but this version supports only format ${FORMAT_VERSION}. Use the version that wrote the backup, or a newer one.`,
    );
  }
  if (!Check(Manifest, manifest)) throw new OperatorError(`The backup ${folder} is corrupt: ${MANIFEST} is invalid. Nothing was restored. Use another backup.`);
  return manifest;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function manifestFaults({ tables, migrations, schemaVersion, blobs, files }: Manifest): string[] {
  const blobFiles = files.filter(({ path }) => path.startsWith('blobs/'));
  const keys = files.filter(isKeyFile).map(({ path }) => path);
  const expected = [...tables.map(({ table }) => tablePath(table)), JOBS, ...blobFiles.map(({ sha256 }) => blobPath(sha256)), ...keys].sort();
  const listed = files.map(({ path }) => path).sort();
  const sound =
    isDeepStrictEqual(listed, expected) && new Set(listed).size === listed.length && blobFiles.length === blobs && migrations.at(-1)?.version === schemaVersion;
  return sound ? [] : [`${MANIFEST} is inconsistent`];
}

async function fileFaults(folder: string, files: readonly BackupFile[]): Promise<string[]> {
  const faults: string[] = [];
  const present = new Map<string, boolean>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isDirectory()) present.set(relative(folder, join(entry.parentPath, entry.name)), entry.isFile());
  }
  await inParallel(files, async ({ path, size, sha256 }) => {
    const isFile = present.get(path);
    present.delete(path);
    if (isFile === undefined) return void faults.push(`${path} is missing`);
    if (!isFile) return void faults.push(`${path} is not a regular file`);
    const found = await stat(join(folder, path));
    if (found.size !== size) faults.push(`${path} has ${found.size} bytes instead of ${size}`);
    else if ((await sha256Of(join(folder, path))) !== sha256) faults.push(`${path} was modified`);
  });
  present.delete(MANIFEST);
  return [...faults, ...[...present.keys()].map((path) => `${path} is not listed in ${MANIFEST}`)];
}

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
