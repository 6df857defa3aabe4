import { existsSync, openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { UsageError } from '../command.ts';
import { glob } from './glob.ts';

export interface ReportFile {
  /** As it was named, or found. */
  path: string;
  /** What the service is told: without its folders. */
  name: string;
  body: Blob;
}

/** Opens all files before the first is sent, so that a typing error stops everything. */
export async function openReports(names: readonly string[], folder: string): Promise<ReportFile[]> {
  const files = (await Promise.all(names.map((name) => expand(name, folder)))).flat();
  return Promise.all([...new Set(files)].map((file) => openReport(file, folder)));
}

/** Shells that do not expand patterns, and quoted ones, leave them to the program. */
async function expand(name: string, folder: string): Promise<string[]> {
  if (name === '-' || !/[*?[{]/.test(name) || existsSync(join(folder, name))) return [name];
  const found = await glob(name, folder);
  if (found.length === 0) throw new UsageError(`No file matches ${name}.`);
  return found;
}

async function openReport(file: string, folder: string): Promise<ReportFile> {
  if (file === '-') return { path: 'standard input', name: 'report', body: new Blob([await buffer(process.stdin)]) };
  const path = file.startsWith('/') ? file : join(folder, file);
  const isFile = await stat(path).then(
    (found) => !found.isDirectory(),
    () => null,
  );
  if (isFile === false) throw new UsageError(`${file} is a folder. Name the files in it: "${file.replace(/\/$/, '')}/*.json".`);
  try {
    return { path: file, name: basename(file), body: await openAsBlob(path) };
  } catch {
    throw new UsageError(`${file} cannot be read. Check its name and permissions.`);
  }
}
