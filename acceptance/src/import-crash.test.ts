import { expect, test } from 'vitest';
import { keyIn, postgresPid } from './folders.ts';
import { call } from './http.ts';
import { kill, type Service, start, startUsed, until } from './service.ts';

const FINDINGS = 8_000;

function report(): string {
  const record = (n: number) => ({
    title: `A weakness in library ${n % 700}`,
    severity: 'high',
    asset_type: 'host',
    asset_name: `host-${n % 200}.example.com`,
    cves: [`CVE-2024-${10_000 + n}`],
    component: `library-${n % 700}`,
  });
  return Array.from({ length: FINDINGS }, (_, n) => `${JSON.stringify(record(n))}\n`).join('');
}

interface Import {
  id: string;
  status: string;
  counts: Record<string, number>;
}

test('after kill -9 of service and PostgreSQL during an import, the next start completes the import', async () => {
  let service: Service = await startUsed();
  const key = keyIn(service.dataDir);
  const send = async (url: string): Promise<Import> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/octet-stream' };
    return (await (await fetch(`${url}/api/v1/imports?format=generic`, { method: 'POST', headers, body: report() })).json()) as Import;
  };
  const ended = (url: string, id: string): Promise<Import> =>
    until('the import ends', async () => {
      const { body } = await call(url, `/api/v1/imports/${id}`, { key });
      return body.status === 'queued' || body.status === 'running' ? undefined : (body as unknown as Import);
    });
  const count = async (url: string): Promise<number> => {
    const { page } = (await call(url, '/api/v1/findings?limit=1&total=exact', { key })).body as { page: { total: { count: number } } };
    return page.total.count;
  };

  const { id } = await send(service.url);
  await until('the import runs', async () => (await call(service.url, `/api/v1/imports/${id}`, { key })).body.status === 'running');
  const postgres = postgresPid(service.dataDir);
  service.signal('SIGKILL');
  kill(postgres);
  await service.exit;

  service = await start({ dataDir: service.dataDir });
  // The import resumes immediately and may already be complete, but it is never half visible.
  expect([0, FINDINGS]).toContain(await count(service.url));
  expect(await ended(service.url, id)).toMatchObject({ status: 'succeeded', counts: { received: FINDINGS, created: FINDINGS, rejected: 0 } });
  expect(await count(service.url)).toBe(FINDINGS);
  const again = await send(service.url);
  expect(await ended(service.url, again.id)).toMatchObject({ status: 'succeeded', counts: { unchanged: FINDINGS, created: 0 } });
});
