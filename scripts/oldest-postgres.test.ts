import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
/** An import, the schema, and a walk over all routes of an organization that has everything. */
const TESTS = ['service/src/findings/import/statements.db.test.ts', 'service/src/db/schema.db.test.ts', 'service/src/http/tenant-walk.db.test.ts'];
/** The status of `npm run test:postgres` if the registry does not have the programs, or nobody can reach it. */
const NOT_INSTALLED = 3;

/** All other tests use the embedded server, which is the newest version. */
test('the service works with the oldest PostgreSQL that it supports', ({ skip }) => {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')));
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/test-postgres.ts', '15', ...TESTS], { cwd: root, env, encoding: 'utf8' });
  skip(status === NOT_INSTALLED, 'PostgreSQL 15 could not be installed');
  expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, '']);
}, 300_000);
