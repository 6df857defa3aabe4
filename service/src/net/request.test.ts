import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { createGuard } from './addresses.ts';
import { createOutbound } from './request.ts';

const servers: Server[] = [];
const close: (() => void)[] = [];
afterEach(() => {
  for (const step of close.splice(0)) step();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener, host = '127.0.0.1'): Promise<URL> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return new URL(`http://localhost:${(server.address() as AddressInfo).port}/`);
}

function outbound(...allowed: string[]) {
  const made = createOutbound({ guard: createGuard(allowed) });
  close.push(() => made.close());
  return made;
}
const LOCAL = ['127.0.0.0/8', '::1/128'];
const get = (url: URL, more = {}) => ({ method: 'GET', url, timeoutMs: 5_000, maxBytes: 10_000, ...more });

describe('an outgoing request', () => {
  it('returns the uncompressed response', async () => {
    const url = await serve((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('hello')));
    expect((await outbound(...LOCAL).send(get(url))).body.toString()).toBe('hello');
  });

  it.each([
    'http://127.0.0.1/',
    'http://localhost/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://10.1.2.3/',
    'http://169.254.169.254/latest/meta-data/',
    'http://0x7f000001/',
    'http://2130706433/',
    'http://0/',
    'http://[fd00::1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[::7f00:1]/',
    'http://[::ffff:0:7f00:1]/',
    'http://[100:0:0:1::1]/',
    'http://[5f00::1]/',
    'http://[fe80::1]/',
    'http://192.88.99.1/',
    'http://255.255.255.255/',
  ])('refuses %s', async (address) => {
    await expect(outbound().send(get(new URL(address)))).rejects.toMatchObject({ kind: 'refused_address' });
  });

  it('reaches addresses that the operator allows', async () => {
    const url = await serve((_, response) => response.end('in'));
    await expect(outbound().send(get(url))).rejects.toMatchObject({ kind: 'refused_address' });
    expect((await outbound(...LOCAL).send(get(url))).body.toString()).toBe('in');
  });

  it('does not follow redirects', async () => {
    const url = await serve((_, response) => response.writeHead(302, { location: 'http://example.com/' }).end());
    expect((await outbound(...LOCAL).send(get(url))).status).toBe(302);
  });

  it('ends at the time limit, at the size limit, when aborted, and when the connection breaks', async () => {
    const silent = await serve(() => {});
    await expect(outbound(...LOCAL).send(get(silent, { timeoutMs: 50 }))).rejects.toMatchObject({ kind: 'timeout' });
    const slow = await serve((_, response) => response.writeHead(200).write('x'));
    await expect(outbound(...LOCAL).send(get(slow, { timeoutMs: 50 }))).rejects.toMatchObject({ kind: 'timeout' });
    const bomb = await serve((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(1_000_000))));
    await expect(outbound(...LOCAL).send(get(bomb))).rejects.toMatchObject({ kind: 'too_large', message: 'the response exceeds 10000 bytes' });
    await expect(outbound(...LOCAL).send(get(silent, { signal: AbortSignal.abort(new Error('enough')) }))).rejects.toThrow('enough');
    const cut = await serve((request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half');
      setImmediate(() => request.socket.destroy());
    });
    await expect(outbound(...LOCAL).send(get(cut))).rejects.toMatchObject({ kind: 'interrupted' });
    await expect(outbound(...LOCAL).send(get(new URL('http://127.0.0.1:1/')))).rejects.toMatchObject({
      kind: 'connection',
      message: expect.stringContaining('refuses connections on this port'),
    });
    const plain = await serve((_, response) => response.end('no TLS here'));
    await expect(outbound(...LOCAL).send(get(new URL(plain.href.replace('http:', 'https:'))))).rejects.toMatchObject({
      kind: 'connection',
      message: expect.stringMatching(/^the server does not answer with TLS/),
    });
  });
});
