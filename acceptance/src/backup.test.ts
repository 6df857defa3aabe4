import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keyIn, temporaryFolder } from './folders.ts';
import { call, createKey } from './http.ts';
import { newDataDir, rrs, type Service, start, startUsed } from './service.ts';

interface AuditEvent {
  id: string;
  action: string;
  object_id: string;
}

async function auditTrail(service: Service, key: string): Promise<AuditEvent[]> {
  const { status, body } = await call(service.url, '/api/v1/audit-events?limit=200', { key });
  expect(status).toBe(200);
  return body.data as AuditEvent[];
}

test.concurrent('a backup of a running service can be restored into an empty data folder', async () => {
  const folder = join(temporaryFolder(), 'backup');
  const service = await startUsed();
  const key = keyIn(service.dataDir);
  const kept = await createKey(service.url, key, 'before the backup', 'analyst');
  const revoked = await createKey(service.url, key, 'revoked before the backup');
  await call(service.url, `/api/v1/api-keys/${revoked.body.id}`, { key, method: 'DELETE' });
  const before = await auditTrail(service, key);

  const written = await rrs(['backup', folder], { dataDir: service.dataDir });
  expect(written).toEqual({ code: 0, stdout: expect.stringContaining(folder), stderr: '' });
  const after = await createKey(service.url, key, 'after the backup');
  const again = await rrs(['backup', folder], { dataDir: service.dataDir });
  expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^rrs-server: [^\n]+\n$/) });

  const dataDir = newDataDir();
  const restored = await rrs(['restore', folder], { dataDir });
  expect(restored).toEqual({ code: 0, stdout: expect.stringContaining(folder), stderr: '' });
  const copy = await start({ dataDir });
  expect(copy.key).toBeNull();
  expect((await call(copy.url, '/api/v1/me', { key })).body).toMatchObject({ role: 'owner', organization: { slug: 'default' } });
  expect((await call(copy.url, '/api/v1/me', { key: String(kept.body.key) })).body).toMatchObject({ role: 'analyst' });
  for (const { body } of [revoked, after]) expect((await call(copy.url, '/api/v1/me', { key: String(body.key) })).status).toBe(401);
  expect(await auditTrail(copy, key)).toEqual(before);

  const occupied = await rrs(['restore', folder], { dataDir });
  expect(occupied).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^rrs-server: [^\n]+\n$/) });
  expect((await call(copy.url, '/api/v1/me', { key })).status).toBe(200);
});

test.concurrent('a folder that is not a backup is refused', async () => {
  const { code, stdout, stderr } = await rrs(['restore', temporaryFolder()]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^rrs-server: [^\n]+\n$/);
});
