import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startApp } from '../../testing/http/app.ts';
import type { App } from '../app.ts';

let app: App;
let port: number;
let held: Promise<void>;

beforeAll(async () => {
  ({ app, port } = await startApp((api) => {
    api.get('/api/v1/hello', { config: { access: 'public' } }, async () => ({ hello: true }));
    api.get('/api/v1/begun', { config: { access: 'public' } }, async (_request, reply) => {
      reply.raw.writeHead(200, { 'content-length': '1000' });
      reply.raw.write('begun');
      reply.hijack();
      await held;
    });
    api.post('/api/v1/hello', { config: { access: 'public' } }, async (request) => ({ hello: request.body }));
  }));
});
afterAll(() => app?.close());

async function say(bytes: string): Promise<{ status: number; headers: Record<string, string>; body: string }> {
  const socket = connect(port, '127.0.0.1');
  socket.end(Buffer.from(bytes, 'latin1'));
  return parse(await text(socket));
}

function parse(answer: string) {
  const [head = '', ...rest] = answer.split('\r\n\r\n');
  const [line = '', ...fields] = head.split('\r\n');
  const headers = Object.fromEntries(fields.map((field) => [field.slice(0, field.indexOf(':')).toLowerCase(), field.slice(field.indexOf(':') + 2)]));
  return { status: Number(line.split(' ')[1]), headers, body: rest.join('\r\n\r\n') };
}

const HOST = 'host: service.example\r\n';

describe('an invalid HTTP request', () => {
  it.each([
    ['no request line', 'hello\r\n\r\n', 'malformed_request', 400],
    ['an unknown method', `BREW / HTTP/1.1\r\n${HOST}\r\n`, 'malformed_request', 400],
    ['a line that is no header', `GET / HTTP/1.1\r\n${HOST}oops\r\n\r\n`, 'malformed_request', 400],
    ['a space in the address', `GET /a b HTTP/1.1\r\n${HOST}\r\n`, 'malformed_request', 400],
    ['bytes above ASCII in the address', `GET /caf\u00e9 HTTP/1.1\r\n${HOST}\r\n`, 'malformed_request', 400],
    ['NUL in a header', `GET / HTTP/1.1\r\n${HOST}x-name: a\u0000b\r\n\r\n`, 'malformed_request', 400],
    ['two lengths', `POST / HTTP/1.1\r\n${HOST}content-length: 1\r\ncontent-length: 2\r\n\r\nab`, 'malformed_request', 400],
    ['a length and chunks', `POST / HTTP/1.1\r\n${HOST}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`, 'malformed_request', 400],
    ['a chunk without a size', `POST /api/v1/hello HTTP/1.1\r\n${HOST}transfer-encoding: chunked\r\n\r\nzz\r\n`, 'malformed_request', 400],
    ['no host', 'GET /api/v1/hello HTTP/1.1\r\n\r\n', 'malformed_request', 400],
    ['large headers', `GET / HTTP/1.1\r\n${HOST}x-large: ${'x'.repeat(20_000)}\r\n\r\n`, 'headers_too_large', 431],
    ['a long address', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`, 'headers_too_large', 431],
  ])('gets a problem document: %s', async (_, bytes, code, status) => {
    const answer = await say(bytes);
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/problem+json',
      'content-length': String(Buffer.byteLength(answer.body)),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(JSON.parse(answer.body)).toMatchObject({
      code,
      status,
      type: `http://127.0.0.1:${port}/problems/${code}`,
      request_id: answer.headers['x-request-id'],
    });
  });

  it('does not harm the service', async () => {
    await Promise.all(Array.from({ length: 20 }, () => say('\u0016\u0003\u0001\u0002\u0000\u0001')));
    const answer = await say(`GET /api/v1/hello HTTP/1.1\r\n${HOST}connection: close\r\n\r\n`);
    expect([answer.status, answer.body]).toEqual([200, '{"hello":true}']);
  });

  it('after a valid request does not affect the response of the first', async () => {
    const { promise: finish, resolve } = Promise.withResolvers<void>();
    held = finish;
    const socket = connect(port, '127.0.0.1');
    const received = text(socket);
    socket.write(`GET /api/v1/begun HTTP/1.1\r\n${HOST}\r\n`);
    await once(socket, 'readable');
    socket.write('GARBAGE\r\n\r\n');
    const answer = parse(await received);
    resolve();
    expect(answer.status).toBe(200);
    expect(answer.body).not.toContain('HTTP/1.1');
  });

  it.each(['Host', 'hOST', 'Authorization'])('with two %s headers are refused, also if they are equal', async (name) => {
    for (const second of ['service.example', 'attacker.example']) {
      const twice = `${name}: service.example\r\n${name.toLowerCase()}: ${second}\r\n`;
      const { status, body } = await say(`GET /api/v1/hello HTTP/1.1\r\n${/host/i.test(name) ? '' : HOST}${twice}connection: close\r\n\r\n`);
      expect([status, JSON.parse(body).code]).toEqual([400, 'malformed_request']);
    }
  });

  it('may lack the Host header in HTTP/1.0', async () => {
    expect((await say('GET /api/v1/hello HTTP/1.0\r\n\r\n')).status).toBe(200);
  });
});

it.each([`GET / HTTP/1.1\r\n${HOST}`, `POST /api/v1/hello HTTP/1.1\r\n${HOST}content-type: application/json\r\ncontent-length: 10\r\n\r\n{`])(
  'a request that does not arrive in time is told so: %j',
  async (beginning) => {
    const hasty = await startApp((api) => api.post('/api/v1/hello', { config: { access: 'public' } }, async () => ({})), { requestTimeoutMs: 20 });
    onTestFinished(() => hasty.app.close());
    const socket = connect(hasty.port, '127.0.0.1');
    socket.write(beginning);
    const answer = parse(await text(socket));
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([408, 'request_timeout']);
  },
);

describe('an upload', () => {
  const upload = { description: 'A file', fields: {}, example: { file: 'x' } };
  const start = async () => {
    const slow = await startApp(
      (api) => {
        api.addContentTypeParser('application/octet-stream', (_request, payload, parsed) => parsed(null, payload));
        api.post('/api/v1/files', { config: { access: 'public', upload } }, async (request) => ({ bytes: (await buffer(request.raw)).length }));
      },
      { requestTimeoutMs: 20, uploadRate: { bytesPerSecond: 1_000, periodMs: 100 } },
    );
    onTestFinished(() => slow.app.close());
    const socket = connect(slow.port, '127.0.0.1');
    socket.write(`POST /api/v1/files HTTP/1.1\r\n${HOST}connection: close\r\ncontent-type: application/octet-stream\r\ncontent-length: 4000\r\n\r\n`);
    return socket;
  };

  it('may take longer than other requests if it keeps arriving', async () => {
    const socket = await start();
    for (let part = 0; part < 20; part++) {
      socket.write('x'.repeat(200));
      await delay(20);
    }
    const answer = parse(await text(socket));
    expect([answer.status, answer.body]).toEqual([200, '{"bytes":4000}']);
  });

  it('ends when it becomes too slow', async () => {
    const socket = await start();
    socket.write('x');
    const answer = parse(await text(socket));
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([408, 'request_timeout']);
  });
});

it('writes nothing to a client that disconnected', async () => {
  const connected = once(app.server, 'connection');
  const socket = connect(port, '127.0.0.1');
  const [served] = (await connected) as [Socket];
  app.server.emit('clientError', Object.assign(new Error('gone'), { code: 'ECONNRESET' }), served);
  expect(await text(socket)).toBe('');
  expect(served.destroyed).toBe(true);
});
