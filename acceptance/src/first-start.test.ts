import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isAlive, keyFile, keyIn, postgresPid } from './folders.ts';
import { call, createKey } from './http.ts';
import { newDataDir, type Service, start } from './service.ts';

const dataDir = newDataDir();

function occurrences(text: string, part: string): number {
  return text.split(part).length - 1;
}

function me(service: Service, key: string) {
  return call(service.url, '/api/v1/me', { key });
}

test('the first start prints its URL and a key, the second does not repeat the key, and all data is kept', async () => {
  const first = await start({ dataDir });
  const { key, url } = first;
  if (key === null) throw new Error(`no key in ${first.stdout()}`);

  expect(first.stdout()).toContain(`${url}/docs`);
  expect(occurrences(first.stdout(), key)).toBe(1);
  expect(first.stderr()).not.toContain(key);
  // The greeting says where the service listens, and one line of the log does.
  expect(occurrences(first.stderr(), url)).toBe(1);
  expect(first.stderr()).toMatch(/"url":"[^"]+","msg":"started"/);
  expect(first.stdout()).toContain(keyFile(dataDir));
  expect(statSync(keyFile(dataDir)).mode & 0o777).toBe(0o600);
  expect(readFileSync(keyFile(dataDir), 'utf8')).toBe(`${key}\n`);

  const curl = /^ {2}(curl .*)$/m.exec(first.stdout())?.[1] ?? 'exit 1';
  expect(JSON.parse(execFileSync('sh', ['-c', curl], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }))).toMatchObject({
    role: 'owner',
    organization: { slug: 'default' },
  });
  expect((await call(url, '/api/v1/me')).status).toBe(401);
  const created = await createKey(url, key, 'kept over a restart');
  expect(created.status).toBe(201);

  const postgres = postgresPid(dataDir);
  expect(await first.stop()).toBe(0);
  expect(isAlive(postgres ?? 0)).toBe(false);

  const second = await start({ dataDir });
  expect(second.stdout()).toContain(`${second.url}/docs`);
  expect(second.key).toBeNull();
  expect(second.stdout()).not.toMatch(/rrs_|first-owner-key/);
  expect(keyIn(dataDir)).toBe(key);
  expect((await me(second, key)).status).toBe(200);
  expect((await me(second, String(created.body.key))).body).toMatchObject({ role: 'viewer' });
  const kept = await call(second.url, `/api/v1/api-keys/${created.body.id}`, { key });
  expect(kept.body).toMatchObject({ name: 'kept over a restart', created_by: 'first owner key' });
  expect(await second.stop('SIGINT')).toBe(0);
});
