import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keyFile, temporaryFolder } from './folders.ts';
import { call, createKey } from './http.ts';
import { newDataDir, rrs, start } from './service.ts';

const chosen = 'chosen-by-the-operator-0123456789';

test.concurrent('the operator can choose the first owner key and pass secrets in files', async () => {
  const dataDir = newDataDir();
  const file = join(temporaryFolder(), 'key');
  writeFileSync(file, `${chosen}\n`, { mode: 0o600 });
  const service = await start({ dataDir, env: { RRS_BOOTSTRAP_API_KEY_FILE: file, LOG_LEVEL: 'trace' } });
  expect((await call(service.url, '/api/v1/me', { key: chosen })).body).toMatchObject({ role: 'owner' });
  expect(existsSync(keyFile(dataDir))).toBe(false);
  expect(service.stdout() + service.stderr()).not.toContain(chosen);

  const elsewhere = join(temporaryFolder(), 'url');
  copyFileSync(join(dataDir, 'postgres.url'), elsewhere);
  const env = { DATABASE_URL_FILE: elsewhere, RRS_KEYS_DIR: join(dataDir, 'keys'), RRS_BOOTSTRAP_API_KEY: 'another-key-that-comes-too-late' };
  const shared = await start({ args: ['api'], env });
  expect((await call(shared.url, '/api/v1/me', { key: chosen })).status).toBe(200);
  expect((await call(shared.url, '/api/v1/me', { key: 'another-key-that-comes-too-late' })).status).toBe(401);
  expect(await shared.stop()).toBe(0);
  expect(await service.stop()).toBe(0);
});

test.concurrent('a secret that is set twice, or whose file is missing, is refused', async () => {
  const env = { RRS_BOOTSTRAP_API_KEY: chosen, RRS_BOOTSTRAP_API_KEY_FILE: '/somewhere', DATABASE_URL_FILE: '/not/there' };
  const { code, stderr } = await rrs(['start'], { env });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^rrs-server: [^\n]+\n$/);
  expect(stderr).toContain('RRS_BOOTSTRAP_API_KEY_FILE');
  expect(stderr).toContain('DATABASE_URL_FILE');
  expect(stderr).not.toContain(chosen);
});

test.concurrent('the log contains no secrets, even at the level trace', async () => {
  const key = chosen;
  const service = await start({ env: { LOG_LEVEL: 'trace', RRS_BOOTSTRAP_API_KEY: key } });
  const { url } = service;
  const created = await createKey(url, key, 'to be hidden');
  const secrets = [key, String(created.body.key), 'correct horse battery staple', 'wrong-token-in-the-header-abc', 'token-in-the-address-xyz'];

  await call(url, '/api/v1/members', { key, body: { email: 'ann@example.com', name: 'Ann', role: 'owner', password: secrets[2] } });
  const session = await call(url, '/api/v1/sessions', { body: { email: 'ann@example.com', password: secrets[2] } });
  const cookie = session.headers.get('set-cookie')?.split(';')[0]?.split('=')[1] ?? '';
  expect(cookie).not.toBe('');
  await fetch(`${url}/api/v1/me`, { headers: { cookie: session.headers.get('set-cookie')?.split(';')[0] ?? '' } });
  await call(url, '/api/v1/me', { key: secrets[3] ?? '' });
  await call(url, `/api/v1/me?token=${secrets[4]}`, { key });
  await call(url, '/api/v1/api-keys', { key, body: { name: 'x', role: 'viewer', key: secrets[0] } });
  await fetch(`${url}/api/v1/api-keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: `{"key":"${key}"`,
  });
  expect(await service.stop()).toBe(0);

  expect(created.status).toBe(201);
  expect(service.stderr()).toContain('"route":"/api/v1/sessions"');
  for (const secret of [...secrets, cookie]) expect(service.stderr()).not.toContain(secret);
  expect(readFileSync(join(service.dataDir, 'postgres.log'), 'utf8')).not.toContain(key);
});
