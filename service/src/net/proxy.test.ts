import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Server as NetServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../testing/eventually.ts';
import { makeAuthority } from '../testing/fakes/certificate-authority.ts';
import { hasOpenssl } from '../testing/fakes/timestamp-authority.ts';
import { createGuard } from './addresses.ts';
import { createOutbound } from './request.ts';

/** The server that the proxy connects to, whatever the host name. Only the proxy can resolve the names of these tests. */
let vendor: Server;
let proxy: Server;
const asked: { how: string; what: string; credentials: string | undefined }[] = [];
const open = new Set<Socket>();

beforeEach(async () => {
  vendor = await listening(createServer((incoming, answer) => answer.end(`${incoming.headers.host} ${incoming.url}`)));
  proxy = await listening(createServer().on('connection', (socket) => open.add(socket)));
  proxy.on('request', (incoming, answer) => {
    note('request', incoming);
    const { pathname, search, host } = new URL(incoming.url ?? '');
    const onward = request({ port: portOf(vendor), path: `${pathname}${search}`, headers: { host } }, (given) => given.pipe(answer));
    onward.end();
  });
  proxy.on('connect', (incoming, socket) => {
    note('tunnel', incoming);
    tunnel(socket as Socket, portOf(vendor));
  });
});
afterEach(() => {
  for (const socket of open) socket.destroy();
  open.clear();
  asked.splice(0);
});

const note = (how: string, { url, headers }: IncomingMessage) => asked.push({ how, what: url ?? '', credentials: headers['proxy-authorization'] });
const portOf = (server: NetServer): number => (server.address() as AddressInfo).port;

async function listening<T extends NetServer>(server: T): Promise<T> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return server;
}

function tunnel(socket: Socket, port: number): void {
  const onward = connect(port, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    socket.pipe(onward).pipe(socket);
  });
  for (const end of [socket, onward]) end.on('error', () => {}).on('close', () => onward.destroy());
}

function through(address: string, { allowed = [], ...more }: { allowed?: string[]; certificates?: string; tunnelMs?: number } = {}) {
  const outbound = createOutbound({ guard: createGuard(allowed), proxy: address, ...more });
  onTestFinished(() => outbound.close());
  return (url: string, timeoutMs = 5_000) => outbound.send({ method: 'GET', url: new URL(url), timeoutMs, maxBytes: 1_000 });
}
const proxyUrl = (credentials = ''): string => `http://${credentials}127.0.0.1:${portOf(proxy)}`;

describe('an outgoing request through a proxy', () => {
  it('sends the host name to the proxy, which resolves it, and may use a proxy at a private address', async () => {
    const answer = await through(proxyUrl('user:se%3Acret@'))('http://vendor.test/findings?page=2');
    expect(answer.body.toString()).toBe('vendor.test /findings?page=2');
    const credentials = `Basic ${Buffer.from('user:se:cret').toString('base64')}`;
    expect(asked).toEqual([{ how: 'request', what: 'http://vendor.test/findings?page=2', credentials }]);
  });

  it('opens a tunnel for HTTPS and checks the certificate of the server', async ({ skip }) => {
    skip(!hasOpenssl(), 'there is no openssl on this machine: apt-get install openssl');
    const authority = makeAuthority();
    onTestFinished(authority.remove);
    vendor = await listening(createSecureServer(authority.certify('vendor.test'), (_, answer) => answer.end('in private')));
    vendor.on('connection', (socket) => open.add(socket));
    await expect(through(proxyUrl())('https://vendor.test/')).rejects.toThrow('RRS_OUTBOUND_CERTIFICATES');
    const send = through(proxyUrl('user:secret@'), { certificates: authority.root });
    expect((await send('https://vendor.test/')).body.toString()).toBe('in private');
    expect(asked.at(-1)).toEqual({ how: 'tunnel', what: 'vendor.test:443', credentials: `Basic ${Buffer.from('user:secret').toString('base64')}` });
    await expect(send('https://other.test/')).rejects.toMatchObject({ kind: 'connection', message: expect.stringContaining('vendor.test') });
  });

  it.each([
    'http://127.0.0.1/',
    'https://127.0.0.1/',
    'http://2130706433/',
    'http://[::ffff:10.0.0.1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://localhost/',
    'https://LOCALHOST./',
    'http://some.localhost/',
  ])('refuses %s, because IP addresses in URLs are checked here', async (url) => {
    await expect(through(proxyUrl())(url)).rejects.toMatchObject({ kind: 'refused_address', message: expect.stringContaining('RRS_OUTBOUND_ALLOW') });
    expect(asked).toEqual([]);
  });

  it('reaches a private address that the operator allows', async () => {
    expect((await through(proxyUrl(), { allowed: ['10.0.0.0/8'] })('http://10.1.2.3/')).body.toString()).toBe('10.1.2.3 /');
    expect((await through(proxyUrl(), { allowed: ['127.0.0.0/8'] })('http://localhost/')).body.toString()).toBe('localhost /');
  });
});

describe('a proxy that fails', () => {
  const refusing = (status: number): void => {
    proxy.removeAllListeners('request').on('request', (_, answer) => answer.writeHead(status, { 'proxy-authenticate': 'Basic' }).end());
    proxy.removeAllListeners('connect').on('connect', (_, socket: Socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`));
  };
  const faultOf = (url: string, address = proxyUrl('user:secret@')): Promise<Error> =>
    through(address)(url).then(
      () => new Error('it was answered'),
      (fault: Error) => fault,
    );

  it.each(['http://vendor.test/', 'https://vendor.test/'])('because of its credentials is reported as the proxy, not as the vendor (%s)', async (url) => {
    refusing(407);
    expect(await faultOf(url)).toMatchObject({
      kind: 'connection',
      message: expect.stringMatching(/^the outbound proxy rejected its credentials.*RRS_OUTBOUND_PROXY$/),
    });
  });

  it('because it refuses the request is reported', async () => {
    refusing(403);
    expect(await faultOf('https://vendor.test/')).toMatchObject({ kind: 'connection', message: 'the outbound proxy refused the request (403)' });
  });

  it.each(['http://vendor.test/', 'https://vendor.test/'])(
    'because it is down is a fault of its own, with nothing about where and who it is (%s)',
    async (url) => {
      const closed = await listening(createServer());
      const port = portOf(closed);
      closed.close();
      const fault = await faultOf(url, `http://user:secret@127.0.0.1:${port}`);
      expect(fault).toMatchObject({
        kind: 'connection',
        message: expect.stringMatching(/^the outbound proxy cannot be reached \(ECONNREFUSED\).*RRS_OUTBOUND_PROXY$/),
      });
      expect(fault.message).not.toMatch(/secret|127\.0\.0\.1/);
    },
  );

  it('by closing the connection ends the request', async () => {
    proxy.removeAllListeners('connect').on('connect', (_, socket) => socket.destroy());
    expect(await faultOf('https://vendor.test/')).toMatchObject({ kind: 'connection', message: 'the outbound proxy closed the connection' });
  });

  it.each([
    ['does not respond', () => {}],
    ['connects to a server that does not respond', (socket: Socket) => void socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')],
  ])('because it %s delays the request and its socket no longer than their time limits', async (_, behave) => {
    let [begun, ended] = [0, 0];
    proxy.removeAllListeners('connect').on('connect', (_request, socket: Socket) => {
      begun++;
      socket.resume().on('end', () => ended++);
      behave(socket);
    });
    const send = through(proxyUrl(), { tunnelMs: 200 });
    await expect(send('https://vendor.test/', 50)).rejects.toMatchObject({ kind: 'timeout' });
    await expect(send('https://vendor.test/')).rejects.toMatchObject({ kind: 'connection', message: 'no connection through the proxy within 0.2 seconds' });
    await eventually(() => [begun, ended]).toEqual([2, 2]);
  });
});
