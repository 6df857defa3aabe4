import { existsSync, rmSync } from 'node:fs';
import { glob, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'vite';
import { distFolder, isBundleCurrent, stampOfSources } from '../bin/bundle-stamp.mjs';
import { sourcesDigest } from '../src/main/build-digest.ts';

/**
 * `node service/scripts/bundle.ts`: writes the service and its child processes into service/dist. Loading hundreds of modules takes most of the time of a start, and
 * a child process loads them again. The new folder replaces the old one when it is complete.
 */
const sources = fileURLToPath(new URL('../src', import.meta.url));
const program = join(sources, 'main/command-line/cli.ts');
/** An address of a module that a child process loads. */
const MODULE = /new URL\('(\.\/[\w-]+\.ts)', import\.meta\.url\)/g;
/** They find their own files by where they are, or choose a program for this machine. */
const UNBUNDLED = ['pino', 'graphile-worker', '@scalar/fastify-api-reference', 'pdfkit', 'dejavu-fonts-ttf', 'vite'];

/** The paths of the modules that child processes load. */
async function childModules(): Promise<string[]> {
  const found: string[] = [];
  for await (const name of glob('**/*.ts', { cwd: sources, exclude: ['testing/**', '**/*.test.ts'] })) {
    const path = join(sources, name);
    for (const [, module = ''] of (await readFile(path, 'utf8')).matchAll(MODULE)) found.push(join(dirname(path), module));
  }
  return found.sort();
}

const bundled = (path: string): string => `${basename(path, '.ts')}.js`;

/** Lets the tests start child processes from the bundle, like the service does. */
export function childrenFromBundle(): Plugin {
  return {
    name: 'children-from-bundle',
    enforce: 'pre',
    transform: (code, id) =>
      isSource(id) && code.includes('import.meta.url')
        ? code.replaceAll(MODULE, (_, module: string) => `new URL(${JSON.stringify(pathToFileURL(join(distFolder, bundled(module))))})`)
        : null,
  };
}

const isSource = (id: string): boolean => id.startsWith(`${sources}/`) && !id.startsWith(`${sources}/testing/`) && !id.includes('.test.');

/** Addresses stay those of the source, apart from those of child processes. */
function addresses(folder: string): Plugin {
  return {
    name: 'addresses',
    enforce: 'pre',
    transform: (code, id) => {
      if (id.includes('/node_modules/') || !code.includes('import.meta.url')) return null;
      const source = JSON.stringify(relative(folder, id));
      return code
        .replaceAll(MODULE, (_, module: string) => `new URL('./${bundled(module)}', import.meta.BUNDLE)`)
        .replaceAll('import.meta.url', `new URL(${source}, import.meta.url).href`)
        .replaceAll('import.meta.BUNDLE', 'import.meta.url');
    },
  };
}

export async function bundle(): Promise<void> {
  const folder = `${distFolder}.new-${process.pid}`;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const stamp = stampOfSources();
  const digest = await sourcesDigest();
  const modules = [program, ...(await childModules())];
  await build({
    configFile: false,
    root: sources,
    logLevel: 'warn',
    plugins: [addresses(folder)],
    ssr: { noExternal: true, external: [...UNBUNDLED] },
    build: {
      ssr: true,
      target: 'node24',
      minify: false,
      outDir: folder,
      emptyOutDir: true,
      rolldownOptions: {
        input: Object.fromEntries(modules.map((path) => [basename(path, '.ts'), path])),
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  });
  if (digest !== null) await writeFile(join(folder, 'build-digest'), `${digest}\n`);
  await writeFile(join(folder, '.stamp'), stamp);
  const old = `${distFolder}.old-${process.pid}`;
  if (existsSync(distFolder)) await rename(distFolder, old);
  await rename(folder, distFolder);
  await rm(old, { recursive: true, force: true });
}

export async function bundleIfStale(): Promise<void> {
  if (!isBundleCurrent()) await bundle();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle();
