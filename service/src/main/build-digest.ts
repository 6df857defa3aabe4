import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The programs that decide what a package states, by their folders next to the service. */
const PROGRAMS = ['service', 'evidence-format', 'scan-reports', 'connectors', 'verifier'];
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** A package has the digest of the sources that it was built from. */
const BUILT = new URL('../../build-digest', import.meta.url);

/**
 * SHA-256 over the source files of the program, which run as they are: a line with hash and path for each, sorted by path. Anybody who has the same version
 * can compute it: `find service/src … -name '*.ts' ! -name '*.test.ts' | LC_ALL=C sort | xargs sha256sum | sha256sum`. Null if the files are
 * somewhere else.
 */
export async function buildDigest(root = ROOT): Promise<string | null> {
  const built = await readFile(BUILT, 'utf8').catch(() => null);
  if (built !== null) return built.trim();
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
