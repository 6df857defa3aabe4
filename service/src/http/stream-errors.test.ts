import { Readable } from 'node:stream';
import { setImmediate as nextTick } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp } from '../testing/http/app.ts';
import { createMemoryLog } from '../testing/log.ts';
import type { App } from './app.ts';

const memory = createMemoryLog();
const errors = (requestId: string) => memory.lines().filter(({ level, request_id }) => level === 50 && request_id === requestId);
const closed = Promise.withResolvers<void>();

let app: App;
let url: string;

beforeAll(async () => {
  const open = { config: { access: 'public' } } as const;
  const routes = (api: App): void => {
    api.get('/api/v1/broken/:id', open, (_request, reply) => reply.type('text/csv').send(Readable.from(failing())));
    api.get('/api/v1/endless', open, (_request, reply) => reply.type('text/csv').send(Readable.from(endless())));
  };
  ({ app, url } = await startApp(routes, { logger: memory.log, accessLog: memory.log.access }));
});
afterAll(() => app?.close());

/** Resolved when the client has received the headers. */
const begun = Promise.withResolvers<void>();

async function* failing(): AsyncGenerator<string> {
  yield 'id\n'.repeat(10_000);
  await begun.promise;
  throw Object.assign(new Error('connection lost'), { code: 'ECONNRESET', detail: 'hunter2' });
}

async function* endless(): AsyncGenerator<string> {
  try {
    for (;;) {
      yield 'id\n'.repeat(1_000);
      await nextTick();
    }
  } finally {
    closed.resolve();
  }
}

it('logs a stream that fails after the response has begun as an error, once, with request ID and route', async () => {
  const response = await fetch(`${url}/api/v1/broken/7`, { headers: { accept: '*/*', 'x-request-id': 'broken' } });
  begun.resolve();
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow();
  await expect.poll(() => errors('broken').length).toBeGreaterThan(0);
  expect(errors('broken')).toEqual([
    expect.objectContaining({
      msg: 'response stream failed',
      route: '/api/v1/broken/:id',
      err: expect.objectContaining({ message: 'connection lost', code: 'ECONNRESET', stack: expect.any(String) }),
    }),
  ]);
  expect(memory.text()).not.toContain('hunter2');
});

it('does not log a client that disconnects as an error', async () => {
  const leaving = new AbortController();
  const response = await fetch(`${url}/api/v1/endless`, { headers: { accept: '*/*', 'x-request-id': 'disconnected' }, signal: leaving.signal });
  await response.body?.getReader().read();
  leaving.abort();
  await closed.promise;
  expect(errors('disconnected')).toEqual([]);
});
