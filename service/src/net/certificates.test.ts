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

describe('a server whose certificate is of an authority that nobody knows', () => {
  it('is refused, in words that say what to do', async () => {
    const message = 'its certificate is signed by an authority that this service does not know; an operator can have it trusted with RRS_OUTBOUND_CERTIFICATES';
    await expect(trusting()(await serve('localhost'))).rejects.toMatchObject({ kind: 'connection', message });
  });

  it('is talked to once the operator names the authority, among others', async () => {
    const other = makeAuthority();
    onTestFinished(other.remove);
    const url = await serve('localhost');
    expect((await trusting(authority.root)(url)).body.toString()).toBe('in private');
    expect((await trusting(`${other.root}\n${authority.root}`)(url)).body.toString()).toBe('in private');
    await expect(trusting(other.root)(url)).rejects.toThrow('RRS_OUTBOUND_CERTIFICATES');
  });

  it('is refused all the same when the certificate is for another name', async () => {
    await expect(trusting(authority.root)(await serve('vendor.test'))).rejects.toMatchObject({
      kind: 'connection',
      message: expect.stringContaining('vendor.test'),
    });
  });
});

describe('certificates of the operator', () => {
  it('that cannot be read do not let the service start', () => {
    expect(() => trusting('-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n')).toThrow(/RRS_OUTBOUND_CERTIFICATES/);
  });
});
