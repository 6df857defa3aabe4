import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { postgresPid, temporaryFolder } from './folders.ts';
import { newDataDir, type Options, rrs } from './service.ts';
import { changeOwner, isRoot, unprivilegedUser } from './users.ts';

/** Expects a refusal of one line that contains all parts. */
async function refused(options: Options, ...parts: string[]): Promise<void> {
  const { code, stdout, stderr } = await rrs(['start'], options);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^rrs-server: [^\n]+\.\n$/);
  for (const part of parts) expect(stderr).toContain(part);
}

test.concurrent('a port in use and an address the machine does not have are refused', async () => {
  const taken = createServer();
  const port = await new Promise<number>((resolve) => taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port)));
  const dataDir = newDataDir();
  await refused({ dataDir, env: { PORT: String(port) } }, `Port ${port}`, 'set PORT');
  taken.close();
  expect(postgresPid(dataDir)).toBeNull();
  await refused({ dataDir, env: { HOST: '192.0.2.1' } }, '192.0.2.1', 'HOST');
});

test.concurrent('a data folder that cannot be written is refused', async () => {
  const folder = temporaryFolder({ mode: 0o555 });
  const user = unprivilegedUser();
  await refused({ ...user, dataDir: join(folder, 'data') }, `data folder ${folder}/data`, 'RRS_DATA_DIR');
});

test.concurrent('a data folder of another user is refused', () => refused({ ...unprivilegedUser(), dataDir: '/etc' }, 'data folder /etc', 'RRS_DATA_DIR'));

test.concurrent('a file in place of the data folder is refused', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  await refused({ dataDir: file }, `data folder ${file}`);
});

test.concurrent('a folder in place of the database is refused and not changed', async () => {
  const dataDir = newDataDir();
  mkdirSync(join(dataDir, 'postgres'), { recursive: true });
  writeFileSync(join(dataDir, 'postgres', 'thesis.txt'), 'years of work');
  await refused({ dataDir }, `${dataDir}/postgres`);
  expect(existsSync(join(dataDir, 'postgres', 'thesis.txt'))).toBe(true);
});

test.concurrent('all invalid settings are named together', () =>
  refused(
    { env: { PORT: 'eighty', LOG_LEVEL: 'loud', DATABASE_URL: 'mysql://db', RRS_BOOTSTRAP_API_KEY: 'short', RRS_OIDC_ISSUER: 'https://id.example.com' } },
    'PORT must be',
    'LOG_LEVEL must be one of',
    'DATABASE_URL must be',
    'RRS_BOOTSTRAP_API_KEY must',
    'RRS_OIDC_AUDIENCE (for access tokens) or RRS_OIDC_CLIENT_ID',
    'rrs-server config',
  ));

test.concurrent('an unreachable database is named without its password', async () => {
  const env = { DATABASE_URL: 'postgresql://rrs:swordfish-secret@127.0.0.1:1/findings' };
  const { code, stderr } = await rrs(['start'], { env });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^rrs-server: [^\n]*"findings" at 127\.0\.0\.1[^\n]+DATABASE_URL[^\n]*\.\n$/);
  expect(stderr).not.toContain('swordfish');
});

test.runIf(isRoot)('a user id without a name, which PostgreSQL cannot authenticate, is refused', { concurrent: true }, async () => {
  const uid = 54_321;
  await refused({ uid, gid: uid, dataDir: changeOwner(temporaryFolder(), uid, uid), env: { HOME: '/' } }, `user id ${uid}`, 'DATABASE_URL');
});
