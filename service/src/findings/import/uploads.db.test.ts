import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../testing/eventually.ts';
import { startApi, type TestApi } from '../../testing/http/api.ts';
import { createMemoryLog } from '../../testing/log.ts';

const memory = createMemoryLog();
let api: TestApi;
beforeAll(async () => {
  api = await startApi({ log: memory.log });
});
afterAll(() => api?.close());

const REPORT = JSON.stringify({ title: 'A weakness', severity: 'high', asset: { type: 'host', name: 'web1' } });

async function stored(): Promise<string[]> {
  const found: string[] = [];
  for await (const { sha256 } of api.blobs.list()) found.push(sha256);
  return found;
}

const unfinished = () => readdir(join(api.blobFolder, 'tmp')).catch(() => []);

function form(...parts: [name: string, value: string | Blob][]): FormData {
  const data = new FormData();
  for (const [name, value] of parts) {
    if (typeof value === 'string') data.append(name, value);
    else data.append(name, value, 'report.json');
  }
  return data;
}

async function send(data: FormData) {
  const response = await fetch(`${api.url}/api/v1/imports`, { method: 'POST', headers: { authorization: `Bearer ${api.ours.owner}` }, body: data });
  return { status: response.status, body: (await response.json()) as { code?: string; filename?: string; format?: string } };
}

it('a file whose form has an error is not kept, wherever the error is', async () => {
  const file = new Blob([REPORT]);
  for (const parts of [
    [
      ['format', 'nonsense'],
      ['file', file],
    ],
    [
      ['file', file],
      ['format', 'nonsense'],
    ],
    [
      ['file', file],
      ['dry_run', 'perhaps'],
    ],
    [
      ['file', file],
      ['format', 'generic'],
      ['format', 'generic'],
    ],
  ] satisfies [string, string | Blob][][]) {
    const { status, body } = await send(form(...parts));
    expect([status, body.code]).toEqual([400, 'validation_failed']);
  }
  expect(await stored()).toEqual([]);
  expect(await unfinished()).toEqual([]);
});

it('fields may come before or after the file', async () => {
  const file = new Blob([REPORT]);
  for (const parts of [
    [
      ['format', 'generic'],
      ['file', file],
    ],
    [
      ['file', file],
      ['format', 'generic'],
    ],
  ] satisfies [string, string | Blob][][]) {
    const { status, body } = await send(form(...parts));
    expect([status, body.format, body.filename]).toEqual([202, 'generic', 'report.json']);
  }
  expect(await stored()).toHaveLength(1);
});

it.each([
  ['a body', 'application/octet-stream', '{"findings":['],
  ['a form', 'multipart/form-data; boundary=x', '--x\r\ncontent-disposition: form-data; name="file"; filename="a.json"\r\n\r\n{"findings":['],
])('an upload of %s that the client aborts leaves nothing behind and is not an error of the service', async (_, type, beginning) => {
  const before = await stored();
  const port = new URL(api.url).port;
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(
    `POST /api/v1/imports HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${api.ours.owner}\r\ncontent-type: ${type}\r\ncontent-length: 1000000\r\n\r\n${beginning}`,
  );
  await eventually(unfinished).toHaveLength(1);
  const lines = memory.lines().length;
  socket.destroy();
  await eventually(unfinished).toEqual([]);
  // The response to another request shows that the aborted one was dealt with.
  await api.call('GET', '/api/v1/imports', { as: api.ours.owner });
  const later = memory.lines().slice(lines);
  expect(later.filter(({ level }) => Number(level) >= 40)).toEqual([]);
  expect(await stored()).toEqual(before);
});
