import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { buildDigest } from '../../service/src/main/build-digest.ts';
import { writeDeclarations } from './declarations.ts';
import { type Published, published, SUPPORTED } from './published.ts';

interface Manifest {
  name: string;
  version: string;
  description?: string;
  license: string;
  exports?: Record<string, string>;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/**
 * Builds all packages into folders of `out` and returns the folders. JavaScript is made by removing the types, as Node does when it runs the sources, so that
 * packages run the same code with the same lines. Node does not remove types below `node_modules`.
 */
export async function buildPackages(root: string, out: string): Promise<string[]> {
  await promisify(execFile)(process.execPath, [join(root, 'console/scripts/build.ts'), '--if-stale']);
  const built = await Promise.all(published.map((one) => buildPackage(root, out, one)));
  await writeDeclarations(
    root,
    out,
    built.filter(({ engines }) => engines === SUPPORTED),
  );
  await writeFile(join(out, 'service/build-digest'), `${await buildDigest(root)}\n`);
  return published.map(({ folder }) => join(out, folder));
}

async function buildPackage(root: string, out: string, one: Published) {
  const { folder, bins, files = [], types = false } = one;
  const source = join(root, folder);
  const target = join(out, folder);
  const manifest = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as Manifest;
  const exported = Object.entries(manifest.exports ?? {}).filter(([, path]) => !/\/(?:testing\/|scripts\/|fakes\.ts)/.test(path));
  const entries = [...exported.map(([, path]) => path).filter((path) => path.endsWith('.ts')), ...Object.values(bins).map(({ run }) => run)].map((path) =>
    join(source, path),
  );
  for (const path of await reachable(entries, source)) {
    const file = join(target, relative(source, path).replace(/^src/, 'dist').replace(/\.ts$/, '.js'));
    await write(file, asJavaScript(await readFile(path, 'utf8'), relative(root, path)));
  }
  const isVisible = (path: string): boolean => !basename(path).startsWith('.');
  for (const name of [...files, 'README.md'])
    if (existsSync(join(source, name))) await cp(join(source, name), join(target, name), { recursive: true, filter: isVisible });
  await cp(join(root, 'LICENSE'), join(target, 'LICENSE'));
  for (const [name, bin] of Object.entries(bins)) {
    const file = join(target, `bin/${name}.mjs`);
    await write(
      file,
      bin.pinned
        ? (await readFile(join(source, `bin/${name}.mjs`), 'utf8'))
            .replaceAll('../../scripts/launch.mjs', './launch.mjs')
            .replaceAll('../src/', '../dist/')
            .replaceAll(".ts'", ".js'")
        : plainBin(bin.run),
    );
    await chmod(file, 0o755);
  }
  if (Object.values(bins).some(({ pinned }) => pinned)) {
    const launcher = await readFile(join(root, 'scripts/launch.mjs'), 'utf8');
    await write(join(target, 'bin/launch.mjs'), launcher.replace('../node_modules/.cache/', '../../../.cache/'));
  }
  await writeFile(join(target, 'package.json'), `${JSON.stringify(await manifestOf(root, manifest, one, exported), null, 2)}\n`);
  const names = Object.fromEntries(exported.map(([key, path]) => [join(manifest.name, key), path]));
  return { folder, types, names, engines: one.engines, entries: entries.map((path) => relative(source, path)) };
}

/** A program that runs on every Node that npm supports. */
const plainBin = (run: string): string => `#!/usr/bin/env node\nimport '../${built(run)}';\n`;
const built = (path: string): string =>
  path
    .replace(/^\.\//, '')
    .replace(/^src\//, 'dist/')
    .replace(/\.ts$/, '.js');

async function manifestOf(
  root: string,
  { name, version, description, license, dependencies = {}, optionalDependencies }: Manifest,
  one: Published,
  exported: [string, string][],
) {
  const { bins, engines, types } = one;
  const { devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { devDependencies: { node: string } };
  const isPinned = Object.values(bins).some(({ pinned }) => pinned);
  return {
    name,
    version,
    description: description ?? one.description,
    license,
    type: 'module',
    engines: { node: engines },
    exports: Object.fromEntries(
      exported.map(([key, path]) => [key, types ? { types: `./${built(path).replace(/\.js$/, '.d.ts')}`, default: `./${built(path)}` } : `./${built(path)}`]),
    ),
    bin: Object.fromEntries(Object.keys(bins).map((bin) => [bin, `bin/${bin}.mjs`])),
    dependencies: { ...dependencies, ...(isPinned ? { node: devDependencies.node } : {}) },
    ...(optionalDependencies ? { optionalDependencies } : {}),
  };
}

const IMPORTED = /(\bfrom |\bimport\(|\bimport |new URL\()'(\.{1,2}\/[^']+)\.ts'/g;

/** The files that the entries need, directly or indirectly, including the programs of threads. */
async function reachable(entries: readonly string[], source: string): Promise<string[]> {
  const reached = new Set<string>(entries);
  for (const path of reached) {
    for (const [, , specifier] of (await readFile(path, 'utf8')).matchAll(IMPORTED)) reached.add(join(dirname(path), `${specifier}.ts`));
    if (relative(source, path).startsWith('..')) throw new Error(`${path} is outside of the package ${source}`);
  }
  return [...reached];
}

function asJavaScript(code: string, path: string): string {
  const javaScript = stripTypeScriptTypes(code).replaceAll(IMPORTED, "$1'$2.js'");
  if (javaScript.trim() === '') return 'export {};\n';
  const missed = /'\.{1,2}\/[^']*\.ts'/.exec(javaScript);
  if (missed) throw new Error(`${path} refers to ${missed[0]}, which does not exist in the package`);
  return javaScript;
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
