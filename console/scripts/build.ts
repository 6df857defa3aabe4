import { rmSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build as bundle, type Plugin } from 'vite';
import { distFolder, isStale, stampOfSources } from './stamp.ts';

/**
 * `node console/scripts/build.ts [--if-stale | --watch]`: builds the console into console/dist, with compressed copies of its files.
 * The new folder replaces the old one when it is complete, so that a running service never serves half a build.
 */
const home = fileURLToPath(new URL('..', import.meta.url));
// The test runner sets another value, with which the bundler would build for development.
process.env.NODE_ENV = 'production';
const COMPRESSED = ['.css', '.html', '.js', '.svg'];

async function finish(folder: string, stamp: string | null): Promise<void> {
  const names = await readdir(folder, { recursive: true });
  await Promise.all(names.filter((name) => COMPRESSED.includes(extname(name))).map((name) => compress(join(folder, name))));
  if (stamp !== null) await writeFile(join(folder, '.stamp'), stamp);
  const old = `${distFolder}.old-${process.pid}`;
  await rename(distFolder, old).catch(() => {});
  await rename(folder, distFolder);
  await rm(old, { recursive: true, force: true });
}

async function compress(path: string): Promise<void> {
  const content = await readFile(path);
  // Quality 9 is within 2 % of the best one and takes a fraction of its time.
  const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: content.length } };
  const [br, gz] = await Promise.all([promisify(brotliCompress)(content, options), promisify(gzip)(content, { level: 9 })]);
  await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)]);
}

export async function build(): Promise<void> {
  const folder = `${distFolder}.new-${process.pid}`;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const stamp = await stampOfSources();
  await bundle({ root: home, logLevel: 'warn', build: { outDir: folder, emptyOutDir: true } });
  await finish(folder, stamp);
}

export async function buildIfStale(): Promise<boolean> {
  const stale = await isStale();
  if (stale) await build();
  return stale;
}

/** Builds again whenever a source changes. */
async function watch(): Promise<void> {
  const folder = `${distFolder}.watch-${process.pid}`;
  await mkdir(folder, { recursive: true });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(0));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const publish: Plugin = {
    name: 'publish',
    closeBundle: {
      order: 'post',
      handler: async () => {
        await finish(folder, await stampOfSources());
        process.stdout.write('The console is built. Reload the page.\n');
      },
    },
  };
  await bundle({ root: home, logLevel: 'warn', plugins: [publish], build: { outDir: folder, emptyOutDir: true, watch: {} } });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--watch')) await watch();
  else if (process.argv.includes('--if-stale')) await buildIfStale();
  else await build();
}
