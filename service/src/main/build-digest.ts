import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The programs that decide what a package states, by their folders next to the service. */
const PROGRAMS = ['service', 'evidence-format', 'scan-reports', 'connectors', 'verifier'];
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

declare global {
  interface ImportMeta {
    /** The address of the file in the bundle. Undefined if the sources run as they are. */
    BUNDLE?: string;
  }
}

/** A package of the program has the digest of the sources that it was built from, and so has the bundle. Reading all of them again would slow down every start. */
const BUILT = [new URL('../../build-digest', import.meta.url), ...(import.meta.BUNDLE === undefined ? [] : [new URL('./build-digest', import.meta.BUNDLE)])];

/**
 * SHA-256 over the source files of the program, which run as they are: a line with hash and path for each, sorted by path. Anybody who has the same version
 * can compute it: `find service/src … -name '*.ts' ! -name '*.test.ts' | LC_ALL=C sort | xargs sha256sum | sha256sum`. Null if the files are
 * somewhere else.
 */
export async function buildDigest(root = ROOT): Promise<string | null> {
  for (const file of BUILT) {
    const built = await readFile(file, 'utf8').catch(() => null);
    if (built !== null) return built.trim();
  }
  return sourcesDigest(root);
}

/** Reads the sources as they are now. */
export async function sourcesDigest(root = ROOT): Promise<string | null> {
  const paths: string[] = [];
  for (const program of PROGRAMS) {
    const folder = join(program, 'src');
    const names = await readdir(join(root, folder), { recursive: true }).catch(() => null);
    if (names === null) return null;
    paths.push(...names.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts')).map((name) => join(folder, name).replaceAll('\\', '/')));
  }
  const digest = createHash('sha256');
  for (const path of paths.sort(byBytes)) {
    const content = createHash('sha256').update(await readFile(join(root, path)));
    digest.update(`${content.digest('hex')}  ${path}\n`);
  }
  return digest.digest('hex');
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
