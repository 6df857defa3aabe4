import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildPackages } from './packages/build.ts';

/** `npm run pack [-- --out <folder>]`: builds the packages and writes them as tarballs. */
const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'dist/packages') } } });
const out = resolve(values.out);
const built = mkdtempSync(join(tmpdir(), 'rrs-pack-'));
try {
  const folders = await buildPackages(root, built);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const packed = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', out, ...folders], { cwd: built, encoding: 'utf8' });
  for (const name of packed.trim().split('\n')) process.stdout.write(`${join(out, name)}\n`);
} finally {
  rmSync(built, { recursive: true, force: true });
}
