import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the console, and what is built from it. */
const home = fileURLToPath(new URL('..', import.meta.url));
export const distFolder = join(home, 'dist');
const stampFile = join(distFolder, '.stamp');

/** Everything that the built files depend on. The lock file stands for all packages. */
const sources = [
  'src',
  'scripts',
  'public',
  'index.html',
  'vite.config.ts',
  '../client/src',
  '../verifier/src',
  '../evidence-format/src',
  '../package-lock.json',
];

/** Changes when the console would be built differently. Null if its sources are not here, as in an installed package. */
export async function stampOfSources(): Promise<string | null> {
  const paths = (await Promise.all(sources.map(filesUnder))).flat().filter((path) => !/\.test\.tsx?$/.test(path));
  const contents = await Promise.all(paths.map((path) => readFile(join(home, path)).catch(() => null)));
  if (!paths.some((path) => path.startsWith('src'))) return null;
  const digest = createHash('sha256');
  for (const [index, path] of paths.entries()) {
    digest.update(`${path}\n`);
    digest.update(contents[index] ?? '');
  }
  return digest.digest('hex');
}

async function filesUnder(name: string): Promise<string[]> {
  const entries = await readdir(join(home, name), { recursive: true }).catch(() => null);
  return entries === null ? [name] : entries.sort().map((entry) => join(name, entry));
}

/** The stamp of the sources that `dist` was built from. */
export async function stampOfBuild(): Promise<string | null> {
  return readFile(stampFile, 'utf8').catch(() => null);
}

/** Whether the console has to be built. */
export async function isStale(): Promise<boolean> {
  const wanted = await stampOfSources();
  return wanted !== null && wanted !== (await stampOfBuild());
}
