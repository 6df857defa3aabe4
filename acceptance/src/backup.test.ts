import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keyIn, temporaryFolder } from './folders.ts';
import { call, createKey } from './http.ts';
import { checkout, newDataDir, rrs, run, type Service, start, startUsed } from './service.ts';

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

/** What an auditor keeps: packages, the checkpoint of the log after each, and the keys. */
function auditor(key: string) {
  const folder = temporaryFolder();
  const file = (name: string): string => join(folder, name);
  return {
    async receive({ url }: Service, item: string, name: string): Promise<Record<string, unknown>> {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', prefer: 'wait=60' };
      const body = JSON.stringify({ work_item_id: item, formats: ['json'] });
      const sealed = (await (await fetch(`${url}/api/v1/riskops-evidence/packages`, { method: 'POST', headers, body })).json()) as Record<string, unknown>;
      const archive = await fetch(`${url}/api/v1/riskops-evidence/packages/${sealed.package_id}/download`, { headers });
      writeFileSync(file(`${name}.zip`), Buffer.from(await archive.arrayBuffer()));
      writeFileSync(file(`${name}.checkpoint`), String((await call(url, '/api/v1/riskops-evidence/log/checkpoint', { key })).body.note));
      writeFileSync(file('keys.json'), JSON.stringify((await call(url, '/api/v1/riskops-evidence/keys')).body));
      return sealed;
    },
    async verify(name: string, checkpoint: string) {
      const command = [process.execPath, join(checkout, 'verifier/bin/rrs-verify.mjs')] as const;
      const verifier = run([file(`${name}.zip`), '--keys', file('keys.json'), '--checkpoint', file(`${checkpoint}.checkpoint`)], { command });
      return { code: await verifier.exit, stdout: verifier.stdout() };
    },
  };
}

test.concurrent('a backup of a running service can be restored into an empty data folder, which starts a new log', async () => {
  const folder = join(temporaryFolder(), 'backup');
  const service = await startUsed();
  const key = keyIn(service.dataDir);
  const { receive, verify } = auditor(key);
  const item = String((await call(service.url, '/api/v1/work-items', { key, body: { title: 'Update the shop' } })).body.id);
  expect(await receive(service, item, 'kept')).toMatchObject({ status: 'ready', sequence: 1 });
  const kept = await createKey(service.url, key, 'before the backup', 'analyst');
  const revoked = await createKey(service.url, key, 'revoked before the backup');
  await call(service.url, `/api/v1/api-keys/${revoked.body.id}`, { key, method: 'DELETE' });
  const before = await auditTrail(service, key);

  const written = await rrs(['backup', folder], { dataDir: service.dataDir });
  expect(written).toEqual({ code: 0, stdout: expect.stringContaining(folder), stderr: '' });
  const after = await createKey(service.url, key, 'after the backup');
  expect(await receive(service, item, 'lost')).toMatchObject({ status: 'ready', sequence: 2 });
  // A restored database must not bring the memory of its own size with it.
  expect(existsSync(join(service.dataDir, 'keys/log-marks'))).toBe(true);
  expect(readdirSync(folder, { recursive: true }).filter((path) => String(path).includes('log-marks'))).toEqual([]);
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

  const gap = expect.objectContaining({ code: 'log_restarted', weight: 'minor' });
  expect(await receive(copy, item, 'new')).toMatchObject({ status: 'ready', sequence: 2, completeness: { gaps: expect.arrayContaining([gap]) } });
  const restarted = expect.stringMatching(/The log was restarted at \S+ \(restore\)\. The earlier log, \S+, was kept up to 2 entries\./);
  expect(await verify('new', 'kept')).toEqual({ code: 0, stdout: restarted });
  // Besides the package, the log can contain a statement about the package that it replaces.
  expect(await verify('new', 'lost')).toEqual({
    code: 1,
    stdout: expect.stringMatching(/fork[\s\S]+has (an entry|2 entries) that the log denies: it was restarted \(restore\)/),
  });
  expect(await verify('lost', 'new')).toEqual({ code: 3, stdout: expect.stringMatching(/was not compared: it belongs to another log, \S+\/epoch-2\./) });

  const occupied = await rrs(['restore', folder], { dataDir });
  expect(occupied).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^rrs-server: [^\n]+\n$/) });
  expect((await call(copy.url, '/api/v1/me', { key })).status).toBe(200);
});

test.concurrent('a folder that is not a backup is refused', async () => {
  const { code, stdout, stderr } = await rrs(['restore', temporaryFolder()]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^rrs-server: [^\n]+\n$/);
});
