import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

interface Entries {
  folder: string;
  /** Modules, relative to the folder. */
  entries: readonly string[];
  /** Modules by the names under which others import them. */
  names: Readonly<Record<string, string>>;
  /** Whether other programs import it. */
  types: boolean;
}

/** What Node 20 has. The verifier on an older Node would otherwise call a good package bad because of a function that does not exist. */
const NODE_20 = ['es2023', 'es2024.string'];

/** Checks that packages use only what the oldest supported Node has, and writes the types of libraries next to their JavaScript. */
export async function writeDeclarations(root: string, out: string, packages: readonly Entries[]): Promise<void> {
  const types = join(out, 'types');
  // Every installation has this folder. The compiler finds the types of Node from here.
  const config = join(root, 'node_modules/.tsconfig.declarations.json');
  const files = packages.flatMap(({ folder, entries }) => entries.map((entry) => join(root, folder, entry)));
  // The compiler writes no types of what it finds below node_modules, where the packages are linked.
  const paths = Object.fromEntries(packages.flatMap(({ folder, names }) => Object.entries(names).map(([name, path]) => [name, [join(root, folder, path)]])));
  const compilerOptions = {
    paths,
    rootDir: root,
    outDir: types,
    noEmit: false,
    lib: NODE_20,
    target: 'es2023',
    declaration: true,
    emitDeclarationOnly: true,
  };
  await writeFile(config, JSON.stringify({ extends: '../tsconfig.json', compilerOptions, include: [], files }));
  const compiler = join(root, 'node_modules/.bin/tsc');
  await promisify(execFile)(compiler, ['--project', config], { cwd: root }).catch((error: { stdout?: string }) => {
    throw new Error(`the compiler found errors:\n${error.stdout}`, { cause: error });
  });
  for (const { folder, types: isLibrary } of packages) {
    if (!isLibrary) continue;
    // A module without types would be an error in strict programs, so a missing file fails here.
    for (const name of await readdir(join(out, folder, 'dist'), { recursive: true })) {
      if (!name.endsWith('.js')) continue;
      const declaration = name.replace(/\.js$/, '.d.ts');
      const text = await readFile(join(types, folder, 'src', declaration), 'utf8');
      await writeFile(join(out, folder, 'dist', declaration), text.replaceAll(/(\bfrom |\bimport\()(['"])(\.{1,2}\/[^'"]+)\.ts\2/g, '$1$2$3.js$2'));
    }
  }
  await rm(types, { recursive: true, force: true });
}
