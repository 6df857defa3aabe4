import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { makeAuthority, type TestAuthority } from '../testing/fakes/certificate-authority.ts';
import { hasOpenssl } from '../testing/fakes/timestamp-authority.ts';
import { createGuard } from './addresses.ts';
import { createOutbound } from './request.ts';

let authority: TestAuthority;
beforeAll(() => {
  if (hasOpenssl()) authority = makeAuthority();
});
afterAll(() => authority?.remove());
beforeEach(({ skip }) => skip(!hasOpenssl(), 'there is no openssl on this machine: apt-get install openssl'));

async function serve(name: string): Promise<URL> {
  const server = createServer(authority.certify(name), (_, answer) => answer.end('in private'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return new URL(`https://localhost:${(server.address() as AddressInfo).port}/`);
}

function trusting(certificates?: string) {
  const outbound = createOutbound({ guard: createGuard(['127.0.0.0/8', '::1/128']), certificates });
  onTestFinished(() => outbound.close());
  return (url: URL) => outbound.send({ method: 'GET', url, timeoutMs: 5_000, maxBytes: 1_000 });
}

describe('a server with a certificate of an unknown authority', () => {
  it('is refused with a message that says what to do', async () => {
    const message = 'the certificate is signed by an unknown authority; an operator can add the authority with RRS_OUTBOUND_CERTIFICATES';
    await expect(trusting()(await serve('localhost'))).rejects.toMatchObject({ kind: 'connection', message });
  });

  it('is accepted once the operator adds the authority', async () => {
    const other = makeAuthority();
    onTestFinished(other.remove);
    const url = await serve('localhost');
    expect((await trusting(authority.root)(url)).body.toString()).toBe('in private');
    expect((await trusting(`${other.root}\n${authority.root}`)(url)).body.toString()).toBe('in private');
    await expect(trusting(other.root)(url)).rejects.toThrow('RRS_OUTBOUND_CERTIFICATES');
  });

  it('is refused if the certificate is for another name', async () => {
    await expect(trusting(authority.root)(await serve('vendor.test'))).rejects.toMatchObject({
      kind: 'connection',
      message: expect.stringContaining('vendor.test'),
    });
  });
});

describe('the certificates of a request', () => {
  it('are trusted in addition to those of the operator, and by no other request', async () => {
    const other = makeAuthority();
    onTestFinished(other.remove);
    const url = await serve('localhost');
    const outbound = createOutbound({ guard: createGuard(['127.0.0.0/8', '::1/128']), certificates: other.root });
    onTestFinished(() => outbound.close());
    const send = (certificates?: string | null) => outbound.send({ method: 'GET', url, timeoutMs: 5_000, maxBytes: 1_000, certificates });
    expect((await send(authority.root)).body.toString()).toBe('in private');
    // The connection above is still open, and must not be used.
    await expect(send()).rejects.toThrow(/^the certificate is signed by an unknown authority; an operator can/);
    await expect(send(null)).rejects.toThrow(/enter the authority in the settings of the connection/);
    expect((await send(authority.root)).body.toString()).toBe('in private');
    const many = Array.from({ length: 25 }, (_, n) => send(`${authority.root}${'\n'.repeat(n)}`));
    expect(new Set((await Promise.all(many)).map(({ status }) => status))).toEqual(new Set([200]));
  });
});

describe('RRS_OUTBOUND_CERTIFICATES', () => {
  it('fails at start if a certificate cannot be read', () => {
    expect(() => trusting('-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n')).toThrow(/RRS_OUTBOUND_CERTIFICATES/);
  });
});
