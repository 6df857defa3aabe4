import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The service in few files, which load in a fraction of the time. `service/scripts/bundle.ts` writes them. */
export const distFolder = fileURLToPath(new URL('../dist', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
/** Everything that the bundle is built from. The lock file stands for all packages. */
const sources = [
  'service/src',
  'service/scripts/bundle.ts',
  'connectors/src',
  'scan-reports/src',
  'evidence-format/src',
  'verifier/src',
  'console/scripts',
  'package-lock.json',
];

/** Changes whenever a source is written. It reads names, sizes and times only, because every start compares it. */
export function stampOfSources(folder = root) {
  const digest = createHash('sha256');
  for (const source of sources) for (const path of filesUnder(folder, source)) digest.update(`${path} ${sizeAndTime(join(folder, path))}\n`);
  return digest.digest('hex');
}

function filesUnder(folder, source) {
  const path = join(folder, source);
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [source];
  return readdirSync(path, { recursive: true })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .sort()
    .map((name) => `${source}/${name}`);
}

function sizeAndTime(path) {
  const { size, mtimeMs } = statSync(path);
  return `${size} ${mtimeMs}`;
}

/** The program in the bundle. Null if a source has changed since it was built. */
export function bundledProgram() {
  return process.env.RRS_BUNDLE !== 'off' && isBundleCurrent() ? '../dist/cli.js' : null;
}

/** Whether the bundle was built from the sources as they are now. */
export function isBundleCurrent() {
  try {
    return readFileSync(join(distFolder, '.stamp'), 'utf8') === stampOfSources();
  } catch {
    return false;
  }
}
