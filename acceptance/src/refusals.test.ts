import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { postgresPid, temporaryFolder } from './folders.ts';
import { newDataDir, type Options, rrs } from './service.ts';
import { ordinaryUser, own, root } from './users.ts';

/** One line to people, and no more. */
async function refused(options: Options, ...parts: string[]): Promise<void> {
  const { code, stdout, stderr } = await rrs(['start'], options);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^rrs: [^\n]+\.\n$/);
  for (const part of parts) expect(stderr).toContain(part);
}

test.concurrent('a port that is taken, an address that the machine does not have', async () => {
  const taken = createServer();
  const port = await new Promise<number>((resolve) => taken.listen(0, '127.0.0.1', () => resolve((taken.address() as { port: number }).port)));
  const dataDir = newDataDir();
  await refused({ dataDir, env: { PORT: String(port) } }, `Port ${port} on 127.0.0.1 is in use. Stop the other program or set PORT to another port.`);
  taken.close();
  expect(postgresPid(dataDir)).toBeNull();
  await refused({ dataDir, env: { HOST: '192.0.2.1' } }, '192.0.2.1 is not an address of this machine', 'HOST');
});

test.concurrent('a data folder that cannot be written', async () => {
  const folder = temporaryFolder({ mode: 0o555 });
  const user = ordinaryUser();
  await refused({ ...user, dataDir: join(folder, 'data') }, `Cannot write to the data folder ${folder}/data`, 'RRS_DATA_DIR');
});

test.concurrent('a data folder of somebody else', () =>
  refused({ ...ordinaryUser(), dataDir: '/etc' }, 'Cannot write to the data folder /etc', 'RRS_DATA_DIR'));

test.concurrent('a file in place of the data folder', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  await refused({ dataDir: file }, `Cannot write to the data folder ${file}`);
});

test.concurrent('a folder in the way of the database, which is left alone', async () => {
  const dataDir = newDataDir();
  mkdirSync(join(dataDir, 'postgres'), { recursive: true });
  writeFileSync(join(dataDir, 'postgres', 'thesis.txt'), 'years of work');
  await refused({ dataDir }, `${dataDir}/postgres is in the way`);
  expect(existsSync(join(dataDir, 'postgres', 'thesis.txt'))).toBe(true);
});

test.concurrent('wrong settings, all at once', () =>
  refused(
    { env: { PORT: 'eighty', LOG_LEVEL: 'loud', DATABASE_URL: 'mysql://db', RRS_BOOTSTRAP_API_KEY: 'short', RRS_OIDC_ISSUER: 'https://id.example.com' } },
    'PORT must be an integer',
    'LOG_LEVEL must be one of',
    'DATABASE_URL must be a URL',
    'RRS_BOOTSTRAP_API_KEY must have 20 to 200',
    'RRS_OIDC_AUDIENCE must be set',
    'rrs config',
  ));

test.concurrent('a database that cannot be reached, without its password in the message', async () => {
  const env = { DATABASE_URL: 'postgresql://rrs:swordfish-secret@127.0.0.1:1/findings' };
  const { code, stderr } = await rrs(['start'], { env });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^rrs: Cannot connect to the database "findings" at 127\.0\.0\.1 \([^\n]+\)\. Start the server or correct DATABASE_URL\.\n$/);
  expect(stderr).not.toContain('swordfish');
});

test.runIf(root)('a user without a name, whom PostgreSQL could not let in', { concurrent: true }, async () => {
  const uid = 54_321;
  await refused({ uid, gid: uid, dataDir: own(temporaryFolder(), uid, uid), env: { HOME: '/' } }, `user id ${uid} has no name`, 'DATABASE_URL');
});
