import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { vectors } from '../vectors/vectors.ts';

/** Writes the test vectors as files for other verifiers: a package, the trusted keys, and the expected verdict and codes. */
const folder = new URL('../dist/vectors/', import.meta.url);
for (const { name, verdict, codes, more, make } of vectors) {
  const path = new URL(`${name.replaceAll(/[^a-zA-Z0-9]+/g, '-')}/`, folder);
  const { zip, trust, options } = await make();
  mkdirSync(path, { recursive: true });
  writeFileSync(new URL('package.zip', path), zip);
  writeFileSync(new URL('expected.json', path), `${JSON.stringify({ name, verdict, codes, more, trust, options }, null, 2)}\n`);
}
process.stdout.write(`${vectors.length} vectors in ${fileURLToPath(folder)}\n`);
