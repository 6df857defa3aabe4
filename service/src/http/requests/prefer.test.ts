import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp } from '../../testing/http/app.ts';
import type { App } from '../app.ts';
import { preferredWait, waitFor } from './prefer.ts';

let app: App;
let port: number;
let url: string;
const asked = { times: 0, doneAfter: 1, over: false };

beforeAll(async () => {
  ({ app, port, url } = await startApp((api) => {
    api.post('/api/v1/jobs', { config: { access: 'authenticated' } }, async (request, reply) => {
      asked.times = 0;
      asked.over = false;
      const result = await waitFor(request, reply, preferredWait(request, 10), async () => (++asked.times >= asked.doneAfter ? 'finished' : undefined));
      asked.over = true;
      return reply.code(result === undefined ? 202 : 201).send({ result: result ?? null });
    });
    api.get('/api/v1/wait', { config: { access: 'public' } }, async (request) => ({ seconds: preferredWait(request, 10) }));
  }));
});
afterAll(() => app?.close());

async function create(prefer?: string) {
  const headers = { authorization: 'Bearer ada:viewer', 'content-type': 'application/json', ...(prefer === undefined ? {} : { prefer }) };
  const response = await fetch(`${url}/api/v1/jobs`, { method: 'POST', headers, body: '{}' });
  return { status: response.status, applied: response.headers.get('preference-applied') };
}

describe('Prefer: wait', () => {
  it.each([
    ['wait=5', 5],
    ['respond-async, wait=5', 5],
    ['respond-async;foo=bar, Wait = 7', 7],
    ['wait="3"', 3],
    ['wait=0', 0],
    ['wait=600', 60],
    ['wait=999999', 60],
    ['wait', 10],
    ['wait=soon', 10],
    ['wait=-1', 10],
    ['wait=1.5', 10],
    ['await=5', 10],
    ['wait=12345678', 10],
    ['return=minimal', 10],
  ])('%s means a wait of %d seconds', async (prefer, seconds) => {
    expect((await app.inject({ url: '/api/v1/wait', headers: { prefer } })).json()).toEqual({ seconds });
  });

  it('responds as soon as there is a result', async () => {
    asked.doneAfter = 3;
    expect(await create('wait=30')).toEqual({ status: 201, applied: 'wait=30' });
    expect(asked.times).toBe(3);
  });

  it('stops when the time is over, after at least one poll', async () => {
    asked.doneAfter = Number.POSITIVE_INFINITY;
    expect(await create('wait=0')).toEqual({ status: 202, applied: 'wait=0' });
    expect(asked.times).toBe(1);
    asked.doneAfter = 1;
    expect((await create('wait=0')).status).toBe(201);
  });

  it('sets Preference-Applied only if a wait was requested', async () => {
    asked.doneAfter = 1;
    expect((await create()).applied).toBeNull();
    expect((await create('return=minimal')).applied).toBeNull();
  });

  it('stops when the caller disconnects', async () => {
    asked.doneAfter = Number.POSITIVE_INFINITY;
    const socket = connect(port, '127.0.0.1');
    socket.write(
      'POST /api/v1/jobs HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ada:viewer\r\nprefer: wait=60\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
    );
    await expect.poll(() => asked.times).toBeGreaterThan(1);
    socket.destroy();
    await expect.poll(() => asked.over, { timeout: 5_000 }).toBe(true);
  });

  it('does not wait for more than ten requests of a credential at once', async () => {
    asked.doneAfter = Number.POSITIVE_INFINITY;
    const sent = Array.from({ length: 11 }, () => create('wait=2'));
    expect((await Promise.race(sent)).applied).toBeNull();
    expect((await Promise.all(sent)).filter(({ applied }) => applied === 'wait=2')).toHaveLength(10);
  });
});
